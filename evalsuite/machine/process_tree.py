"""The process tree of this process: what it uses, how it is ended to the last one, and the signals that end it. Reads
`/proc/<pid>/stat` (proc_pid_stat(5)). With `adopt_orphans` nothing escapes: a process that calls setsid, or whose
parent died, becomes our own child."""

import contextlib
import ctypes
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from evalsuite.runs.samples import TreeReading

PROC = "/proc"
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
POLL_S = 0.1  # the end of a child wakes us at once, that of a grandchild does not


@dataclass(frozen=True, kw_only=True, slots=True)
class Stat:
    state: str
    parent: int
    started_ticks: int
    cpu_s: float  # with that of children which it has waited for
    memory_bytes: int  # resident; pages shared with another process count in both


@dataclass(frozen=True, kw_only=True)
class EndedTree:
    asked: int = 0
    survivors: int = 0  # SIGKILL did not end them in time


def adopt_orphans() -> bool:
    """Makes this process the parent of every orphan below it (prctl(2), Linux 3.4)."""
    return bool(ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


def be_told_of_parents_death(number: int) -> bool:
    """Asks for the signal *number* when our parent dies (prctl(2), PR_SET_PDEATHSIG)."""
    return bool(ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, number, 0, 0, 0) == 0)


class Tree:
    """All descendants of this process, read often at little cost: a process is looked up once. The CPU time of one that
    has ended is counted by who waited for it: a parent inside the tree, or this process."""

    def __init__(self) -> None:
        self._root = os.getpid()
        self._ours: dict[int, None] = {}
        self._strangers: set[int] = set()
        self._waited_before_s = waited_for_s()
        self._cpu_s = 0.0

    def reading(self) -> TreeReading:
        cpu_s = waited_for_s() - self._waited_before_s  # first: what ends now is not counted twice
        self._look_around()
        memory_bytes = 0
        for pid in list(self._ours):
            state = stat(pid)
            if state is None:
                del self._ours[pid]
                continue
            cpu_s += state.cpu_s
            memory_bytes += state.memory_bytes
        self._cpu_s = max(self._cpu_s, cpu_s)
        return TreeReading(cpu_s=round(self._cpu_s, 6), memory_bytes=memory_bytes)

    def _look_around(self) -> None:
        present = _pids()
        self._strangers &= present
        parents = {}
        for pid in sorted(present.difference(self._strangers, self._ours)):
            if state := stat(pid):
                parents[pid] = state.parent
        ours = _below(self._root, parents, self._ours)
        self._ours.update(dict.fromkeys(ours))
        self._strangers.update(parents.keys() - ours)


def stat(pid: int) -> Stat | None:
    try:
        with open(f"{PROC}/{pid}/stat", "rb", buffering=0) as file:
            content = file.read(1024)
    except OSError:
        return None
    fields = content[content.rindex(b")") + 2 :].split()  # the name before it may hold spaces and brackets
    return Stat(
        state=fields[0].decode(),
        parent=int(fields[1]),
        started_ticks=int(fields[19]),
        cpu_s=sum(map(int, fields[11:15])) / TICKS_PER_S,
        memory_bytes=int(fields[21]) * PAGE_BYTES,
    )


def started_ticks(pid: int) -> int | None:
    """Tells *pid* from a later process of that number; None if it has ended."""
    state = stat(pid)
    return state.started_ticks if state and state.state != "Z" else None


def descendants() -> list[int]:
    states = {pid: known for pid in _pids() if (known := stat(pid))}
    below = _below(os.getpid(), {pid: known.parent for pid, known in states.items()}, {})
    return [pid for pid in below if states[pid].state != "Z"]


def send(pids: list[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def end_descendants(
    *, first: int, grace_s: float, kill_s: float, wait: Callable[[float], bool] | None = None
) -> EndedTree:
    """Ends every process below this one: signal *first*, *grace_s* to comply, then SIGKILL for *kill_s*.
    *wait(seconds)* reaps ended children, may sleep that long, and returns whether to end the grace. A process inside a
    broken driver cannot be killed."""
    wait = wait or _reap_and_sleep
    left = descendants()
    asked = len(left)
    send(left, first)
    deadline = time.monotonic() + grace_s
    while left and time.monotonic() < deadline and not wait(POLL_S):
        left = descendants()
    deadline = time.monotonic() + kill_s
    while left and time.monotonic() < deadline:
        send(left, signal.SIGKILL)
        wait(POLL_S)
        left = descendants()
    return EndedTree(asked=asked, survivors=len(left))


def _reap_and_sleep(seconds: float) -> bool:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    time.sleep(seconds)
    return False


def _below(root: int, parents: dict[int, int], known: dict[int, None]) -> dict[int, None]:
    below: dict[int, None] = {}
    level = [pid for pid, parent in parents.items() if parent == root or parent in known]
    while level:
        below.update(dict.fromkeys(level))
        level = [pid for pid, parent in parents.items() if parent in below and pid not in below]
    return below


def _pids() -> set[int]:
    return {int(name) for name in os.listdir(PROC) if name.isdigit()}


def waited_for_s() -> float:
    """CPU seconds of all that this process has waited for: with `adopt_orphans`, of all that ended below it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# Signals that the main thread takes one by one


ENDING = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT})
PASSED_ON = frozenset({signal.SIGUSR1, signal.SIGUSR2})


@contextlib.contextmanager
def hold_signals() -> Iterator[set[int]]:
    """Holds signals back for `signal.sigtimedwait`; gives the set to ask for, with SIGCHLD. What this process was told
    to ignore (nohup, `&` in a script) stays ignored."""
    child_before = signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # if ignored, exit codes are lost
    heeded = {number for number in ENDING | PASSED_ON if signal.getsignal(number) != signal.SIG_IGN}
    asked_for: set[int] = heeded | {signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, asked_for)
    try:
        yield asked_for
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        signal.signal(signal.SIGCHLD, child_before)


def signal_name(number: int | None) -> str | None:
    """`2` → "SIGINT"."""
    if number is None:
        return None
    return signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"

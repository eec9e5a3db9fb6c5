"""One measurement at a time on a node.

Each agent lays a file into a folder of the machine and holds its lock together with all that it starts, so that a
training which outlives its agent is seen. A survivor is known by its environment and ended where its watchdog and agent
are dead. Agents of one run do not wait for each other.

Two evaluations could each hold a node and wait for the other's. So the nodes of a run are locked in order of their
names: one waits until those before it have written their environment.
"""

import contextlib
import fcntl
import json
import os
import pwd
import secrets
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from evalsuite.agent import rendezvous
from evalsuite.agent.order import Order
from evalsuite.core import files
from evalsuite.core.messages import Message
from evalsuite.core.placeholders import Node
from evalsuite.machine import environment, process_tree
from evalsuite.runs import rehearsed
from evalsuite.runs.store import RunFolder

STILL_S = 30.0  # `status` takes a run whose files have not changed for longer than three of them as stopped
PLACE = "EVALSUITE_NODE_LOCK"  # another folder than the machine's own
COMMON = Path("/tmp/evalsuite-measuring")  # local, and the same for all users
PRESENT = ".present"
VARIABLE = "EVALSUITE_PRESENCE"  # marks the processes of a run
BESIDE = b"+\n"  # added to the file of each by who runs at the same time
POLL_S = 0.5
LONGEST_WORDS = 200  # of a value in a stranger's file
OPEN_TO_ALL, STICKY = 0o666, 0o1777


@dataclass(frozen=True, kw_only=True)
class Holder:
    file: Path
    run: str
    words: str


class NodeLock:
    """This agent's locked file; all that this process or its children start holds it too."""

    def __init__(self, file: Path, handle: int, met: int) -> None:
        self.file = file
        self.variables = {VARIABLE: file.stem}
        self._handle = handle
        self._met = met

    def count_beside(self) -> int:
        size = os.fstat(self._handle).st_size
        return self._met + os.pread(self._handle, size, 0).count(BESIDE)

    def add_process(self) -> None:
        """Notes that this process, too, ends what the run starts."""
        with contextlib.suppress(OSError):
            os.write(self._handle, _line(_own_facts()))


def lock_node(order: Order, *, share: bool, end_with_parent: bool, say: Callable[[str], None]) -> NodeLock | None:
    """Waits for this node, and says for whom, also in the run folder; None where the machine has no folder for it.

    With *share* it runs while others do. Call it in the process that the launcher knows, before any other is started.
    """
    folder = RunFolder(order.folder)
    launcher = os.getppid() if end_with_parent else None
    told, told_at = "", 0.0

    def waiting(words: str) -> None:
        nonlocal told, told_at
        if launcher is not None and os.getppid() != launcher:
            sys.exit(128 + signal.SIGTERM)
        if words != told or time.monotonic() - told_at > STILL_S:
            folder.write_waiting(order.host, words)
            told_at = time.monotonic()
        if words != told:
            told = words
            say(words)

    for host in nodes_before(order.host, rendezvous.node(os.environ)):
        while not folder.environment_path(host).is_file():
            waiting(Message("agent.turn_first", host=host))
            time.sleep(POLL_S)
    lock = enter(order.folder.resolve(), share=share, waiting=waiting)
    if told:
        folder.write_waiting(order.host, None)
    return lock


def nodes_before(host: str, place: Node) -> list[str]:
    """The nodes of the run that are locked before *host*; none where the launcher gives no such names."""
    if len(set(place.hosts)) != place.nodes or host not in place.hosts:
        return []
    return sorted(other for other in place.hosts if other < host)


def enter(run: Path, *, share: bool, waiting: Callable[[str], None]) -> NodeLock | None:
    """Waits until no other run is measured here, unless *share*; *waiting* is called often. Rehearsals do not wait."""
    beside = rehearsed.is_folder if rehearsed.is_folder(run) else run.__eq__
    try:
        place = _place()
        while True:
            with _alone(place):
                others = [holder for holder in _end_dead(place) if not beside(Path(holder.run))]
                if share or not others:
                    return _lay_down(place, run, others)
            waiting(others[0].words)
            time.sleep(POLL_S)
    except OSError:  # no room, permission or locks: unwatched is better than not at all
        return None


def _place() -> Path:
    place = Path(os.environ.get(PLACE) or COMMON)
    with contextlib.suppress(FileExistsError):
        place.mkdir(parents=True)
        place.chmod(STICKY)
    if place.is_symlink() or not place.is_dir():
        raise NotADirectoryError(str(place))
    return place


@contextlib.contextmanager
def _alone(place: Path) -> Iterator[None]:
    handle = _open(place / "door", os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _open(file: Path, flags: int) -> int:
    """Opens or makes *file*. Linux may refuse O_CREAT for another user's file in a folder of all."""
    with contextlib.suppress(FileNotFoundError):
        return os.open(file, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
    with contextlib.suppress(FileExistsError):
        handle = os.open(file, flags | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, OPEN_TO_ALL)
        os.fchmod(handle, OPEN_TO_ALL)
        return handle
    return os.open(file, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def _lay_down(place: Path, run: Path, others: list[Holder]) -> NodeLock:
    file = place / f"{os.getpid()}-{secrets.token_hex(8)}{PRESENT}"
    handle = _open(file, os.O_RDWR | os.O_APPEND)
    fcntl.flock(handle, fcntl.LOCK_EX)
    user = str(os.getuid())
    with contextlib.suppress(KeyError):
        user = pwd.getpwuid(os.getuid()).pw_name
    os.write(handle, _line({**_own_facts(), "run": str(run), "user": user, **_same_machine()}))
    for other in others:
        with contextlib.suppress(OSError):
            theirs = os.open(other.file, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK)
            os.write(theirs, BESIDE)
            os.close(theirs)
    os.set_inheritable(handle, True)
    return NodeLock(file, handle, len(others))


def _end_dead(place: Path) -> list[Holder]:
    """Who measures here. Survivors of the dead are ended, files of the gone removed."""
    ended = []
    for file in sorted(place.glob(f"*{PRESENT}"), key=lambda each: each.name):
        try:
            handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            continue
        try:
            lines = _lines(os.pread(handle, 1 << 16, 0))
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
            _end_run(file)  # a process may have closed the lock
            with contextlib.suppress(OSError):
                file.unlink()
        except BlockingIOError:
            if _dead(lines):
                _end_run(file)
            ended.append(_holder(file, lines))
        except OSError:
            continue
        finally:
            os.close(handle)
    return ended


def _holder(file: Path, lines: list[dict[str, object]]) -> Holder:
    first = lines[0] if lines else {}
    run = str(first.get("run", file))
    words = Message("agent.measured_here", run=run, pid=first.get("pid", "?"), user=first.get("user", "?"))
    plain = words.map(lambda text: "".join(filter(str.isprintable, text))[:LONGEST_WORDS])
    return Holder(file=file, run=run, words=plain)


def _dead(lines: list[dict[str, object]]) -> bool:
    """Whether watchdog and agent of a run are gone; only of processes that this one can see."""
    if not lines or any(lines[0].get(name) != value for name, value in _same_machine().items()):
        return False
    known = [(line.get("pid"), line.get("began")) for line in lines]
    return all(isinstance(pid, int) and process_tree.started_ticks(pid) != began for pid, began in known)


def _survivors(file: Path) -> list[int]:
    mark = f"{VARIABLE}={file.stem}".encode()
    survivors = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/environ", "rb") as variables:
                survivors += [int(name)] if mark in variables.read().split(b"\0") else []
    return survivors


def _end_run(file: Path) -> None:
    for pid in _survivors(file):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _own_facts() -> dict[str, object]:
    return {"pid": os.getpid(), "began": process_tree.started_ticks(os.getpid())}


def _same_machine() -> dict[str, object]:
    """Boot and process namespace: who shares both sees the same processes."""
    namespace = None
    with contextlib.suppress(OSError):
        namespace = os.readlink("/proc/self/ns/pid")
    return {"boot": environment.boot_id(), "pids": namespace}


def _line(facts: dict[str, object]) -> bytes:
    return f"{json.dumps(facts)}\n".encode()


def _lines(content: bytes) -> list[dict[str, object]]:
    entries = []
    for line in content.splitlines():
        with contextlib.suppress(ValueError):
            facts = files.parse_json(line)
            entries += [facts] if isinstance(facts, dict) else []
    return entries

"""One measurement at a time on a node.

Each run holds a lock of one file of the machine, by its watchdog and its agent, and adds a line to it. Where nobody
holds it any more, what those lines name is ended: a training that outlived both is known by its environment. Agents of
one run do not wait for each other.

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
from pathlib import Path

from evalsuite.agent import rendezvous
from evalsuite.agent.order import Order
from evalsuite.core import files
from evalsuite.core.messages import Message
from evalsuite.core.placeholders import Node
from evalsuite.machine import process_tree
from evalsuite.runs import rehearsed
from evalsuite.runs.store import RunFolder

STILL_S = 30.0  # `status` takes a run whose files have not changed for longer than three of them as stopped
PLACE = "EVALSUITE_NODE_LOCK"  # another folder than the machine's own
COMMON = Path("/tmp/evalsuite-measuring")  # local, and the same for all users
VARIABLE = "EVALSUITE_PRESENCE"  # marks the processes of a run
POLL_S = 0.5
LONGEST_WORDS = 200  # of a value in a stranger's file
OPEN_TO_ALL, STICKY = 0o666, 0o1777


class NodeLock:
    """Of this process and those that it forks, which are its watchdog and its agent."""

    def __init__(self, handle: int, run: Path) -> None:
        self._handle = handle
        self._run = str(run)
        self.variables = {VARIABLE: secrets.token_hex(8)}
        user = str(os.getuid())
        with contextlib.suppress(KeyError):
            user = pwd.getpwuid(os.getuid()).pw_name
        facts = {"run": self._run, "pid": os.getpid(), "user": user, "mark": self.variables[VARIABLE]}
        os.write(handle, f"{json.dumps(facts)}\n".encode())
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def count_beside(self) -> int:
        return len({str(line.get("run")) for line in _lines(self._handle)} - {self._run})


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
                handle = _open(place / "present", os.O_RDWR | os.O_APPEND)
                _clear(handle)
                others = [line for line in _lines(handle) if not beside(Path(str(line.get("run"))))]
                if share or not others:
                    return NodeLock(handle, run)
                os.close(handle)
            words = Message(
                "agent.measured_here", **{name: others[0].get(name, "?") for name in ("run", "pid", "user")}
            )
            waiting(words.map(lambda text: "".join(filter(str.isprintable, text))[:LONGEST_WORDS]))
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


def _clear(handle: int) -> None:
    """Where nobody holds the file: ends what those left that it names, and empties it."""
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        marks = {f"{VARIABLE}={line.get('mark')}".encode() for line in _lines(handle)}
        for name in filter(str.isdigit, os.listdir("/proc") if marks else ()):
            with contextlib.suppress(OSError), open(f"/proc/{name}/environ", "rb") as variables:
                if marks.intersection(variables.read().split(b"\0")):
                    process_tree.send([int(name)], signal.SIGKILL)
        os.ftruncate(handle, 0)


def _lines(handle: int) -> list[dict[str, object]]:
    entries = []
    for line in os.pread(handle, 1 << 16, 0).splitlines():
        with contextlib.suppress(ValueError):
            facts = files.parse_json(line)
            entries += [facts] if isinstance(facts, dict) else []
    return entries

"""One holder at a time of a file's lock, let go of by a process that dies: with flock, and on file systems without.

Where the file system has no flock (Lustre mounted with `noflock`, some network file systems), a second file made with
O_EXCL stands for the lock and says who made it: one whose process is gone is taken over. What a holder on another host
has left cannot be told from one that works; it stays until somebody removes it.
"""

import contextlib
import errno
import fcntl
import json
import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from evalsuite.errors import EvalsuiteError

NO_FLOCK = frozenset({errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP})
POLL_S = 0.2
LONGEST_MAKER_S = 5.0  # between making the file and saying in it who did


def nothing() -> None:
    """What is done before a wait that nobody wants to know of."""


@contextlib.contextmanager
def held(path: Path, *, wait: bool = True, waiting: Callable[[], None] = nothing) -> Iterator[bool]:
    """Holds the lock *path* while this lasts, and gives whether it does: without *wait* another may hold it.

    *waiting* is called once before a wait begins. Raises OSError if the file cannot be made.
    """
    with open(path, "w") as file:
        try:
            ours = _flocked(file.fileno(), wait, waiting)
        except OSError as error:
            if error.errno not in NO_FLOCK:
                raise
        else:
            yield ours
            return
    with _by_file(path.with_name(f"{path.name}.held"), wait, waiting) as ours:
        yield ours


def has_flock(folder: Path) -> bool:
    """Whether the file system of *folder* gives locks that a dead process lets go of by itself."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError as error:
        return error.errno not in NO_FLOCK
    finally:
        os.close(handle)
    return True


def _flocked(handle: int, wait: bool, waiting: Callable[[], None]) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if not wait:
            return False
        waiting()
        fcntl.flock(handle, fcntl.LOCK_EX)
    return True


@contextlib.contextmanager
def _by_file(path: Path, wait: bool, waiting: Callable[[], None]) -> Iterator[bool]:
    told = False
    while not _made(path):
        if _left_behind(path):
            _take_away(path)
            continue
        if not wait:
            yield False
            return
        if not told:
            waiting()
            told = True
        _check_host(path)
        time.sleep(POLL_S)
    try:
        yield True
    finally:
        with contextlib.suppress(OSError):
            path.unlink()


def _made(path: Path) -> bool:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    except FileExistsError:
        return False
    with os.fdopen(handle, "w") as file:
        json.dump(_me(), file)
    return True


def _me() -> dict[str, object]:
    return {"host": socket.gethostname(), "boot": boot(), "pid": os.getpid(), "began": began(os.getpid())}


def _left_behind(path: Path) -> bool:
    """Whether the process that made *path* is gone: told only of this host."""
    known = _maker(path)
    if known is None:
        return False
    if not known:
        return _age_s(path) > LONGEST_MAKER_S
    if known.get("host") != socket.gethostname():
        return False
    pid = known.get("pid")
    return known.get("boot") != boot() or not isinstance(pid, int) or began(pid) != known.get("began")


def _maker(path: Path) -> dict[str, object] | None:
    """What *path* says of who made it, {} if it does not say; None if it is gone."""
    try:
        found = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _take_away(path: Path) -> None:
    """Removes what a dead process left; what another has made in the meantime is put back."""
    aside = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with contextlib.suppress(OSError):
        path.rename(aside)
        if not _left_behind(aside):
            os.link(aside, path)
        aside.unlink()


def _check_host(path: Path) -> None:
    """Raises EvalsuiteError if nobody here can say whether the holder still works: to wait for it may have no end."""
    known = _maker(path)
    if known and known.get("host") != socket.gethostname():
        raise EvalsuiteError(
            f"{path}: held by process {known.get('pid')} on {known.get('host')}, and this file system has no flock "
            "that would tell whether it still works; expected nobody. Wait for it; if it is gone, remove the file."
        )


def _age_s(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


def boot() -> str:
    """Which start of this machine it is that runs."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def began(pid: int) -> str | None:
    """When the process began, in ticks since the machine did; None if it has ended."""
    try:
        content = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    fields = content[content.rindex(b")") + 2 :].split()
    return None if fields[0] == b"Z" else fields[19].decode()

"""One holder at a time of a file's lock, released when the process dies. With flock. Where a file system lacks it
(Lustre with `noflock`), with filelock's soft lock, a second file: one of a dead process of this host is taken over. Of
a process on another host, nothing tells whether it lives."""

import contextlib
import errno
import fcntl
from collections.abc import Callable, Iterator
from pathlib import Path

from evalsuite.core import files
from evalsuite.core.errors import EvalsuiteError

NO_FLOCK = frozenset({errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP})
LONGEST_WAIT_S = 600.0  # without flock


@contextlib.contextmanager
def hold_lock(path: Path, *, wait: bool = True, waiting: Callable[[], object] = lambda: None) -> Iterator[bool]:
    """Holds *path* for a while; yields False if another holds it and *wait* is off. *waiting* is called once before a
    wait. Raises OSError if the file cannot be made."""
    with open(path, "w", opener=files.open_own) as file:
        try:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                ours = True
            except BlockingIOError:
                if ours := wait:
                    waiting()
                    fcntl.flock(file, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in NO_FLOCK:
                raise
        else:
            yield ours
            return
    with _hold_soft(path.with_name(f"{path.name}.held"), wait, waiting) as ours:
        yield ours


@contextlib.contextmanager
def _hold_soft(path: Path, wait: bool, waiting: Callable[[], object]) -> Iterator[bool]:
    import filelock

    lock = filelock.SoftFileLock(path)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        if not wait:
            yield False
            return
        waiting()
        try:
            lock.acquire(timeout=LONGEST_WAIT_S)
        except filelock.Timeout as error:
            raise EvalsuiteError.of("core.lock_held", path=path, seconds=LONGEST_WAIT_S) from error
    try:
        yield True
    finally:
        lock.release()

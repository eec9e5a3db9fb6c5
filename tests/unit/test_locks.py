"""Locks on file systems with flock and without."""

import errno
import fcntl
import os
import subprocess
import sys
import threading

import pytest

from evalsuite import locks
from evalsuite.errors import EvalsuiteError
from evalsuite.model import Run
from evalsuite.runs.endings import Outcome
from evalsuite.runs.store import Store
from tests.toys import CASE


@pytest.fixture
def refusal(request, monkeypatch):
    """The file system answers flock with that error; None: it gives locks."""
    if request.param is not None:

        def flock(handle, operation):
            raise OSError(request.param, os.strerror(request.param))

        monkeypatch.setattr(fcntl, "flock", flock)
    return request.param


no_flock = pytest.mark.parametrize("refusal", [errno.ENOLCK], indirect=True)
with_and_without = pytest.mark.parametrize(
    "refusal", [None, errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP], indirect=True
)


@with_and_without
def test_one_holds_a_lock_and_the_next_gets_it_after_that(refusal, tmp_path):
    lock = tmp_path / "lock"
    with locks.hold_lock(lock) as first, locks.hold_lock(lock, wait=False) as second:
        assert (first, second) == (True, False)
    with locks.hold_lock(lock, wait=False) as third:
        assert third
    assert locks.has_flock(tmp_path) == (refusal is None)


@with_and_without
def test_a_run_is_claimed_by_one_alone_and_run_once(refusal, tmp_path):
    run = Run(case=CASE, repeat=0)
    with Store(tmp_path).claim(run) as first, Store(tmp_path).claim(run) as second:
        assert second is None
        first.write_outcome(Outcome(status="completed", reason=""))

    with Store(tmp_path).claim(run) as again:
        assert again is None
    assert not list(tmp_path.rglob("*.held"))


@with_and_without
def test_who_waits_is_told_once_and_gets_the_lock_when_it_is_free(refusal, tmp_path):
    told, got = threading.Event(), threading.Event()

    def second():
        with locks.hold_lock(tmp_path / "lock", waiting=told.set):
            got.set()

    with locks.hold_lock(tmp_path / "lock"):
        other = threading.Thread(target=second)
        other.start()
        assert told.wait(10)
        assert not got.is_set()
    other.join(10)

    assert got.is_set()


@no_flock
def test_without_flock_a_killed_holder_is_no_hindrance(refusal, tmp_path):
    program = f"""
import fcntl, os, pathlib
def flock(*_): raise OSError({errno.ENOLCK}, "")
fcntl.flock = flock
from evalsuite import locks
with locks.hold_lock(pathlib.Path({str(tmp_path / "lock")!r})): os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", program], check=False)
    assert (tmp_path / "lock.held").is_file()

    with locks.hold_lock(tmp_path / "lock", wait=False) as ours:
        assert ours


@no_flock
def test_without_flock_a_holder_elsewhere_is_believed_and_the_file_is_named(refusal, tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "LONGEST_WAIT_S", 0.1)
    (tmp_path / "lock.held").write_text("7\nanother-host\n")

    with locks.hold_lock(tmp_path / "lock", wait=False) as ours:
        assert not ours
    with pytest.raises(EvalsuiteError, match=r"lock\.held: held for more than .* remove the file"):
        locks.hold_lock(tmp_path / "lock").__enter__()

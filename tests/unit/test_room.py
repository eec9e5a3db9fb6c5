"""Room on the disk is asked for before the first run, by what earlier runs took."""

import shutil
from dataclasses import replace
from types import SimpleNamespace

import pytest

from evalsuite.errors import EvalsuiteError
from evalsuite.launch.checks import disk_space
from evalsuite.model import Run
from evalsuite.runs.endings import Outcome
from evalsuite.runs.store import Store
from tests.toys import CASE

RUNS = [Run(case=CASE, repeat=repeat) for repeat in range(1, 11)]


def finished(store, size):
    with store.claim(Run(case=CASE, repeat=0)) as folder:
        folder.log_path("n0").write_bytes(b"0" * size)
        folder.write_outcome(Outcome(status="completed", reason=""))


@pytest.fixture
def free(monkeypatch):
    def has(size):
        monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=size))

    return has


def test_a_disk_without_room_is_said_before_anything_starts(tmp_path, free):
    free(10 << 20)

    with pytest.raises(EvalsuiteError, match=r"10 MB are free; expected 210 MB for 10 runs .*another disk"):
        disk_space.check_disk_space(RUNS, Store(tmp_path / "not" / "there"))


def test_earlier_runs_tell_what_more_of_them_take(tmp_path, free):
    store = Store(tmp_path)
    finished(store, 20 << 20)
    free(1 << 30)

    disk_space.check_disk_space(RUNS, store)
    needed, by = disk_space.needed_bytes(RUNS, store)

    assert needed == pytest.approx(10 * 2 * (20 << 20), rel=0.01)
    assert by == "by 1 earlier runs"


def test_many_nodes_take_more_and_nothing_to_do_takes_nothing(tmp_path, free):
    wide = [replace(run, case=CASE.at_scale(100, 8)) for run in RUNS]
    free(0)

    assert disk_space.needed_bytes(wide, Store(tmp_path))[0] == 1000 * disk_space.USUAL_BYTES
    disk_space.check_disk_space([], Store(tmp_path))

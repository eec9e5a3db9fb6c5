"""Room on the disk is asked for before the first run."""

import shutil
from dataclasses import replace
from types import SimpleNamespace

import pytest

from evalsuite import cli
from evalsuite.agent.recording import Quota, TooMuchOutput
from evalsuite.core import files
from evalsuite.core.errors import EvalsuiteError, Exit, of_machine
from evalsuite.core.model import Run
from evalsuite.launch.checks import room
from evalsuite.plan.estimate import Estimate
from evalsuite.runs.store import Store
from tests.toys import CASE

RUNS = [Run(case=CASE, repeat=repeat) for repeat in range(1, 11)]


@pytest.fixture
def free(monkeypatch):
    def has(size):
        monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=size))

    return has


def test_a_disk_without_room_is_said_first_many_nodes_take_more_and_nothing_to_do_takes_nothing(tmp_path, free):
    free(10 << 20)

    with pytest.raises(EvalsuiteError, match=r"10 MB are free; expected 67 MB for 10 runs.*another disk"):
        room.check_disk_space(RUNS, Store(tmp_path / "not" / "there"), Estimate())

    wide = [replace(run, case=CASE.at_scale(125, 8)) for run in RUNS]
    for hours, expected in ((1 / 6, "292"), (1, "1,125")):  # ten minutes of one took 16.4 MB
        with pytest.raises(EvalsuiteError, match=rf"{expected} MB for 10 runs"):
            room.check_disk_space(wide, Store(tmp_path), Estimate([(wide[0], 3600 * hours)]))
    room.check_disk_space([], Store(tmp_path), Estimate())


# quota


def test_logs_count_together_and_a_name_that_is_no_utf_8_comes_back(tmp_path):
    quota = Quota(100)
    quota.take(60)
    quota.take(40)

    with pytest.raises(TooMuchOutput):
        quota.take(1)

    name = b"caf\xe9".decode("utf-8", "surrogateescape")
    files.write_json(tmp_path / "a.json", {"path": name})
    assert files.read_json(tmp_path / "a.json") == {"path": name}


def test_what_an_interrupted_run_left_is_kept_aside_less_its_scratch_and_half_written_files(tmp_path):
    store, run = Store(tmp_path), Run(case=CASE, repeat=0)
    with store.claim(run) as folder:
        folder.scratch.mkdir()
        (folder.scratch / "checkpoint").write_bytes(b"0" * 1000)
        folder.log_path("n0").write_bytes(b"half a li")
        (folder.path / ".command.json.a1b2c3d4").write_text("{")

    with store.claim(run) as again:
        assert again.logs() == []
    aside = folder.path.with_name("r0.interrupted-1")
    assert sorted(path.name for path in aside.iterdir()) == ["case.json", "log.n0.txt"]
    assert (aside / "log.n0.txt").read_bytes() == b"half a li"


@pytest.mark.parametrize("number", [28, 30, 13, 24, 36, 38, 95, 37, 12])
def test_a_machine_that_lacks_something_is_one_sentence(number, monkeypatch, capsys):
    def lacking(arguments):
        raise OSError(number, "as the system says it", "/runs/x")

    monkeypatch.setattr("evalsuite.commands.doctor.run", lacking)

    assert cli.main(["doctor"]) == Exit.USAGE
    said = capsys.readouterr().err
    assert said.startswith("evalsuite doctor: /runs/x: ") and said.count("\n") == 1


def test_an_error_of_the_system_is_said_of_its_folder_or_travels_up_as_a_defect_of_ours():
    assert of_machine(OSError(9, "Bad file descriptor")) is None
    assert isinstance(of_machine(OSError(28, "No space left")), EvalsuiteError)

    said = str(of_machine(OSError(28, "No space left on device"), "/runs/a/r0"))
    assert said.startswith("/runs/a/r0: the disk is full") and "another disk" in said

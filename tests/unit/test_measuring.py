"""Many run folders by several processes: the same measurements in the same order, whatever lies among them."""

import os
import shutil

import pytest

from evalsuite.core import paths, processes
from evalsuite.core.findings import UnreadableRun
from evalsuite.results.evaluation import evaluate
from evalsuite.results.measure import measurement as measurement_room
from evalsuite.results.measure import measuring
from evalsuite.runs.store import Store

HOUSE = measurement_room.HOUSE
RECORDED = Store(paths.DATA / "recorded").finished()[::2]


@pytest.fixture(params=[1, 3])
def cores(request, monkeypatch):
    monkeypatch.setattr(processes, "usable_cores", lambda: range(request.param))
    monkeypatch.setattr(measuring, "WORTH_A_PROCESS", 2)
    return request.param


@pytest.fixture
def folders(tmp_path):
    for folder in RECORDED:
        shutil.copytree(folder.path, tmp_path / "runs" / folder.path.parent.name / folder.path.name)
    return Store(tmp_path / "runs").finished()


def nothing() -> None:
    pass


def test_several_processes_measure_what_one_does_with_and_without_a_cache(folders, cores, tmp_path):
    direct = [(measurement_room.measurement(folder), folder.command()) for folder in folders]

    for cache in (None, tmp_path / "cache", tmp_path / "cache"):
        measured, broken = measuring.measure_folders(folders, HOUSE, cache, nothing)

        assert [tuple(each) for each in measured] == direct
        assert broken == []


def test_what_is_done_meanwhile_is_done_once_and_here(folders, cores):
    done = []

    measuring.measure_folders(folders, HOUSE, None, lambda: done.append(os.getpid()))

    assert done == [os.getpid()]


def test_a_folder_that_cannot_be_read_is_a_finding_and_the_others_are_measured(folders, cores, tmp_path):
    (folders[1].path / "case.json").write_text("{")
    (folders[2].path.parent).rename(folders[2].path.parent.with_name("another-name"))
    (file := folders[3].path / "outcome.json").unlink()
    file.symlink_to(file.name)
    folders = Store(tmp_path / "runs").finished()

    measured, broken = measuring.measure_folders(folders, HOUSE, tmp_path / "cache", nothing)

    assert (len(measured), "outcome.json" in str(measured)) == (len(folders) - 2, True)
    assert [type(each) for each in broken] == [UnreadableRun] * 2
    assert "another-name" in broken[0].where or "another-name" in broken[1].where


def test_a_run_whose_command_cannot_be_read_has_failed_and_has_none(folders, cores, tmp_path):
    (folders[0].path / "command.json").write_text("{")

    for _ in range(2):
        (first, *_), _ = measuring.measure_folders(folders, HOUSE, tmp_path / "cache", nothing)

        assert (first.measurement.status, first.command) == ("failed", None)


def test_a_fault_of_ours_in_another_process_is_raised_here(folders, cores, monkeypatch):
    def faulty(folder: object, places: object) -> None:
        raise KeyError("ours")

    monkeypatch.setattr(measurement_room, "measured", faulty)

    with pytest.raises(KeyError, match="ours"):
        measuring.measure_folders(folders, HOUSE, None, nothing)


def test_an_evaluation_is_the_same_by_one_process_and_by_several(folders, monkeypatch, tmp_path):
    monkeypatch.setattr(measuring, "WORTH_A_PROCESS", 2)
    found = []
    for cores in (1, 3, 3):
        monkeypatch.setattr(processes, "usable_cores", lambda cores=cores: range(cores))
        found.append(evaluate(Store(tmp_path / "runs"), cache=tmp_path / f"cache of {cores}"))

    assert found[1:] == [found[0]] * 2

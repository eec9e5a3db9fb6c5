"""The work on a large report that two processes share: all of it is done, whatever becomes of the other process."""

import os
import time
from functools import partial
from types import SimpleNamespace

import pytest

from evalsuite.report.page import ahead


@pytest.fixture(autouse=True)
def two_cores(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})


def test_each_work_is_done_by_one_of_two_processes(tmp_path):
    def note(name):
        with open(tmp_path / name, "a") as file:
            file.write(f"{os.getpid()}\n")

    ahead.shared([partial(note, str(number)) for number in range(300)])

    assert sorted(int(file.name) for file in tmp_path.iterdir()) == list(range(300))
    assert all(len(file.read_text().splitlines()) == 1 for file in tmp_path.iterdir())


def test_what_the_other_process_could_not_do_is_done_here(tmp_path):
    here = os.getpid()

    def note(name):
        if os.getpid() != here:
            os._exit(9)
        time.sleep(0.01)  # so that the other takes one too
        (tmp_path / name).touch()

    ahead.shared([partial(note, str(number)) for number in range(20)])

    assert len(list(tmp_path.iterdir())) == 20


def test_an_error_is_raised_where_it_can_be_seen():
    def fail():
        raise OSError(28, "No space left on device", "/report/report.part-bert.html")

    with pytest.raises(OSError, match=r"report\.part-bert"):
        ahead.shared([fail] * 4)


LOOK = SimpleNamespace(cache="/tmp")
LARGE = SimpleNamespace(book=SimpleNamespace(planned=range(ahead.WORTH_A_PROCESS)), blocks=(), look=LOOK)
HASH = ahead.Later(lambda: "0" * 64)
SMALL = SimpleNamespace(book=SimpleNamespace(planned=range(2)), blocks=(), look=LOOK)


@pytest.mark.parametrize("subject", [LARGE, SMALL])
def test_what_stands_beside_a_page_is_written_when_the_page_is(subject, tmp_path, monkeypatch):
    monkeypatch.setattr(ahead, "_draw", lambda enough, subject: enough.wait())

    with ahead.helped(subject, HASH, [(tmp_path / "summary.json").touch]) as enough:
        enough()

    assert (tmp_path / "summary.json").exists()


def test_what_stands_beside_a_page_is_written_here_where_the_other_process_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(ahead, "_draw", lambda enough, subject: os._exit(9))

    with ahead.helped(LARGE, HASH, [(tmp_path / "summary.json").touch]):
        pass

    assert (tmp_path / "summary.json").exists()


def test_a_page_that_fails_does_not_wait_for_what_stands_beside_it(monkeypatch):
    monkeypatch.setattr(ahead, "_draw", lambda enough, subject: time.sleep(60))
    began = time.monotonic()

    with pytest.raises(ZeroDivisionError), ahead.helped(LARGE, HASH):
        raise ZeroDivisionError

    assert time.monotonic() - began < 30


@pytest.mark.parametrize("subject", [LARGE, SMALL])
def test_a_text_for_later_is_worked_out_once_by_the_other_process_if_there_is_one(subject, tmp_path, monkeypatch):
    monkeypatch.setattr(ahead, "_draw", lambda enough, subject: enough.wait())
    later = ahead.Later(lambda: str(os.getpid()))

    with ahead.helped(subject, later, [lambda: (tmp_path / "beside").write_text(later())]):
        said = later()

    assert (said == str(os.getpid())) == (subject is SMALL)
    assert (tmp_path / "beside").read_text() == later() == said


@pytest.mark.parametrize("asked_inside", [True, False])
def test_a_text_for_later_is_worked_out_here_where_the_other_process_ends(asked_inside):
    here = os.getpid()
    later = ahead.Later(lambda: "said here" if os.getpid() == here else os._exit(9))

    with ahead.helped(LARGE, later):
        if asked_inside:
            assert later() == "said here"

    assert later() == "said here"

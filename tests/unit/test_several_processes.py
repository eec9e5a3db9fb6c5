"""The same work by several processes: in order, all of it, whatever becomes of one of them."""

import contextlib
import os
import signal
import time
from pathlib import Path

import pytest

from evalsuite.core import processes
from tests.processes import soon


def square(number: int) -> tuple[int, int]:
    return number * number, os.getpid()


def shared(work, things, cores: int, meanwhile=lambda: None):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "usable_cores", lambda: range(cores))
        return processes.shared(work, things, meanwhile)


def children() -> set[str]:
    """The processes that this one has started: other tests may have left some."""
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


@pytest.mark.parametrize("things", [1, 2, 40, 20_000])
def test_everything_is_made_once_and_in_order(things):
    made = list(shared(square, range(things), 3))

    assert [value for value, _ in made] == [number * number for number in range(things)]


def test_results_of_any_size_come_whole_and_the_others_begin_while_the_first_does_something_else(tmp_path):
    def work(number: int) -> tuple[int, int]:
        (tmp_path / f"{number} {os.getpid()}").touch()
        return square(number)

    made = list(shared(work, range(40), 2, lambda: soon(lambda: len(list(tmp_path.iterdir())) > 10)))
    assert sum(process != os.getpid() for _, process in made) > 10

    made = list(shared(lambda number: bytes([number]) * 300_000, range(12), 2))
    assert made == [bytes([number]) * 300_000 for number in range(12)]


def test_what_a_killed_process_leaves_is_made_by_the_first():
    first = os.getpid()

    def work(number: int) -> int:
        if os.getpid() != first and number >= 10:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.002)
        return number

    assert list(shared(work, range(60), 2)) == list(range(60))


def test_an_error_is_raised_in_the_first_process_and_no_other_one_stays():
    def work(number: int) -> int:
        if number == 30:
            raise ValueError("thirty")
        return number

    before = children()

    with pytest.raises(ValueError, match="thirty"):
        list(shared(work, range(60), 3))

    assert children() <= before


def test_the_others_end_when_the_first_process_is_killed(tmp_path):
    def work(number: int) -> bytes:
        (tmp_path / str(os.getpid())).touch()
        time.sleep(0.01)
        return bytes(1 << 20)

    first = os.fork()
    if not first:
        with contextlib.suppress(BaseException):
            list(shared(work, range(10_000), 3))
        os._exit(0)
    assert soon(lambda: len(list(tmp_path.iterdir())) == 3)
    os.kill(first, signal.SIGKILL)
    os.waitpid(first, 0)

    assert soon(lambda: not any(runs(file.name) for file in tmp_path.iterdir()))


def runs(process: str) -> bool:
    """Whether *process* is there, and no mere entry that nobody has asked for yet."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes() != b""
    return False

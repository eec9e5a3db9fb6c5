"""The largest batch that fits: the search, and how a trial is judged."""

import pytest

from evalsuite import cli
from evalsuite.errors import Exit
from evalsuite.launch import batch_search, runner
from evalsuite.logs import catalogue
from evalsuite.plan.largest import find_largest
from evalsuite.runs.endings import Outcome
from evalsuite.runs.store import RunFolder
from tests.toys import CASE

LAUNCHER = runner.Launcher(engine=None, timeout_s=60.0, pythons={}, packages={}, dialects=catalogue.known())
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.02 GiB\n"


def memory(limit, unsteady=()):
    """A device that takes *limit*; batches in *unsteady* fit only the first time."""

    def trial(batch, aim):
        fits = batch <= limit and not (batch in unsteady and aim == "confirm")
        return ("fits" if fits else "out_of_memory"), ""

    return trial


@pytest.mark.parametrize(("limit", "start"), [(1, 1), (7, 8), (100, 8), (100, 300), (4095, 1), (777, 64)])
def test_the_search_ends_within_a_sixteenth_of_what_fits(limit, start):
    found = find_largest(memory(limit), start, most=65_536)

    assert found.batch is not None
    assert limit * (1 - 1 / 16) - 1 <= found.batch <= limit
    assert found.tried[-1].aim == "confirm"
    assert len(found.tried) < 25


def test_each_batch_is_tried_once_the_last_again_and_the_limit_is_not_passed_and_said():
    found, limited = find_largest(memory(100), 8, most=1024), find_largest(memory(10**9), 8, most=100)

    batches = [one.batch for one in found.tried if one.aim != "confirm"]
    assert batches[:5] == [8, 16, 32, 64, 128]
    assert len(batches) == len(set(batches))
    assert (limited.batch, limited.at_limit) == (100, True)
    assert max(one.batch for one in limited.tried) == 100


def test_a_batch_that_fits_once_or_not_at_all_is_not_relied_on():
    steady = find_largest(memory(100), 8, most=1024).batch
    found = find_largest(memory(100, unsteady={steady}), 8, most=1024)
    assert found.batch is not None and found.batch < steady

    nothing = find_largest(memory(0), 8, most=64)
    broken = find_largest(lambda batch, aim: ("failed", "no such file"), 8, most=64)
    assert (nothing.batch, [one.batch for one in nothing.tried]) == (None, [8, 4, 2, 1])
    assert (broken.batch, len(broken.tried), broken.tried[0].reason) == (None, 1, "no such file")


@pytest.mark.parametrize(
    ("log", "outcome", "ends"),
    [
        ("", {"status": "completed", "reason": ""}, "fits"),
        (OOM, {"status": "failed", "reason": "exit code 1"}, "out_of_memory"),
        ("step 1\n", {"status": "failed", "reason": "ended by SIGKILL"}, "out_of_memory"),
        ("KeyError: 'a'\n", {"status": "failed", "reason": "exit code 1"}, "failed"),
        (OOM, {"status": "failed", "reason": "the node agent was lost on n", "fault": "infrastructure"}, "failed"),
    ],
)
def test_only_memory_makes_a_batch_too_large(log, outcome, ends, tmp_path):
    folder = RunFolder(tmp_path)
    folder.log_path("n0").write_text(log)
    folder.write_outcome(Outcome(**outcome))

    assert batch_search.read_trial(folder, CASE, "pytorch_examples", catalogue.known())[0] == ends


def test_on_a_processor_the_most_is_asked_for(capsys, tmp_path):
    code = cli.main(["largest-batch", "--frameworks", "pytorch", "--device", "cpu", "--runs", str(tmp_path)])

    assert code == Exit.USAGE
    assert "Try --most 256" in capsys.readouterr().err

"""Logs of other people that were once read wrongly, and that no answer makes less known of a log."""

import pytest

from evalsuite.contracts.dialect import NO_ITEMS
from evalsuite.logs.reading import read_file
from tests.corpus import CASES, DIALECTS, with_cases
from tests.readings import LOGS, value

GIVEN = [{"devices": 8}, {"batch_per_device": 32}, {"devices": 8, "batch_per_device": 32}, {"scope": "global"}]


@pytest.mark.parametrize("dialects", [DIALECTS, {}], ids=["by dialect", "by shape"])
@pytest.mark.parametrize("path", sorted(LOGS.glob("*.log")), ids=lambda path: path.stem)
def test_an_answer_never_makes_less_known(path, dialects):
    alone = known(read_file(path, dialects=dialects))

    assert [given for given in GIVEN if known(read_file(path, dialects=dialects, **given)) < alone] == []


def known(found):
    """Nothing, a speed in steps, one in items."""
    return 0 if not value(found) else 1 if found.unit in NO_ITEMS else 2


@with_cases
@pytest.mark.parametrize(
    ("name", "given", "number", "unit"),
    [
        ("bar_accumulation.log", {}, 16, "samples/s"),
        ("bar_accumulation.log", {"devices": 4, "batch_per_device": 4}, 16, "samples/s"),
        ("detection_total_batch.log", {}, 53.3, "images/s"),
        ("hf_evaluations.log", {}, 32, "samples/s"),
        ("mlx_lm.log", {}, 18, "tokens/s"),
        ("mlx_trainer.log", {}, 42, "tokens/s"),
        ("num_devices.log", {}, 131_072, "tokens/s"),
        ("rl_fps.log", {}, 80_123, "frames/s"),
        ("rl_phases.log", {}, 8589, "tokens/s"),
        ("rl_phases.log", {"devices": 8}, 8589, "tokens/s"),
        ("robot_effective_batch.log", {}, 610, "samples/s"),
        ("speech_range_of_steps.log", {}, 0.69, "steps/s"),
        ("stderr_bars_only.log", {}, 0.667, "steps/s"),
        ("torchtitan_one_gpu.log", {}, 3457, "tokens/s"),
        ("trl_strings.log", {}, 13_653, "tokens/s"),
    ],
)
def test_facts_and_clocks_of_a_log_agree_in_its_number(name, given, number, unit):
    found = read_file(CASES / name, **given)

    assert (value(found), found.unit) == (pytest.approx(number, rel=0.01), unit)


@with_cases
def test_counters_that_contradict_a_rate_leave_no_number():
    found = read_file(CASES / "counter_against_rate.log")

    assert (value(found), found.status) == (None, "doubtful")
    assert "a factor of 8" in found.reason


@with_cases
def test_a_pointer_of_git_says_how_its_file_is_fetched():
    assert "git lfs pull" in read_file(CASES / "lfs_pointer.log").reason

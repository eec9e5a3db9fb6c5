"""What an evaluation will take, what it took, and which further runs would decide something open."""

from dataclasses import replace

import pytest

from evalsuite.commands.launching import prices
from evalsuite.core import paths
from evalsuite.core.model import Run
from evalsuite.launch.checks.room import RemainingTime
from evalsuite.plan.estimate import Estimate, Expected
from evalsuite.runs import archive
from evalsuite.runs.store import Store
from tests.toys import CASE

OTHER = replace(CASE, framework="othernet")


def runs(case, *repeats):
    return [Run(case=case, repeat=repeat) for repeat in repeats]


def test_prices_are_told_framework_by_framework():
    wide = CASE.at_scale(1, 4)
    estimate = Estimate([(Run(case=CASE, repeat=0), 1800.0)])

    known, unknown = estimate.prices([*runs(CASE, 1), *runs(wide, 0), *runs(OTHER, 0, 1)])

    assert (known.framework, known.runs, known.seconds, known.basis) == ("toynet", 2, 3600.0, "alike")
    assert known.device_hours == pytest.approx(0.5 + 2.0)
    assert (unknown.framework, unknown.unknown, unknown.seconds, unknown.device_hours) == ("othernet", 2, None, None)


def test_before_the_first_run_the_recorded_ones_give_a_time_that_decides_nothing():
    unpacked = archive.unpack_outcomes(paths.DATA / "recorded.zip", ["nanogpt-", "of-nobody-"])
    recorded = list(prices._durations(Store(unpacked).finished()))
    (elsewhere, seconds), again = recorded[0], replace(recorded[0][0], repeat=7)
    estimate = Estimate(recorded=Estimate(recorded))
    remaining = RemainingTime(150.0 + seconds / 2, estimate, clock=lambda: 0.0)

    assert {run.case.framework for run, _ in recorded} == {"nanogpt"}
    assert estimate.expected(again) == Expected(seconds=seconds, basis="recorded")
    assert Estimate([], 9.0, Estimate(recorded)).expected(again) == Expected(seconds=9.0, basis="stated")
    assert Estimate(recorded, None, Estimate(recorded)).expected(elsewhere) == Expected(seconds=seconds, basis="own")
    for case in (OTHER, replace(again.case, device="gpu")):
        assert Estimate(recorded=Estimate(recorded)).expected(Run(case=case, repeat=0)) is None
    assert remaining.fits(again)


THREE, FIVE, BEHIND = (100.0, 101.0, 102.0), (100.0, 101.0, 102.0, 103.0, 101.5), (90.0, 95.0, 89.0)

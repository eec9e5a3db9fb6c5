"""What an evaluation will take, what it took, and which further runs would decide something open."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from evalsuite.commands import status
from evalsuite.commands.launching import prices
from evalsuite.commands.printing.terminal import RunProgress, duration
from evalsuite.core import paths
from evalsuite.core.model import Run
from evalsuite.launch.checks.room import RemainingTime
from evalsuite.plan.estimate import Estimate
from evalsuite.runs.endings import Outcome
from evalsuite.runs.planned import Planned
from evalsuite.runs.store import Store
from tests.toys import CASE

OTHER = replace(CASE, framework="othernet")


def runs(case, *repeats):
    return [Run(case=case, repeat=repeat) for repeat in repeats]


def test_a_guess_by_other_scripts_is_no_price():
    wide = CASE.at_scale(1, 4)
    estimate = Estimate([(Run(case=CASE, repeat=0), 1800.0)])

    assert estimate.priced([*runs(CASE, 1), *runs(wide, 0), *runs(OTHER, 0, 1)]) == [(CASE, 1800.0), (wide, 1800.0)]


def test_a_job_for_each_number_of_nodes_holds_what_it_runs_and_its_bases_once_more():
    made = [*runs(CASE, 1, 2), *runs(CASE.at_scale(1, 8), 1, 2), *runs(CASE.at_scale(16, 8), 1, 2)]
    one, many = Estimate([], 3600.0).jobs(made)

    assert (one.nodes, one.scales, one.seconds) == (1, ("1x1", "1x8"), 4 * 3600)
    assert (many.nodes, many.scales, many.seconds) == (16, ("1x1", "16x8"), 3 * 3600)
    assert [job.seconds for job in Estimate().jobs(made)] == [None, None]


def test_before_the_first_run_of_a_script_the_spec_says_how_long_one_takes():
    known = Estimate([(Run(case=CASE, repeat=0), 35.0)], 9.0)
    remaining = RemainingTime(150.0 + 8.0, known, clock=lambda: 0.0)

    assert (known.of(Run(case=OTHER, repeat=0)), known.of(Run(case=CASE, repeat=1))) == (9.0, 35.0)
    assert not remaining.fits(Run(case=OTHER, repeat=0))


def test_after_a_quarter_of_recorded_runs_the_time_left_is_right_within_thirty_per_cent():
    folders = sorted(Store(paths.DATA / "recorded").finished(), key=lambda folder: folder.outcome().started_at)
    ended = [(folder.run(), folder.outcome().duration_s) for folder in folders]
    quarter = len(ended) // 4
    left, known = ended[quarter:], Estimate(ended[:quarter], 3600.0)
    to_do, whole_s = [run for run, _ in left], sum(seconds for _, seconds in left)

    assert known.left(to_do, 0.0) == pytest.approx(whole_s, rel=0.3)
    assert known.left(to_do, 10.0) == pytest.approx(known.left(to_do, None) - 10.0)
    assert known.left(to_do[:1], 1e6) > 0  # one that takes longer than others has not ended


def test_plan_job_and_status_say_the_same_of_how_long_the_rest_takes(tmp_path):
    store, cases = Store(tmp_path), (CASE, replace(CASE, batch_per_device=64), OTHER)
    store.write_plan(Planned(profile="x", repeats=2, cases=cases, skips=()))
    made = [Run(case=case, repeat=repeat) for repeat in range(2) for case in cases]
    planned = SimpleNamespace(runs=tuple(made), spec=SimpleNamespace(expected_run_s=None))
    for done, seconds in enumerate((40.0, 100.0, 60.0, 80.0)):  # the first is of another plan
        with store.claim(made[done - 1] if done else Run(case=CASE.at_scale(1, 8), repeat=0)) as folder:
            folder.write_outcome(Outcome(status="completed", reason="", duration_s=seconds))

        shown = RunProgress(made[done:], prices.estimate(planned, store, made[done:]))
        of_plan, of_status = shown._estimate.total(made[done:]), status.read_state(store, 0.0).estimated_s

        assert of_status == of_plan and bool(of_plan) == (done == 3)  # no other script says how long one takes
        assert not of_plan or duration(of_plan) in shown._left(0)

"""What an evaluation will take, what it took, and which further runs would decide something open."""

from dataclasses import replace

import pytest

from evalsuite.commands.launching import prices
from evalsuite.core.findings import SameBytes, ShortWindow
from evalsuite.core.model import BatchTrial, Protocol, Run
from evalsuite.launch.checks.wall_time_left import RemainingTime
from evalsuite.plan.estimate import Estimate, Expected
from evalsuite.report.sections.quality import price
from evalsuite.report.text import words
from evalsuite.results.compare.answers import answers
from evalsuite.results.compare.scaling import with_scaling
from evalsuite.results.judge import next_repeats, spending
from evalsuite.results.judge.criteria import Criteria, LinearSpeedup
from evalsuite.results.judge.verdicts import verdicts
from evalsuite.results.measure.summary import summaries, valid
from tests.toys import CASE, measured

OTHER = replace(CASE, framework="othernet")


def runs(case, *repeats):
    return [Run(case=case, repeat=repeat) for repeat in repeats]


def test_prices_are_told_framework_by_framework_and_longer_runs_in_proportion_to_their_work():
    wide = CASE.at_scale(1, 4)
    estimate = Estimate([(Run(case=CASE, repeat=0), 1800.0)])

    known, unknown = estimate.prices([*runs(CASE, 1), *runs(wide, 0), *runs(OTHER, 0, 1)])

    assert (known.framework, known.runs, known.seconds, known.basis) == ("toynet", 2, 3600.0, "alike")
    assert known.device_hours == pytest.approx(0.5 + 2.0)
    assert (unknown.framework, unknown.unknown, unknown.seconds, unknown.device_hours) == ("othernet", 2, None, None)

    short = replace(CASE, protocol=Protocol(warmup_steps=5, measured_steps=30), options=(("image_size", "64"),))
    long = replace(CASE, options=(("image_size", "128"),))

    (price,) = Estimate([(Run(case=short, repeat=0), 35.0)]).prices(runs(long, 0))

    assert price.basis == "scaled"
    assert price.seconds == pytest.approx(4 * 120.0)


def test_before_the_first_run_the_recorded_ones_give_a_time_that_decides_nothing():
    recorded = list(prices._recorded({"nanogpt", "of-nobody"}))
    (elsewhere, seconds), again = recorded[0], replace(recorded[0][0], repeat=7)
    estimate = Estimate(recorded=Estimate(recorded))
    remaining = RemainingTime(150.0 + seconds / 2, estimate, clock=lambda: 0.0)

    assert {run.case.framework for run, _ in recorded} == {"nanogpt"} and list(prices._recorded(())) == []
    assert estimate.expected(again) == Expected(seconds=seconds, basis="recorded")
    assert Estimate([], 9.0, Estimate(recorded)).expected(again) == Expected(seconds=9.0, basis="stated")
    assert Estimate(recorded, None, Estimate(recorded)).expected(elsewhere) == Expected(seconds=seconds, basis="own")
    for case in (OTHER, replace(again.case, device="gpu")):
        assert Estimate(recorded=Estimate(recorded)).expected(Run(case=case, repeat=0)) is None
    assert remaining.fits(again)


def test_what_was_spent_counts_runs_that_failed_and_says_which_have_no_duration():
    wide = CASE.at_scale(1, 2)
    found = [
        measured(CASE, 0, 100.0, duration_s=3600.0),
        measured(wide, 0, None, duration_s=1800.0),
        measured(wide, 1, 190.0),
        measured(CASE, 2, 100.0, duration_s=3600.0, findings=(SameBytes(first="r0"),)),
        measured(OTHER, 0, 90.0, origin="cited", duration_s=9.0),
    ]

    (one,) = spending.spent(found)

    assert (one.framework, one.runs, one.lost, one.untimed) == ("toynet", 3, 1, 1)
    assert (one.seconds, one.device_hours) == (5400.0, 2.0)


def test_trials_of_batches_are_part_of_the_time_and_of_no_number_of_runs():
    wide = CASE.at_scale(1, 2)
    trials = [BatchTrial(run=Run(case=wide, repeat=0), duration_s=each) for each in (1800.0, None)]
    other = BatchTrial(run=Run(case=OTHER, repeat=0), duration_s=60.0)

    mine, theirs = spending.spent([measured(CASE, 0, 100.0, duration_s=3600.0)], [*trials, other])

    assert (mine.runs, mine.lost, mine.trials, mine.untimed) == (1, 0, 2, 1)
    assert (mine.seconds, mine.device_hours) == (5400.0, 2.0)
    assert (theirs.framework, theirs.runs, theirs.trials, theirs.seconds) == ("othernet", 0, 1, 60.0)
    said = price.line((mine, theirs), words.read(("en",))).plain("en")
    assert said.startswith("1 run and 3 trials of batch sizes took 1 h 31 min")


def of(case, values, **changes):
    return [
        measured(case, repeat, value, duration_s=60.0, round=repeat, **changes) for repeat, value in enumerate(values)
    ]


def offered(found, criteria=None):
    rows = with_scaling(summaries(found))
    cases = [row.case for row in rows]
    judged = verdicts(rows, criteria, cases) if criteria else ()
    return next_repeats.next_repeats(answers(rows, cases), judged, rows, {})


THREE, FIVE, BEHIND = (100.0, 101.0, 102.0), (100.0, 101.0, 102.0, 103.0, 101.5), (90.0, 95.0, 89.0)


def test_two_more_runs_of_each_decide_and_both_scales_of_a_setting_are_one_command():
    (offer,) = offered([*of(CASE, THREE), *of(OTHER, BEHIND)])

    assert (offer.decides, offer.frameworks, offer.runs, offer.repeats) == ("order", ("toynet", "othernet"), 4, 5)
    assert (offer.seconds, offer.device_hours) == (240.0, pytest.approx(240 / 3600))
    words = list(offer.command)
    assert words[words.index("--repeats") + 1] == "5"
    assert words[words.index("--frameworks") + 1] == "toynet,othernet"

    wide, other = CASE.at_scale(1, 2), OTHER.at_scale(1, 2)
    at_two = [*of(wide, (190.0, 191.0, 192.0)), *of(other, (180.0, 187.0, 179.0))]

    (offer,) = offered([*of(CASE, THREE), *of(OTHER, BEHIND), *at_two])

    assert (offer.runs, len(offer.cases)) == (8, 4)
    assert "1x1,1x2" in offer.command


@pytest.mark.parametrize(
    ("ours", "others", "runs"),
    [
        (of(CASE, THREE), of(OTHER, (*BEHIND, 91.0, 91.5)), [(2, ["toynet"])]),  # only the case that lacks runs
        (of(CASE, FIVE), of(OTHER, (*BEHIND, 93.0, 91.5)), []),  # an order that is told
        (of(CASE, FIVE), of(OTHER, (100.0, 101.5, 99.0, 102.5, 100.5)), []),  # a tie
        (of(CASE, THREE[:2], origin="imported"), of(OTHER, BEHIND[:2], origin="imported"), []),  # figures of others
    ],
)
def test_more_runs_are_offered_of_the_case_that_lacks_them_and_never_of_what_is_told(ours, others, runs):
    offer = offered([*ours, *others])

    assert [(each.runs, [case.framework for case in each.cases]) for each in offer] == runs
    assert valid(summaries([*ours, *others]))


def test_runs_that_are_too_short_are_to_be_made_anew_in_full_length():
    short = replace(CASE, protocol=Protocol(warmup_steps=5, measured_steps=30))

    def brief(case, values):
        finding = ShortWindow(skipped_steps=5, measured_steps=30, where=case.id)
        return [measured(case, k, value, duration_s=30.0, findings=(finding,)) for k, value in enumerate(values)]

    (one,) = offered([*brief(short, (100.0, 101.0, 102.0)), *brief(replace(short, framework="b"), (90.0, 91.0, 92.0))])

    assert one.longer and one.runs == 10
    assert "20+100" in one.command
    assert one.seconds is not None and one.seconds > 10 * 30.0


def test_a_criterion_within_its_interval_is_offered_up_to_seven_repeats():
    wide = CASE.at_scale(2, 1)
    spread = (78.0, 82.0, 80.0, 79.0, 81.0)
    rows = [*of(CASE, (100.0, 101.0, 99.0, 100.5, 99.5)), *of(wide, [2 * each for each in spread])]

    (offer,) = offered(rows, Criteria(linear_speedup=LinearSpeedup(threshold=0.8, min_nodes=2)))

    assert (offer.decides, offer.criterion, offer.repeats, offer.runs) == ("criterion", "C1", 7, 4)
    assert {case.scale for case in offer.cases} == {"1x1", "2x1"}

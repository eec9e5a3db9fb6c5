"""Is one case behind another: within the rounds of a campaign where they are on record, else by all runs."""

from dataclasses import replace

import pytest

from evalsuite.model import Summary
from evalsuite.results.compare import significance, winners
from evalsuite.results.compare.fairness import relative, setting
from evalsuite.results.measure.summary import summary
from tests.toys import CASE, measured

OTHER = replace(CASE, framework="othernet")


def made(case, values, campaign="a", rounds=True) -> Summary:
    return summary(
        case,
        [measured(case, k, value, campaign=campaign, round=k if rounds else None) for k, value in enumerate(values)],
    )


DRIFTING = (100.0, 98.0, 96.0, 94.0, 92.0)  # a machine that gets warm


def below(share, values=DRIFTING):
    return tuple(value * (1 - share) for value in values)


def test_a_drift_that_hits_both_hides_no_lead_within_rounds_and_the_standing_says_so():
    first, other = made(CASE, DRIFTING), made(OTHER, below(0.03))
    assert significance.is_behind(other, first)
    assert not significance.apart([*below(0.03)], [*DRIFTING])

    within = winners.rank([made(CASE, DRIFTING), made(OTHER, below(0.03))])
    by_runs = winners.rank([made(CASE, DRIFTING, "a"), made(OTHER, below(0.03), "b")])
    assert (within.word, within.in_rounds) == ("fastest", True)
    assert (by_runs.word, by_runs.in_rounds) == ("group", False)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({"rounds": False}, {}),  # an imported run, or one of an earlier version
        ({"campaign": None}, {"campaign": None}),
        ({"campaign": "a"}, {"campaign": "b"}),  # no round is shared
    ],
)
def test_without_common_rounds_all_runs_are_compared_with_all(ours, theirs):
    assert not significance.is_behind(made(OTHER, below(0.03), **ours), made(CASE, DRIFTING, **theirs))
    assert significance.is_behind(made(OTHER, below(0.1), **ours), made(CASE, DRIFTING, **theirs))


@pytest.mark.parametrize(
    ("shares", "told"),
    [
        ((0.03, 0.03, 0.03, 0.03, 0.03), True),
        ((0.02, 0.03, 0.04, 0.05, 0.05), True),
        ((0.01, 0.03, 0.04, 0.05, 0.05), False),  # one lead is less than a third of the largest
        ((-0.001, 0.05, 0.05, 0.05, 0.05), False),  # not in every round
        ((0.009, 0.009, 0.009, 0.009, 0.009), False),  # less than 1 %
        ((0.0, 0.0, 0.0, 0.0, 0.0), False),
    ],
)
def test_within_rounds_a_lead_is_one_in_every_round_and_of_one_size(shares, told):
    values = [100.0 * (1 - share) for share in shares]

    assert significance.is_behind(made(OTHER, values), made(CASE, [100.0] * 5)) == told


def test_rounds_that_differ_or_in_which_a_run_failed_are_no_pairs():
    late = [measured(OTHER, k, 97.0, campaign="a", round=k + 3) for k in range(5)]
    assert significance.pairs(summary(OTHER, late), made(CASE, [100.0] * 5)) == []

    runs = [measured(OTHER, k, 97.0 if k else None, campaign="a", round=k) for k in range(7)]
    assert len(significance.pairs(summary(OTHER, runs), made(CASE, [100.0] * 7))) == 6


@pytest.mark.parametrize(("frameworks", "runs"), [(2, 5), (8, 5), (8, 7), (5, 6), (40, 9)])
def test_the_rate_of_false_exclusions_is_the_simulated_one(frameworks, runs):
    rate = winners.false_exclusion(frameworks, runs)

    assert 0 <= rate <= 1
    assert rate <= winners.false_exclusion(frameworks + 1, runs)
    assert rate >= winners.false_exclusion(frameworks, runs + 5)


def test_with_few_runs_there_is_a_chance_and_no_rate_and_with_more_a_rate_and_no_chance():
    few = winners.rank([made(CASE, [100.0] * 3), made(OTHER, [90.0] * 3)])
    many = winners.rank([made(CASE, [100.0] * 5), made(OTHER, [90.0] * 5)])

    assert (few.word, few.chance, few.false_exclusion) == ("consistent", pytest.approx(0.1), None)
    assert (many.word, many.chance) == ("fastest", None)
    assert 0 < many.false_exclusion < 0.02


def test_what_an_option_changes_is_told_by_the_same_rule():
    """A test at 5 % of each of many options calls one of twenty equal ones different."""
    off, on = CASE, replace(CASE, xla=True)
    noisy = ((100.0, 101.0, 102.0, 103.0, 104.0), (103.5, 104.5, 105.0, 106.0, 107.0))

    found = relative(made(on, noisy[1], "b"), made(off, noisy[0], "a"), setting("xla"))
    within = relative(made(on, noisy[1]), made(off, noisy[0]), setting("xla"))

    assert found.significant is False  # p = 0.02, and the runs overlap
    assert within.significant is True  # by 3 % in every round

"""Is one case behind another: within the rounds of a campaign, by its runs, or not decided between campaigns."""

from dataclasses import replace

import pytest

from evalsuite.findings import RepeatsAdded
from evalsuite.model import Summary
from evalsuite.results.compare import significance, winners
from evalsuite.results.compare.fairness import relative, setting
from evalsuite.results.measure import statistics
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


def test_a_drift_that_hits_both_hides_no_lead_within_rounds():
    first, other = made(CASE, DRIFTING), made(OTHER, below(0.03))

    assert significance.compare(other, first).basis == "rounds" and significance.is_behind(other, first)
    assert not significance.apart([*below(0.03)], [*DRIFTING])


@pytest.mark.parametrize(
    ("ours", "theirs", "basis", "least"),
    [
        ({"rounds": False}, {}, "runs", 0.08),  # the drift is noise here
        ({"campaign": None}, {"campaign": None}, "across", 0.08),  # an import, or a run of an earlier version
        ({"campaign": "a"}, {"campaign": "b"}, "across", 0.08),
    ],
)
def test_without_common_rounds_runs_are_compared_and_between_campaigns_nothing_is_decided(ours, theirs, basis, least):
    first = made(CASE, DRIFTING, **theirs)
    near, far = (significance.compare(made(OTHER, below(share), **ours), first) for share in (0.03, least))

    assert (near.behind, far.behind, far.basis) == (False, True, basis)


def test_between_campaigns_a_lead_of_less_than_five_percent_says_nothing():
    ours, theirs = made(OTHER, [97.0] * 5, "a"), made(CASE, [100.0, 100.1, 99.9, 100.0, 100.0], "b")

    assert not significance.is_behind(ours, theirs)
    assert significance.is_behind(made(OTHER, [97.0] * 5, "b", rounds=False), theirs)
    assert winners.rank([made(OTHER, [90.0] * 5, "a"), theirs]).evidence == "indicative"


@pytest.mark.parametrize(
    ("shares", "behind"),
    [
        ((0.03, 0.03, 0.03, 0.03, 0.03), True),
        ((0.01, 0.03, 0.04, 0.05, 0.05), True),
        ((-0.02, 0.01, 0.06, 0.02, 0.05), False),  # t = 1.7
        ((-0.001, 0.05, 0.05, 0.05, 0.05), True),  # one round against four
        ((0.009, 0.009, 0.009, 0.009, 0.009), False),  # less than 1 %
        ((0.0, 0.0, 0.0, 0.0, 0.0), False),
        ((-0.03, -0.03, -0.03, -0.03, -0.03), False),
    ],
)
def test_within_rounds_the_mean_lead_is_held_against_its_scatter(shares, behind):
    values = [100.0 * (1 - share) for share in shares]

    assert significance.is_behind(made(OTHER, values), made(CASE, [100.0] * 5)) == behind


def test_the_more_rivals_or_looks_the_clearer_a_lead_must_be():
    shares = (0.0, 0.02, 0.03, 0.04, 0.02)
    first, other = made(CASE, [100.0] * 5), made(OTHER, [100.0 * (1 - share) for share in shares])
    added = replace(other, findings=(RepeatsAdded(planned=5, later=11, where=""),))

    assert significance.is_behind(other, first)
    assert not significance.is_behind(other, first, rivals=8)
    assert not significance.is_behind(added, first)


def test_of_two_campaigns_each_must_show_the_order():
    def of(case, *levels):
        places = [(name, k, level) for name, level in zip("ab", levels, strict=True) for k in range(5)]
        return summary(case, [measured(case, k, v + k % 2, campaign=a, round=r) for k, (a, r, v) in enumerate(places)])

    first = of(CASE, 100.0, 200.0)

    agreed, moved = winners.rank([first, of(OTHER, 90.0, 180.0)]), winners.rank([first, of(OTHER, 90.0, 200.0)])

    assert (agreed.evidence, moved.evidence) == ("decided", "open")


@pytest.mark.parametrize(
    ("values", "evidence"),
    [
        ((90.0, 90.1, 89.9), "decided"),  # t = 180
        ((90.0, 93.0, 88.0), "consistent"),  # below in all, t = 6
        ((99.9, 100.1, 100.0), "preliminary"),
        ((90.0, 90.1), "preliminary"),
    ],
)
def test_with_three_runs_only_what_the_early_limits_ask_is_decided(values, evidence):
    found = winners.rank([made(CASE, [100.0] * len(values)), made(OTHER, values)])

    assert found.evidence == evidence
    assert (found.false_exclusion is not None) == (evidence == "decided")


def test_a_round_in_which_a_run_failed_or_that_one_alone_made_is_left_out():
    late = [measured(OTHER, k, 97.0, campaign="a", round=k + 3) for k in range(5)]
    failed = [measured(OTHER, k, 97.0 if k else None, campaign="a", round=k) for k in range(7)]

    shared = [significance.leads_by_campaign(summary(OTHER, runs), made(CASE, [100.0] * 7)) for runs in (late, failed)]

    assert [len(each["a"]) for each in shared] == [4, 6]


@pytest.mark.parametrize(("lead", "scatter"), [(0.02, 0.01), (0.05, 0.03)])
def test_the_chance_to_tell_a_lead_grows_with_runs_and_falls_with_rivals_and_scatter(lead, scatter):
    by_runs = [significance.chance_of_telling(lead, scatter, runs) for runs in (5, 7, 10, 20)]

    assert by_runs == sorted(by_runs) and 0 < by_runs[0] < by_runs[-1] <= 1
    assert significance.chance_of_telling(lead, scatter, 5, 8) < by_runs[0]
    assert significance.chance_of_telling(lead, 2 * scatter, 5) < by_runs[0]


@pytest.mark.parametrize(("level", "freedom", "t"), [(0.05, 1, 12.7062), (0.05, 4, 2.7764), (0.01, 10, 3.1693)])
def test_the_quantiles_of_students_t_are_those_of_its_tables(level, freedom, t):
    assert statistics.t_limit(level, freedom) == pytest.approx(t, abs=1e-4)


@pytest.mark.parametrize(("frameworks", "runs"), [(2, 5), (8, 5), (8, 7), (5, 6), (40, 9)])
def test_the_rate_of_false_exclusions_is_the_simulated_one(frameworks, runs):
    rate = winners.false_exclusion(frameworks, runs)

    assert 0.03 < rate <= min(1.0, winners.false_exclusion(frameworks + 1, runs) + 0.01)


@pytest.mark.parametrize(("lead", "few"), [(0.025, False), (0.2, True)])
def test_a_lead_that_levels_of_a_campaign_could_make_is_told_from_a_larger_one(lead, few):
    noisy = [100.0, 101.0, 99.0, 100.5, 99.5]
    found = winners.rank([made(CASE, noisy), made(OTHER, [each * (1 - lead) for each in (*noisy[2:], *noisy[:2])])])

    assert found.evidence == "decided"
    assert (found.own_level < 1e-6) == few and 0 <= found.own_level < 0.3


def test_with_few_runs_there_is_a_chance_and_no_rate_and_with_more_a_rate_and_no_chance():
    few = winners.rank([made(CASE, [100.0] * 3), made(OTHER, [90.0, 93.0, 88.0])])
    many = winners.rank([made(CASE, [100.0] * 5), made(OTHER, [90.0] * 5)])

    assert (few.evidence, few.chance, few.false_exclusion) == ("consistent", pytest.approx(0.1), None)
    assert (many.evidence, many.chance) == ("decided", None)
    assert 0 < many.false_exclusion < 0.06


def test_what_an_option_changes_is_told_by_the_same_rule():
    """A test at 5 % of each of many options calls one of twenty equal ones different."""
    off, on = CASE, replace(CASE, xla=True)
    noisy = ((100.0, 101.0, 102.0, 103.0, 104.0), (102.5, 103.5, 104.0, 105.0, 106.0))

    found = relative(made(on, noisy[1], "b"), made(off, noisy[0], "a"), setting("xla"))
    within = relative(made(on, noisy[1]), made(off, noisy[0]), setting("xla"))

    assert found.significant is False  # of two campaigns
    assert within.significant is True  # by 3 % in every round

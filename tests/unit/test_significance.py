"""Is one case behind another: within the rounds of a campaign, by its runs, or not decided between campaigns."""

from dataclasses import replace
from statistics import fmean
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsuite.commands.launching.adaptive_repeats import AdaptiveRepeats
from evalsuite.core.findings import BusyMachine, EvaluatedBefore, RepeatsAdded, RoundsMissing, RunMadeAgain
from evalsuite.core.model import Run, Summary
from evalsuite.launch import campaign
from evalsuite.logs.catalogue import Places
from evalsuite.plan import plan, spec
from evalsuite.plan.plan import Machine
from evalsuite.results.compare import decisions, significance
from evalsuite.results.compare.decisions import decide
from evalsuite.results.compare.fairness import setting
from evalsuite.results.compare.scaling import with_scaling
from evalsuite.results.judge import stopping
from evalsuite.results.judge.criteria import Criteria, Threshold
from evalsuite.results.measure import statistics
from evalsuite.results.measure.summary import summaries, summary
from evalsuite.runs import journal
from evalsuite.runs.planned import Planned
from evalsuite.runs.store import Store
from tests import sources
from tests.toys import CASE, LAUNCHER, measured, toynet

OTHER = replace(CASE, framework="othernet")


def make(case, values, campaign="a", rounds=True) -> Summary:
    return summary(
        case,
        [measured(case, k, value, campaign=campaign, round=k if rounds else None) for k, value in enumerate(values)],
    )


DRIFTING = (100.0, 98.0, 96.0, 94.0, 92.0)  # a machine that gets warm


def below(share, values=DRIFTING):
    return tuple(value * (1 - share) for value in values)


def test_a_drift_that_hits_both_hides_no_lead_within_rounds():
    first, other = make(CASE, DRIFTING), make(OTHER, below(0.03))

    assert significance.compare(other, first).basis == "rounds" and significance.compare(other, first).behind
    assert not significance.apart([*below(0.03)], [*DRIFTING])


@pytest.mark.parametrize(
    ("ours", "theirs", "basis", "least"), sources.cases("significance.toml")["without_common_rounds"]
)
def test_without_common_rounds_runs_are_compared_and_between_campaigns_nothing_is_decided(ours, theirs, basis, least):
    first = make(CASE, DRIFTING, **theirs)
    near, far = (significance.compare(make(OTHER, below(share), **ours), first) for share in (0.03, least))

    assert (near.behind, far.behind, far.basis) == (False, True, basis)


def test_between_campaigns_a_lead_of_less_than_five_percent_says_nothing():
    ours, theirs = make(OTHER, [97.0] * 5, "a"), make(CASE, [100.0, 100.1, 99.9, 100.0, 100.0], "b")

    assert not significance.compare(ours, theirs).behind
    assert significance.compare(make(OTHER, [97.0] * 5, "b", rounds=False), theirs).behind
    assert decisions.rank([make(OTHER, [90.0] * 5, "a"), theirs]).known == "campaign"


@pytest.mark.parametrize(("shares", "behind"), sources.table("significance.toml")["shares"])
def test_within_rounds_the_mean_lead_is_held_against_its_scatter(shares, behind):
    values = [100.0 * (1 - share) for share in shares]

    assert significance.compare(make(OTHER, values), make(CASE, [100.0] * 5)).behind == behind


def test_the_more_rivals_or_looks_the_clearer_a_lead_must_be():
    shares = (0.0, 0.02, 0.03, 0.04, 0.02)
    first, other = make(CASE, [100.0] * 5), make(OTHER, [100.0 * (1 - share) for share in shares])
    added = replace(other, findings=(RepeatsAdded(planned=5, later=11, where=""),))
    turned = [[100.0 * (1 - share) for share in (*shares[k:], *shares[:k])] for k in range(1, 5)]

    assert significance.compare(other, first).behind
    assert not significance.compare(other, first, [first, other, *(make(OTHER, values) for values in turned)]).behind
    assert not significance.compare(added, first).behind
    again = replace(other, findings=(RunMadeAgain(attempts=11, failed=6, where=""),))
    by_machine = replace(other, findings=(RunMadeAgain(attempts=11, failed=0, where=""),))
    assert not significance.compare(again, first).behind and significance.compare(by_machine, first).behind


@pytest.mark.parametrize("made", [1, 2])
def test_runs_are_advised_at_the_level_at_which_they_are_tested(made):
    def rows(repeats, *findings):
        return [replace(make(case, [v] * repeats), findings=findings) for case, v in ((CASE, 9), (OTHER, 8))]

    few = decisions.rank(rows(made, EvaluatedBefore(evaluations=2, where=""))).deciding
    more = rows(5, EvaluatedBefore(evaluations=2, where=""), RepeatsAdded(planned=made, later=5, where=""))
    stopped = decisions.rank(rows(made, RoundsMissing(planned=5, here=made, where=""))).deciding

    assert (few.runs, few.anew) == (2 * (5 - made), 10)
    assert few.level == significance.LEVEL / significance.looks(more[0])
    assert (stopped.anew, stopped.level) == (0, significance.LEVEL)


def test_of_two_campaigns_each_must_show_the_order():
    def of(case, *levels):
        places = [(name, k, level) for name, level in zip("ab", levels, strict=True) for k in range(5)]
        return summary(case, [measured(case, k, v + k % 2, campaign=a, round=r) for k, (a, r, v) in enumerate(places)])

    first = of(CASE, 100.0, 200.0)

    agreed, moved = decisions.rank([first, of(OTHER, 90.0, 180.0)]), decisions.rank([first, of(OTHER, 90.0, 200.0)])

    assert (agreed.known, moved.known) == ("ahead", "scatter")


@pytest.mark.parametrize(("values", "known"), sources.table("significance.toml")["early_limits"])
def test_with_three_runs_only_what_the_early_limits_ask_is_decided(values, known):
    ranking = decisions.rank([make(CASE, [100.0] * len(values)), make(OTHER, values)])

    assert ranking.known == known
    assert (ranking.false_exclusion is not None) == (known == "ahead")


def test_a_round_in_which_a_run_failed_or_that_one_alone_made_is_left_out():
    late = [measured(OTHER, k, 97.0, campaign="a", round=k + 3) for k in range(5)]
    failed = [measured(OTHER, k, 97.0 if k else None, campaign="a", round=k) for k in range(7)]

    other, *seen = (
        significance.rounds(each)
        for each in (make(CASE, [100.0] * 7), *(summary(OTHER, runs) for runs in (late, failed)))
    )

    assert [len(significance.leads(each, other)) for each in seen] == [4, 6]


@given(st.lists(st.lists(st.floats(min_value=-3, max_value=3), min_size=4, max_size=4), min_size=2, max_size=6))
def test_the_scatter_of_all_is_that_of_the_residuals_of_rivals_and_rounds(logarithms):
    rivals = [{("a", k): value for k, value in enumerate(each)} for each in logarithms]
    rows, columns = [fmean(each) for each in logarithms], [fmean(each) for each in zip(*logarithms, strict=True)]
    residuals = [v - rows[i] - columns[k] + fmean(rows) for i, of in enumerate(logarithms) for k, v in enumerate(of)]

    found = significance.scatter(rivals, [("a", k) for k in range(4)])

    assert found.freedom == 3 * (len(rivals) - 1)
    assert found.deviation**2 == pytest.approx(2 * sum(each**2 for each in residuals) / found.freedom, abs=1e-9)


def test_many_rivals_tell_what_five_rounds_of_two_do_not():
    """Scatter pooled over eight; and one that scatters more than the others is held against its own."""
    quiet = [[90.0 + k, 91.0 + k, 90.5 + k, 89.5 + k, 90.2 + k] for k in range(6)]
    first, near, wild = [100.0] * 5, [97.9, 97.0, 98.1, 96.8, 98.3], [70.0, 99.0, 95.0, 120.0, 60.0]
    all_of = [make(replace(CASE, framework=f"net{k}"), values) for k, values in enumerate([first, near, wild, *quiet])]

    behind = [significance.compare(each, all_of[0], all_of[:2] + all_of[3:]).behind for each in all_of[1:3]]

    assert behind == [True, False]


@pytest.mark.parametrize(("level", "freedom", "t"), [(0.05, 1, 12.7062), (0.05, 4, 2.7764), (0.01, 10, 3.1693)])
def test_the_quantiles_of_students_t_are_those_of_its_tables(level, freedom, t):
    assert statistics.t_limit(level, freedom) == pytest.approx(t, abs=1e-4)


@pytest.mark.parametrize(("frameworks", "runs"), [(2, 5), (8, 5), (8, 7), (5, 6), (40, 9)])
def test_the_rate_of_false_exclusions_is_the_simulated_one(frameworks, runs):
    rate = decisions.false_exclusion(frameworks, runs)

    assert 0.03 < rate <= min(1.0, decisions.false_exclusion(frameworks + 1, runs) + 0.01)


def test_what_an_option_changes_is_told_by_the_same_rule():
    """A test at 5 % of each of many options calls one of twenty equal ones different."""
    off, on = CASE, replace(CASE, xla=True)
    noisy = ((100.0, 101.0, 102.0, 103.0, 104.0), (102.5, 103.5, 104.0, 105.0, 106.0))

    across = decide(make(on, noisy[1], "b"), make(off, noisy[0], "a"), purpose=setting("xla"))
    within = decide(make(on, noisy[1]), make(off, noisy[0]), purpose=setting("xla"))

    assert across.known == "scatter"  # of two campaigns
    assert within.known == "ahead"  # by 3 % in every round


# statistics


def test_bootstrap_interval_is_the_same_every_time_and_holds_the_ratio():
    runs, base = [190.0, 200.0, 210.0, 205.0, 195.0], [98.0, 100.0, 102.0, 101.0, 99.0]

    first, again = statistics.ratio_of_medians(runs, base), statistics.ratio_of_medians(runs, base)

    assert first == again
    assert first.value == 2.0
    assert first.low <= 2.0 <= first.high


# adaptive repeats: a case is run again only while something that it takes part in is open


NO_CRITERIA = Criteria()


def of(case, values):
    return [measured(case, k, value, round=k) for k, value in enumerate(values)]


def open_cases(*runs, criteria=NO_CRITERIA):
    rows = with_scaling(summaries([item for each in runs for item in each]))
    return {id.partition("-")[0] for id in stopping.unsettled(rows, criteria)}


@pytest.mark.parametrize(("others", "settled"), sources.cases("significance.toml")["further_repeats"])
def test_a_further_repeat_is_made_while_neither_a_lead_nor_equality_is_clear(others, settled):
    cases = open_cases(of(CASE, (100.0,) * len(others)), of(OTHER, others))

    assert cases == (set() if settled else {"toynet", "othernet"})


def test_the_order_of_those_that_are_behind_the_first_needs_no_repeat():
    first, behind = of(CASE, (100.0,) * 3), [of(OTHER, (90.0, 90.1, 89.9))]
    behind += [of(replace(CASE, framework="thirdnet"), (90.6, 88.9, 89.9))]

    assert open_cases(first, *behind) == set()
    assert open_cases(*behind) == {"othernet", "thirdnet"}
    near = of(replace(CASE, framework="nearnet"), (98.9, 98.1, 99.7))
    assert open_cases(first, near, *behind) == {"toynet", "nearnet"}


def test_few_rounds_of_two_are_held_against_the_scatter_of_all():
    other = of(OTHER, (90.0, 92.0, 89.5))  # t = 12
    more = [of(replace(CASE, framework=f"net{k}"), (80.0 + k, 81.5 + k, 79.5 + k)) for k in (0, 5)]

    assert open_cases(of(CASE, (100.0,) * 3), other) == {"toynet", "othernet"}
    assert open_cases(of(CASE, (100.0,) * 3), other, *more) == set()
    ranked = decisions.rank(summaries([*of(CASE, (100.0,) * 3), *other, *more[0], *more[1]]))
    leaders = [each.summary.case.framework for each in ranked.ranked if each.leading]
    assert (ranked.known, leaders) == ("ahead", ["toynet"])


def test_a_case_without_a_rival_has_the_full_repeats():
    assert open_cases(of(CASE, (100.0, 100.1, 99.9))) == {"toynet"}
    assert open_cases(of(CASE, (100.0, 100.1, 99.9, 100.0, 100.0))) == set()


def test_an_efficiency_near_its_threshold_goes_on_with_its_base():
    wide = CASE.at_scale(2, 1)
    asked = Criteria(C1=Threshold(threshold=0.8, min_nodes=2))
    base = of(CASE, (100.0, 101.0, 99.0, 100.5, 99.5))
    near = of(wide, [2 * each for each in (78.0, 82.0, 80.0, 79.0, 81.0)])
    far = of(wide, [2 * each for each in (95.0, 96.0, 94.0, 95.5, 94.5)])

    assert len(stopping.unsettled(with_scaling(summaries([*base, *near])), asked)) == 2
    assert stopping.unsettled(with_scaling(summaries([*base, *far])), asked) == frozenset()
    assert stopping.unsettled(with_scaling(summaries([*base, *near])), NO_CRITERIA) == frozenset()


@pytest.mark.parametrize(
    ("busy", "more", "made"),
    [
        (lambda name, k: False, None, 5),
        (lambda name, k: k == 2, None, 6),  # the whole round, and no other
        (lambda name, k: name == "toynet" and k in (0, 5), None, 7),  # also of those that nobody disturbed
        (lambda name, k: True, None, 7),  # after two in vain none is made
        (lambda name, k: k < 4 or k % 2, None, 7),  # at most half as many as planned
        (lambda name, k: k < 4 or k % 2, 5, 10),
        (lambda name, k: True, 0, 5),
    ],
)
def test_rounds_that_others_disturbed_are_made_again_within_a_limit(tmp_path, monkeypatch, busy, more, made):
    asked = spec.Spec(frameworks=("toynet", "othernet"), repeats=5, quiet_rounds=more)
    whole = plan.plan(
        asked, {name: toynet(name) for name in asked.frameworks}, Machine(cores=4, accelerators=0, device="cpu")
    )
    done: list[Run] = []
    store = SimpleNamespace(missing=lambda runs: [run for run in runs if run not in done])
    repeats = AdaptiveRepeats(whole, store, Places())
    found = (BusyMachine(others=0.4),)
    monkeypatch.setattr(
        repeats,
        "_rows",
        lambda: summaries(
            measured(run.case, run.repeat, 100.0, findings=found * bool(busy(run.case.framework, run.repeat)))
            for run in done
        ),
    )

    for run in repeats.rounds(list(whole.runs), []):
        assert repeats.is_needed(run)
        done.append(run)

    assert len(done) == 2 * made
    assert {run.repeat for run in done} == set(range(made))


def test_a_range_of_repeats_is_planned_to_its_end_and_sealed_as_a_range(tmp_path):
    asked = spec.Spec(frameworks=("toynet",), **spec.repeats("5-7"))
    (tmp_path / "a.toml").write_text('frameworks = ["toynet"]\nrepeats = "5-7"\n')

    made = plan.plan(asked, {"toynet": toynet()}, Machine(cores=4, accelerators=0, device="cpu"))

    for each in (asked, spec.read(tmp_path / "a.toml"), spec.profile("full")):
        assert (each.repeats, each.most_repeats) == (5, 7)
    assert [run.repeat for run in made.runs] == list(range(7))
    assert journal.seal(made.cases, 5, 7) != journal.seal(made.cases, 5)


def test_what_is_not_needed_is_not_launched(tmp_path):
    store = Store(tmp_path)
    started = campaign.begin(Planned(profile="full", repeats=5, most_repeats=7, cases=(CASE,), skips=()), store)
    runs, asked = [Run(case=CASE, repeat=repeat) for repeat in (5, 6)], []

    needed = {"needed": lambda run: asked.append(run.repeat)}
    ended = list(campaign.launch_all(runs, store, {"toynet": toynet()}, LAUNCHER, started, **needed))

    assert (ended, asked) == ([], [5, 6])
    assert started.whole
    assert not store.folder(runs[0]).path.exists()

"""Whether one case is slower than another, by its runs: the one rule of rankings, bold cells and headlines. Runs in the
same rounds of a campaign are compared by the paired t test of the logarithms of their ratios, runs of one campaign
without common rounds by Welch's. How often each errs is simulated (docs/numbers.md; benchmarks/judgement.py)."""

import math
import statistics
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from evalsuite.core.findings import EvaluatedBefore, RepeatsAdded, RunMadeAgain
from evalsuite.core.model import Measurement, Summary, by_key
from evalsuite.results.compare.fairness import cached
from evalsuite.results.measure.statistics import t_limit
from evalsuite.results.measure.summary import FULL_REPEATS, values

LEAST_GAP = 0.01  # of the medians: less is no difference that anybody should choose by
LEAST_GAP_ACROSS = 0.05  # between campaigns, as in `changes`
LEVEL, LATER_LEVEL = 0.05, 0.035  # with five runs; with more, since adaptive repeats have looked before
EARLY_LEVELS = {3: 0.005, 4: 0.0041, 5: 0.0029, 6: 0.0027}  # runs → at which a lead is decided without further ones
ALONE = 20  # times more tests, where the pair's own rounds decide against the scatter of the others
EQUAL_WITHIN = 0.015
Basis = Literal["rounds", "runs", "across"]
Leads = Sequence[float]  # log of first ÷ one, a round each
Round = tuple[str, int]  # of a campaign
Rounds = Mapping[Round, float]  # the logarithm of the throughput in each


@dataclass(frozen=True, kw_only=True)
class PairComparison:
    behind: bool
    basis: Basis
    early: bool = False  # decided with three or four runs
    equal: bool = False  # within 1.5 %, by the 95 % interval of the lead
    rounds: int = 0  # that both made, of the campaign with the fewest


@dataclass(frozen=True, kw_only=True)
class Scatter:
    """Of a lead from round to round, by the residuals of all rivals over rivals and rounds."""

    deviation: float
    freedom: int


def compare(summary: Summary, first: Summary, among: Sequence[Summary] = ()) -> PairComparison:
    """Whether *summary* is behind *first*; *among*: all that are compared (Bonferroni), or these two. By the rounds in
    which both had the machine for themselves or, where these are fewer than five and do not tell, by all."""
    quiet = _compare(summary, first, among, rounds)
    few = min(summary.n, first.n) < FULL_REPEATS
    if quiet.early or quiet.rounds >= FULL_REPEATS or (quiet.behind and not few):
        return quiet
    with_all = _compare(summary, first, among, all_rounds)
    return with_all if with_all.rounds >= FULL_REPEATS else quiet


def _compare(row: Summary, first: Summary, among: Sequence[Summary], of: Callable[[Summary], Rounds]) -> PairComparison:
    rivals = [of(each) for each in (among if len(among) > 1 else (row, first))]
    tries = max(looks(row), looks(first))
    shared = of(row).keys() & of(first).keys()
    campaigns = by_key((place[0], place) for place in shared)
    whole = [places for places in campaigns.values() if len(places) >= FULL_REPEATS]
    if not whole and len(shared) >= FULL_REPEATS:
        whole = [[*shared]]
    if whole:
        each = [(leads(of(row), of(first), places), scatter(rivals, places)) for places in whole]
        return PairComparison(
            behind=all(is_lead(seen, of_all, len(rivals), tries) for seen, of_all in each),
            basis="rounds",
            equal=all(are_equal(seen) for seen, _ in each),
            rounds=min(map(len, whole)),
        )
    if len(shared) in EARLY_LEVELS and tries == 1:
        seen = leads(of(row), of(first), shared)
        if is_early_lead(seen, scatter(rivals, shared), len(rivals)):
            return PairComparison(behind=True, basis="rounds", early=True, rounds=len(shared))
    of_runs = {run.campaign for each in (row, first) for run in each.measurements if run.counts}
    together = len(of_runs) == 1 and None not in of_runs
    gap = LEAST_GAP if together else LEAST_GAP_ACROSS
    below = _is_below(values(row), values(first), (len(rivals) - 1) * tries, gap)
    return PairComparison(
        behind=below and (tries == 1 or min(row.n, first.n) >= FULL_REPEATS),
        basis="runs" if together else "across",
        equal=together and _is_equal(values(row), values(first)),
    )


@cached
def rounds(summary: Summary) -> Rounds:
    return _by_round(run for run in summary.measurements if run.counts)


@cached
def all_rounds(summary: Summary) -> Rounds:
    """With those that others disturbed."""
    return _by_round(run for run in summary.measurements if run.counts or run.set_aside)


def _by_round(runs: Iterable[Measurement]) -> Rounds:
    return {
        (run.campaign, run.round): math.log(run.value)
        for run in runs
        if run.value is not None and run.campaign is not None and run.round is not None
    }


def leads(one: Rounds, first: Rounds, places: Iterable[Round] | None = None) -> list[float]:
    """Of *first* over *one*, in the rounds that both have a run of."""
    return [first[at] - one[at] for at in (one if places is None else places) if at in one and at in first]


def scatter(rivals: Iterable[Rounds], places: Collection[Round]) -> Scatter:
    """Of the leads of all pairs of *rivals* in *places*: few rounds of one pair say little of it."""
    there = [of for rival in rivals if (of := {place: rival[place] for place in places if place in rival})]
    squares, freedom = 0.0, 0
    for one, first in combinations(there, 2):
        if len(seen := leads(one, first)) > 1:
            squares += _mean_and_deviation(seen)[1] ** 2 * (len(seen) - 1)
            freedom += len(seen) - 1
    own = sum(map(len, there)) - len(there) - len(places) + 1
    return Scatter(deviation=math.sqrt(squares / freedom) if freedom else math.inf, freedom=max(1, own))


def is_lead(seen: Leads, of_all: Scatter, rivals: int = 2, looks: int = 1) -> bool:
    """By the scatter of all at the level of so many tests, and by its own at 5 %, so that none lends it quiet rounds;
    or by its own far beyond that level, so that a rival that scatters wildly takes no order from the others."""
    runs, tests = len(seen), (rivals - 1) * looks
    if 1 - math.exp(-statistics.median(seen)) < LEAST_GAP:
        return False
    own, pooled = _t(seen), _t(seen, of_all.deviation)
    by_all = own > t_limit(LEVEL / looks, runs - 1) and pooled > limit(runs, tests, of_all.freedom)
    return by_all or own > limit(runs, ALONE * tests)


def is_early_lead(seen: Leads, of_all: Scatter, rivals: int = 2) -> bool:
    """At the early level too; beyond six rounds nothing is early."""
    level = EARLY_LEVELS.get(len(seen))
    early = level is None or _t(seen, of_all.deviation) > t_limit(level / math.comb(rivals, 2), of_all.freedom)
    return early and is_lead(seen, of_all, rivals)


def are_equal(seen: Leads) -> bool:
    """Whether the 95 % interval of the mean lead lies within 1.5 % on both sides."""
    mean, deviation = _mean_and_deviation(seen)
    return abs(mean) + t_limit(LEVEL, len(seen) - 1) * deviation / math.sqrt(len(seen)) <= EQUAL_WITHIN


def limit(runs: int, tests: int = 1, freedom: int | None = None) -> float:
    """Of t, with *runs* pairs and as many *tests* at once; *freedom* is *runs* - 1 unless it is given."""
    return t_limit((LEVEL if runs <= FULL_REPEATS else LATER_LEVEL) / tests, freedom or runs - 1)


def apart(lower: Sequence[float], higher: Sequence[float], gap: float = LEAST_GAP) -> bool:
    return max(lower) < min(higher) and _gap_of_medians(lower, higher) >= gap


def looks(summary: Summary, more: int = 0) -> int:
    """How often a lead may have been looked for, with so many *more* repeats added."""
    of = looked(summary)
    return (1 + of["before"]) * (1 + of["added"] + more) * (1 + of["failed"])


def looked(summary: Summary) -> Mapping[str, int]:
    """By cause: in each evaluation of the plan, after each repeat added later, and with each run that its own script
    failed, and another took its place."""
    of = summary.findings
    return {
        "before": max((each.evaluations for each in of if isinstance(each, EvaluatedBefore)), default=0),
        "added": max((each.later - each.planned for each in of if isinstance(each, RepeatsAdded)), default=0),
        "failed": sum(each.failed for each in of if isinstance(each, RunMadeAgain)),
    }


def _is_below(lower: Sequence[float], higher: Sequence[float], tests: int, gap: float) -> bool:
    """By Welch's t test of the logarithms (Welch, 1947); of fewer than five runs, whether all are below all."""
    runs = [len(lower), len(higher)]
    if min(runs) < FULL_REPEATS:
        return apart(lower, higher, gap)
    if _gap_of_medians(lower, higher) < gap:
        return False
    lead, error, freedom = _lead(lower, higher)
    return lead / error > limit(max(runs), tests, freedom) if error else lead > 0


def differ(a: Sequence[float], b: Sequence[float]) -> bool | None:
    """Whether either is below the other by Welch's test at 5 %; None of fewer than five runs."""
    if min(len(a), len(b)) < FULL_REPEATS:
        return None
    lead, error, freedom = _lead(a, b)
    return abs(lead) > t_limit(LEVEL, freedom) * error


def _is_equal(lower: Sequence[float], higher: Sequence[float]) -> bool:
    if min(len(lower), len(higher)) < FULL_REPEATS:
        return False
    lead, error, freedom = _lead(lower, higher)
    return abs(lead) + t_limit(LEVEL, freedom) * error <= EQUAL_WITHIN


def _lead(lower: Sequence[float], higher: Sequence[float]) -> tuple[float, float, int]:
    """(mean lead in logarithms, its standard error, its degrees of freedom by Welch)."""
    (mean, own), (first, other) = (_mean_and_deviation([*map(math.log, side)]) for side in (lower, higher))
    errors = own**2 / len(lower), other**2 / len(higher)
    parts = sum(each**2 / (len(side) - 1) for each, side in zip(errors, (lower, higher), strict=True))
    return first - mean, math.sqrt(sum(errors)), max(1, int(sum(errors) ** 2 / parts)) if parts else 1


def _t(seen: Leads, of_all: float | None = None) -> float:
    mean, own = _mean_and_deviation(seen)
    deviation = own if of_all is None else of_all
    return mean * math.sqrt(len(seen)) / deviation if deviation else math.copysign(math.inf, mean) if mean else 0.0


def _mean_and_deviation(seen: Leads) -> tuple[float, float]:
    """As of `statistics`, in a twentieth of its time: benchmarks ask it ten million times."""
    mean = math.fsum(seen) / len(seen)
    return mean, math.sqrt(math.fsum((lead - mean) ** 2 for lead in seen) / (len(seen) - 1))


def _gap_of_medians(lower: Sequence[float], higher: Sequence[float]) -> float:
    return 1 - statistics.median(lower) / statistics.median(higher)

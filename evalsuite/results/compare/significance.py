"""Whether one case is slower than another, by its runs: the one rule of rankings, bold cells and headlines.

Runs in the same rounds of a campaign are compared by the paired t test of the logarithms of their ratios, runs of one
campaign without common rounds by Welch's. Runs of different or unknown campaigns share no day: they only indicate an
order. How often each errs is simulated (docs/method.md, table 3; benchmarks/judgement.py).
"""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from evalsuite.core.findings import EvaluatedBefore, RepeatsAdded
from evalsuite.core.model import Summary, by_key
from evalsuite.results.measure.statistics import t_limit
from evalsuite.results.measure.summary import FULL_REPEATS, values

LEAST_GAP = 0.01  # of the medians: less is no difference that anybody should choose by
LEAST_GAP_ACROSS = 0.05  # between campaigns, as in `changes`
LEVEL, LATER_LEVEL = 0.05, 0.035  # with five runs; with more, since adaptive repeats have looked before
EARLY_LEVELS = {3: 0.005, 4: 0.0041, 5: 0.0029, 6: 0.0027}  # runs → at which a lead is decided without further ones
EQUAL_WITHIN = 0.015
Basis = Literal["rounds", "runs", "across"]
Leads = Sequence[float]  # log of first ÷ one, a round each


@dataclass(frozen=True, kw_only=True)
class PairComparison:
    behind: bool
    basis: Basis
    early: bool = False  # decided with three or four runs
    equal: bool = False  # within 1.5 %, by the 95 % interval of the lead


def compare(summary: Summary, first: Summary, among: Sequence[Summary] = ()) -> PairComparison:
    """Whether *summary* is behind *first*; *among*: all that are compared (Bonferroni), or these two."""
    rivals = among if len(among) > 1 else (summary, first)
    looks = max(_looks(summary), _looks(first))
    tests = (len(rivals) - 1) * looks
    by_campaign, shared = leads_by_campaign(summary, first), shared_leads(summary, first)
    whole = [leads for leads in by_campaign.values() if len(leads) >= FULL_REPEATS]
    if not whole and len(shared) >= FULL_REPEATS:
        whole = [shared]
    if whole:
        return PairComparison(
            behind=all(is_lead(leads, tests) for leads in whole),
            basis="rounds",
            equal=all(map(are_equal, whole)),
        )
    if len(shared) in EARLY_LEVELS and looks == 1:
        scatter = pooled_scatter(len(shared), (shared_leads(a, b) for a, b in combinations(rivals, 2)))
        if is_early_lead(shared, scatter, len(rivals)):
            return PairComparison(behind=True, basis="rounds", early=True)
    campaigns = {run.campaign for each in (summary, first) for run in each.measurements if run.counts}
    together = len(campaigns) == 1 and None not in campaigns
    return PairComparison(
        behind=(looks == 1 or min(summary.n, first.n) >= FULL_REPEATS)
        and _is_below(values(summary), values(first), tests, LEAST_GAP if together else LEAST_GAP_ACROSS),
        basis="runs" if together else "across",
        equal=together and _is_equal(values(summary), values(first)),
    )


def is_lead(leads: Leads, tests: int = 1) -> bool:
    return _t(leads) > limit(len(leads), tests) and 1 - math.exp(-statistics.median(leads)) >= LEAST_GAP


def is_early_lead(leads: Leads, scatter: float, rivals: int = 2) -> bool:
    """By the ordinary test, and at the early level by the *scatter* of the leads of all pairs of *rivals*."""
    others, runs = rivals - 1, len(leads)
    if not is_lead(leads, others) or runs not in EARLY_LEVELS:  # beyond six rounds nothing is early
        return is_lead(leads, others)
    return _t(leads, scatter) > t_limit(EARLY_LEVELS[runs] / math.comb(rivals, 2), others * (runs - 1))


def pooled_scatter(runs: int, pairs: Iterable[Leads]) -> float:
    """Of the leads of all *pairs* in their first *runs* rounds: few rounds of one pair say little of it."""
    squares = [_mean_and_deviation(leads[:runs])[1] ** 2 for leads in pairs if len(leads) > 1]
    return math.sqrt(math.fsum(squares) / len(squares)) if squares else math.inf


def are_equal(leads: Leads) -> bool:
    """Whether the 95 % interval of the mean lead lies within 1.5 % on both sides."""
    mean, deviation = _mean_and_deviation(leads)
    return abs(mean) + t_limit(LEVEL, len(leads) - 1) * deviation / math.sqrt(len(leads)) <= EQUAL_WITHIN


def limit(runs: int, tests: int = 1, freedom: int | None = None) -> float:
    """Of t, with *runs* pairs and as many *tests* at once; *freedom* is *runs* - 1 unless it is given."""
    return t_limit((LEVEL if runs <= FULL_REPEATS else LATER_LEVEL) / tests, freedom or runs - 1)


def apart(lower: Sequence[float], higher: Sequence[float], gap: float = LEAST_GAP) -> bool:
    return max(lower) < min(higher) and _gap_of_medians(lower, higher) >= gap


def leads_by_campaign(summary: Summary, first: Summary) -> dict[str, list[float]]:
    """Campaign → the logarithms of first ÷ one in each round that both have a run of."""
    ours, theirs = _by_round(summary), _by_round(first)
    return by_key((place[0], math.log(theirs[place] / ours[place])) for place in ours if place in theirs)


def shared_leads(summary: Summary, first: Summary) -> list[float]:
    return [lead for leads in leads_by_campaign(summary, first).values() for lead in leads]


def _by_round(summary: Summary) -> Mapping[tuple[str, int], float]:
    return {
        (run.campaign, run.round): run.value
        for run in summary.measurements
        if run.counts and run.value is not None and run.campaign is not None and run.round is not None
    }


def _looks(summary: Summary) -> int:
    """How often a lead may have been looked for: in each evaluation of the plan, after each repeat added later."""
    added = [each.later - each.planned for each in summary.findings if isinstance(each, RepeatsAdded)]
    before = [each.evaluations for each in summary.findings if isinstance(each, EvaluatedBefore)]
    return (1 + max(added, default=0)) * (1 + max(before, default=0))


def _is_below(lower: Sequence[float], higher: Sequence[float], tests: int, gap: float) -> bool:
    """By Welch's t test of the logarithms (Welch, 1947); of fewer than five runs, whether all are below all."""
    runs = [len(lower), len(higher)]
    if min(runs) < FULL_REPEATS:
        return apart(lower, higher, gap)
    if _gap_of_medians(lower, higher) < gap:
        return False
    lead, error, freedom = _lead(lower, higher)
    return lead / error > limit(max(runs), tests, freedom) if error else lead > 0


def _is_equal(lower: Sequence[float], higher: Sequence[float]) -> bool:
    if min(len(lower), len(higher)) < FULL_REPEATS:
        return False
    lead, error, freedom = _lead(lower, higher)
    return abs(lead) + t_limit(LEVEL, freedom) * error <= EQUAL_WITHIN


def _lead(lower: Sequence[float], higher: Sequence[float]) -> tuple[float, float, int]:
    """(mean lead in logarithms, its standard error, its degrees of freedom by Welch)."""
    a, b = ([math.log(value) for value in side] for side in (lower, higher))
    lead, errors = statistics.fmean(b) - statistics.fmean(a), [statistics.variance(x) / len(x) for x in (a, b)]
    parts = sum(each**2 / (len(side) - 1) for each, side in zip(errors, (a, b), strict=True))
    return lead, math.sqrt(sum(errors)), max(1, int(sum(errors) ** 2 / parts)) if parts else 1


def _t(leads: Leads, scatter: float | None = None) -> float:
    mean, own = _mean_and_deviation(leads)
    deviation = own if scatter is None else scatter
    return mean * math.sqrt(len(leads)) / deviation if deviation else math.copysign(math.inf, mean) if mean else 0.0


def _mean_and_deviation(leads: Leads) -> tuple[float, float]:
    """As of `statistics`, in a twentieth of its time: benchmarks ask it ten million times."""
    mean = math.fsum(leads) / len(leads)
    return mean, math.sqrt(math.fsum((lead - mean) ** 2 for lead in leads) / (len(leads) - 1))


def _gap_of_medians(lower: Sequence[float], higher: Sequence[float]) -> float:
    return 1 - statistics.median(lower) / statistics.median(higher)

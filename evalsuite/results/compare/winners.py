"""Who is ahead among comparable results, and the group that the runs do not tell from it.

What is known of each two is a `Decision`; how often one of several equals is left out is simulated (`false_exclusion`;
benchmarks/judgement.py). One of whom too little is known takes nothing from the verdict of others above it.
"""

import functools
import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from evalsuite.core import paths
from evalsuite.core.findings import AheadInFirstHalf, AheadInSecondHalf
from evalsuite.core.model import Finding, Measurement, Summary
from evalsuite.results.compare import fairness, ranking, significance
from evalsuite.results.compare.decisions import CLEAR, Decision, Known, decide
from evalsuite.results.compare.ranking import Candidate, RankingScope
from evalsuite.results.compare.significance import Basis
from evalsuite.results.measure.summary import failed_runs

FEWEST_REPORTS = 10  # of a run; half of fewer is no speed
SPOKEN = ("decided", "repeats", "facts")  # what puts one ahead of all others
EQUAL_FRAMEWORKS = paths.DATA / "statistics" / "equal_frameworks.csv"
LEADS_ASKED = (0.02, 0.05)
WEAKEST: Sequence[Known] = ("source", "clock", "runs", "facts")  # of one such pair the whole is no more
OF_A_LEAD: Sequence[Known] = ("repeats", "campaign", "base", "decided")  # the weakest first


@dataclass(frozen=True, kw_only=True)
class RankingResult:
    rivals: tuple[Summary, ...]  # each candidate by its best, the highest median first
    pairs: tuple[Decision, ...]  # of the first and each other
    judged: tuple[Summary, ...]  # without those of whom too little is known, below two that are clear
    group: tuple[Summary, ...]
    known: Known
    chance: float | None = None  # with "repeats": of such an order where all are equal
    basis: Basis = "runs"  # the weakest of those that the group rests on
    false_exclusion: float | None = None  # of an order or a group
    own_level: float | None = None  # of such a lead among equals, were their levels in a campaign to scatter as runs do
    missed: tuple[tuple[float, float], ...] = ()  # of a group: (lead, how often these runs would not tell it)

    @property
    def first(self) -> Summary:
        return self.rivals[0]

    @property
    def second(self) -> Summary:
        return self.rivals[1]


def rank(summaries: Sequence[Summary], scope: RankingScope = ranking.FRAMEWORKS) -> RankingResult | None:
    """The result among *summaries*, which are all comparable, each candidate by its best; None without two."""
    rivals = best_of_each(entrants(summaries), scope)
    if len(rivals) < 2:
        return None
    every = [decide(rivals[0], rival, rivals, scope.purpose) for rival in rivals[1:]]
    clear = next((place for place, pair in enumerate(every) if pair.known in CLEAR), len(every))
    pairs = [pair for place, pair in enumerate(every) if place <= clear or pair.known in CLEAR]
    judged = (rivals[0], *(pair.second for pair in pairs))
    group = (rivals[0], *(pair.second for pair in pairs if not pair.behind))
    known, fewest = _known(pairs, scope, rivals), min(row.n for row in judged)
    basis: Basis = next(
        kind for kind in ("across", "runs", "rounds") if any(pair.compared.basis == kind for pair in pairs)
    )
    simulated = known in ("decided", "equal", "open") and basis != "across"
    return RankingResult(
        rivals=tuple(rivals),
        pairs=tuple(every),
        judged=judged,
        group=group,
        known=known,
        chance=by_chance([row.n for row in judged]) if known == "repeats" else None,
        basis=basis,
        false_exclusion=false_exclusion(len(judged), fewest) if simulated else None,
        own_level=_own_level(judged, group) if simulated else None,
        missed=_missed(group, len(judged), fewest) if simulated else (),
    )


def _known(pairs: Sequence[Decision], scope: RankingScope, rivals: Sequence[Summary]) -> Known:
    levels = [pair.known for pair in pairs]
    for weak in WEAKEST:
        if weak in levels:
            return weak
    level = [pair for pair in pairs if not pair.behind]
    if not level:
        return next(kind for kind in OF_A_LEAD if kind in levels)
    if "repeats" in levels:
        return "runs"
    others = [decide(a.second, b.second, rivals, scope.purpose) for a, b in combinations(level, 2)]
    return "equal" if all(pair.known == "equal" for pair in (*level, *others)) else "open"


def _missed(group: Sequence[Summary], rivals: int, runs: int) -> tuple[tuple[float, float], ...]:
    scatters = [each for rival in group[1:] if (each := significance.scatter_of_leads(rival, group[0])) is not None]
    if not scatters:
        return ()
    return tuple((lead, 1 - significance.chance_of_telling(lead, max(scatters), runs, rivals)) for lead in LEADS_ASKED)


def _own_level(rivals: Sequence[Summary], group: Sequence[Summary]) -> float | None:
    """Of equals, if each had a level of its own in the campaign; the levels scatter normally, as the runs do."""
    first, behind = rivals[0], next((rival for rival in rivals[1:] if rival not in group), None)
    scatter = significance.scatter_of_leads(behind, first) if behind else None
    if behind is None or scatter is None:
        return None
    lead = math.log(first.items_per_s.value / behind.items_per_s.value)
    campaigns = max(1, len(significance.leads_by_campaign(behind, first)))
    error = scatter * math.sqrt((1 + campaigns / min(first.n, behind.n)) / campaigns)
    tail = 2 * (1 - statistics.NormalDist().cdf(lead / error)) if error else 0.0
    return min(1.0, (len(rivals) - 1) * tail)


def by_chance(runs: Sequence[int]) -> float:
    """How likely all runs of one of several equal frameworks lie above the others: n of N in 1 of C(N, n)."""
    together = sum(runs)
    return min(1.0, sum(1 / math.comb(together, n) for n in runs))


def false_exclusion(frameworks: int, runs: int) -> float:
    """How often some one of *frameworks* equal ones leaves the winner's group, simulated.

    Between two simulated numbers the one that errs more is taken; beyond the most frameworks the share grows with them.
    """
    simulated = _simulated()
    sizes = sorted({size for size, _ in simulated})
    size = next((size for size in sizes if size >= frameworks), sizes[-1])
    known = [n for of, n in simulated if of == size]
    near = {
        max((n for n in known if n <= runs), default=known[0]),
        min((n for n in known if n >= runs), default=known[-1]),
    }
    return min(1.0, max(simulated[size, n] for n in near) * max(1.0, frameworks / size))


@functools.cache
def _simulated() -> dict[tuple[int, int], float]:
    rows = paths.read_rows(EQUAL_FRAMEWORKS)
    return {(int(row["frameworks"]), int(row["n"])): float(row["left_out"]) for row in rows}


def entrants(summaries: Sequence[Summary]) -> list[Summary]:
    """Those none of whose runs failed of their own; all where no other is left."""
    return [row for row in summaries if not failed_runs(row)] or list(summaries)


def best_of_each(summaries: Sequence[Summary], scope: RankingScope) -> list[Summary]:
    best: dict[Candidate, Summary] = {}
    for row in sorted(summaries, key=lambda row: -row.items_per_s.value):
        best.setdefault(scope.candidate(row.case), row)
    return list(best.values())


def changed_by_halves(summaries: Sequence[Summary]) -> Iterator[Finding]:
    """One for each comparison whose winner is another over one half of the window, by at least what tells two apart."""
    for members in fairness.groups(summaries, fairness.FRAMEWORKS):
        result = rank(members)
        if result is not None and result.known in SPOKEN and len(result.group) == 1:
            yield from _otherwise(result.first, members)


def _otherwise(first: Summary, members: Iterable[Summary]) -> Iterator[Finding]:
    halves = {member.case.id: _halves(member) for member in members}
    if not all(halves.values()):
        return
    framework = {member.case.id: member.case.framework for member in members}
    for half, rule in enumerate((AheadInFirstHalf, AheadInSecondHalf)):
        values = {name: each[half] for name, each in halves.items() if each}
        ahead = max(values, key=lambda name: statistics.median(values[name]))
        gap = statistics.median(values[ahead]) / statistics.median(values[first.case.id]) - 1
        if framework[ahead] != first.case.framework and gap >= significance.LEAST_GAP:
            yield rule(other=framework[ahead], gap=gap, where=first.case.id)
            return


def _halves(summary: Summary) -> tuple[list[float], list[float]] | None:
    halves = [_of_run(run) for run in summary.measurements if run.counts]
    known = [each for each in halves if each is not None]
    return ([a for a, _ in known], [b for _, b in known]) if known and len(known) == len(halves) else None


def _of_run(run: Measurement) -> tuple[float, float] | None:
    times: tuple[float, ...] = run.throughput.step_time_s if run.throughput else ()
    if run.value is None or len(times) < FEWEST_REPORTS:
        return None
    middle = len(times) // 2
    whole, first, second = map(statistics.fmean, (times, times[:middle], times[middle:]))
    return (run.value * whole / first, run.value * whole / second) if first > 0 and second > 0 else None

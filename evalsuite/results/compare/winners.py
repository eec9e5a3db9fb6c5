"""Who is ahead among comparable results, and the group that the runs do not tell from it.

The rule is that of `significance`; how often it leaves out an equal one is simulated (`false_exclusion`;
benchmarks/judgement.py). With three or four runs an order that is not decided early is only *consistent*, and between
campaigns it is only *indicative*.
"""

import csv
import functools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from evalsuite import paths
from evalsuite.model import Summary
from evalsuite.results.compare import fairness, ranking, significance
from evalsuite.results.compare.ranking import Candidate, RankingScope
from evalsuite.results.compare.significance import Basis, PairComparison
from evalsuite.results.measure.summary import FULL_REPEATS, failed_runs, short_window

EQUAL_FRAMEWORKS = paths.DATA / "statistics" / "equal_frameworks.csv"
FEWEST_RUNS = 3  # of fewer, no order is spoken of
LEADS_ASKED = (0.02, 0.05)
Word = Literal["fastest", "consistent", "indicative", "group", "untold", "unknown_facts"]


@dataclass(frozen=True, kw_only=True)
class RankingResult:
    first: Summary  # of the highest median
    second: Summary  # the best of another candidate
    group: tuple[Summary, ...]
    word: Word
    chance: float | None = None  # with "consistent": of such an order where all are equal
    basis: Basis = "runs"  # the weakest of those that the group rests on
    campaigns: int = 1  # in each of which the order was found
    false_exclusion: float | None = None  # of an order or a tie that is decided
    own_level: float | None = None  # of such a lead among equals, were their levels in a campaign to scatter as runs do
    missed: tuple[tuple[float, float], ...] = ()  # with "group": (lead, how often these runs would not tell it)


def rank(found: Sequence[Summary], scope: RankingScope = ranking.FRAMEWORKS) -> RankingResult | None:
    """The result among *found*, which are all comparable, each candidate by its best; None without two."""
    rivals = best_of_each(entrants(found), scope)
    if len(rivals) < 2:
        return None
    first, *others = rivals
    compared = [significance.compare(one, first, len(rivals)) for one in others]
    group = (first, *(one for one, each in zip(others, compared, strict=True) if not each.behind))
    basis: Basis = next(kind for kind in ("across", "runs", "rounds") if any(each.basis == kind for each in compared))
    word = _word(rivals, compared, basis)
    if word != "untold" and any(scope.unknown_facts(a, b) for a, b in combinations(rivals, 2)):
        word = "unknown_facts"
    decided = word in ("fastest", "group")
    fewest = min(one.n for one in rivals)
    return RankingResult(
        first=first,
        second=rivals[1],
        group=group,
        word=word,
        chance=by_chance([one.n for one in rivals]) if word == "consistent" else None,
        basis=basis,
        campaigns=min(each.campaigns for each in compared),
        false_exclusion=false_exclusion(len(rivals), fewest) if decided and basis != "across" else None,
        own_level=_own_level(rivals, group) if decided and basis != "across" else None,
        missed=_missed(rivals, fewest) if word == "group" and basis != "across" else (),
    )


def _word(rivals: Sequence[Summary], compared: Sequence[PairComparison], basis: Basis) -> Word:
    fewest, alone = min(one.n for one in rivals), all(each.behind for each in compared)
    if fewest < FEWEST_RUNS or any(_weak(one) or failed_runs(one) for one in rivals):
        return "untold"
    early = all(each.early for one, each in zip(rivals[1:], compared, strict=True) if _few(one, rivals[0]))
    if alone and fewest < FULL_REPEATS and not early:
        return "consistent"
    if not alone:
        return "group" if fewest >= FULL_REPEATS else "untold"
    return "indicative" if basis == "across" else "fastest"


def _few(one: Summary, first: Summary) -> bool:
    return min(one.n, first.n) < FULL_REPEATS


def _missed(rivals: Sequence[Summary], runs: int) -> tuple[tuple[float, float], ...]:
    scatter = significance.scatter_of_leads(rivals[1], rivals[0])
    if scatter is None:
        return ()
    return tuple((lead, 1 - significance.chance_of_telling(lead, scatter, runs, len(rivals))) for lead in LEADS_ASKED)


def _own_level(rivals: Sequence[Summary], group: Sequence[Summary]) -> float | None:
    """How often one of several equals would lead as much, if each had a level of its own in the campaign.

    The levels scatter normally, as the runs do; of several campaigns their mean counts.
    """
    first, behind = rivals[0], next((one for one in rivals[1:] if one not in group), None)
    scatter = significance.scatter_of_leads(behind, first) if behind else None
    if behind is None or scatter is None:
        return None
    lead = math.log(first.items_per_s.value / behind.items_per_s.value)
    campaigns = max(1, len(significance.leads_by_campaign(behind, first)))
    error = scatter * math.sqrt((1 + campaigns / min(first.n, behind.n)) / campaigns)
    tail = 2 * (1 - statistics.NormalDist().cdf(lead / error)) if error else 0.0
    return min(1.0, (len(rivals) - 1) * tail)


def told_apart(a: Summary, b: Summary) -> bool | None:
    """Whether the runs tell *a* from *b*; None where one has too few, or nobody knows that the two are alike."""
    if fairness.clocks_apart(a) or fairness.clocks_apart(b) or fairness.unknown_facts(a, b):
        return None
    found = [significance.compare(a, b), significance.compare(b, a)]
    if (a.partial or b.partial) and not any(each.early for each in found):
        return None
    return any(each.behind for each in found)


def leaders(row: Sequence[Summary | None]) -> frozenset[int]:
    given = [one for one in row if one is not None and not fairness.clocks_apart(one)]
    found = rank(given) if _comparable(given) else None
    if found is None or found.word not in ("fastest", "group"):
        return frozenset()
    if len(found.group) == len({one.case.framework for one in given}):
        return frozenset()  # all of them: nobody is ahead
    ahead = {one.case.id for one in found.group}
    return frozenset(place for place, one in enumerate(row) if one is not None and one.case.id in ahead)


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
    with EQUAL_FRAMEWORKS.open(encoding="utf-8", newline="") as file:
        return {(int(row["frameworks"]), int(row["n"])): float(row["left_out"]) for row in csv.DictReader(file)}


def _weak(one: Summary) -> bool:
    return short_window(one) or (one.partial and one.n >= FULL_REPEATS)


def entrants(found: Sequence[Summary]) -> list[Summary]:
    """Those none of whose runs failed of their own; all where no other is left."""
    return [one for one in found if not failed_runs(one)] or list(found)


def best_of_each(found: Sequence[Summary], scope: RankingScope) -> list[Summary]:
    best: dict[Candidate, Summary] = {}
    for one in sorted(found, key=lambda one: -one.items_per_s.value):
        best.setdefault(scope.candidate(one.case), one)
    return list(best.values())


def _comparable(found: Sequence[Summary]) -> bool:
    return len(fairness.groups(found, fairness.FRAMEWORKS)) == 1

"""Who is ahead among comparable results, and the group that the runs do not tell from it.

With five runs or more the rule is that of `significance`; how often it leaves out an equal one is simulated
(`false_exclusion`; benchmarks/judgement.py). With three or four runs an order is only *consistent*.
"""

import csv
import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from evalsuite import paths
from evalsuite.model import Summary
from evalsuite.results.compare import fairness, ranking, significance
from evalsuite.results.compare.ranking import Candidate, RankingScope
from evalsuite.results.compare.significance import is_behind
from evalsuite.results.measure.summary import FULL_REPEATS, short_window

EQUAL_FRAMEWORKS = paths.DATA / "statistics" / "equal_frameworks.csv"
FEWEST_RUNS = 3  # with fewer there is no order
Word = Literal["fastest", "consistent", "group", "untold", "unknown_facts"]


@dataclass(frozen=True, kw_only=True)
class RankingResult:
    first: Summary  # of the highest median
    second: Summary  # the best of another candidate
    group: tuple[Summary, ...]
    word: Word
    chance: float | None = None  # with "consistent": of such an order where all are equal
    in_rounds: bool = False
    false_exclusion: float | None = None


def rank(found: Sequence[Summary], scope: RankingScope = ranking.FRAMEWORKS) -> RankingResult | None:
    """The result among *found*, which are all comparable, each candidate by its best; None without two."""
    rivals = best_of_each(found, scope)
    if len(rivals) < 2:
        return None
    first, second = rivals[:2]
    group = (first, *(one for one in rivals[1:] if not is_behind(one, first)))
    fewest = min(one.n for one in rivals)
    word: Word = "group" if len(group) > 1 else "fastest"
    if fewest < FEWEST_RUNS or any(_weak(one) for one in rivals):
        word = "untold"
    elif fewest < FULL_REPEATS:
        word = "untold" if len(group) > 1 else "consistent"
    if word != "untold" and any(scope.unknown_facts(a, b) for a, b in combinations(rivals, 2)):
        word = "unknown_facts"
    tested = word in ("fastest", "group")
    return RankingResult(
        first=first,
        second=second,
        group=group,
        word=word,
        chance=by_chance([one.n for one in rivals]) if word == "consistent" else None,
        in_rounds=tested and any(significance.pairs(one, first) for one in rivals[1:]),
        false_exclusion=false_exclusion(len(rivals), fewest) if tested else None,
    )


def told_apart(a: Summary, b: Summary) -> bool | None:
    """Whether the runs tell *a* from *b*; None where one has too few, or facts of the two are unknown."""
    if a.partial or b.partial or fairness.clocks_apart(a) or fairness.clocks_apart(b) or fairness.unknown_facts(a, b):
        return None
    return significance.differ(a, b)


def leaders(row: Sequence[Summary | None]) -> frozenset[int]:
    given = [one for one in row if one is not None and not fairness.clocks_apart(one)]
    found = rank(given) if _comparable(given) else None
    if found is None or found.word not in ("fastest", "group"):
        return frozenset()
    if len(found.group) == len({one.case.framework for one in given}):
        return frozenset()  # all of them: none is ahead
    ahead = {one.case.id for one in found.group}
    return frozenset(place for place, one in enumerate(row) if one is not None and one.case.id in ahead)


def by_chance(runs: Sequence[int]) -> float:
    """How likely all runs of one of several equal frameworks lie above the others: n of N in 1 of C(N, n)."""
    together = sum(runs)
    return min(1.0, sum(1 / math.comb(together, n) for n in runs))


def false_exclusion(frameworks: int, runs: int) -> float:
    """How often some one of *frameworks* equal ones leaves the winner's group, simulated for five runs and more.

    Between two simulated numbers the one that errs more is taken; beyond the most frameworks the share grows with them.
    """
    simulated = _simulated()
    sizes = sorted({size for size, _ in simulated})
    fewer = max(each for _, each in simulated if each <= runs)
    size = next((size for size in sizes if size >= frameworks), sizes[-1])
    return min(1.0, simulated[size, fewer] * max(1.0, frameworks / size))


@functools.cache
def _simulated() -> dict[tuple[int, int], float]:
    with EQUAL_FRAMEWORKS.open(encoding="utf-8", newline="") as file:
        return {(int(row["frameworks"]), int(row["n"])): float(row["left_out"]) for row in csv.DictReader(file)}


def _weak(one: Summary) -> bool:
    return short_window(one) or (one.partial and one.n >= FULL_REPEATS)


def best_of_each(found: Sequence[Summary], scope: RankingScope) -> list[Summary]:
    best: dict[Candidate, Summary] = {}
    for one in sorted(found, key=lambda one: -one.items_per_s.value):
        best.setdefault(scope.candidate(one.case), one)
    return list(best.values())


def _comparable(found: Sequence[Summary]) -> bool:
    return len(fairness.groups(found, fairness.FRAMEWORKS)) == 1

"""Who is ahead among comparable results: the winner, and the group that the runs do not tell from it.

With five runs or more a framework leaves the winner's group only if all its runs lie below all of the winner's and
the medians are at least 1 % apart. Of eight equal frameworks some one is then left out in 7 % of cases with five runs
and 1 % with seven, where pairwise tests at 5 % leave one out in every third (docs/method.md, benchmarks/judgement.py).
With three or four runs such an order is only *consistent*: it is said with the chance that it has among equals.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from evalsuite.model import Summary
from evalsuite.results import fairness
from evalsuite.results.summary import FULL_REPEATS, short_window, values

LEAST_GAP = 0.01  # of the medians: less is no difference that anybody should choose by
FEWEST_RUNS = 3  # of fewer, no order is spoken of
Word = Literal["fastest", "consistent", "group", "untold", "unknown_facts"]


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Who is ahead, and what may be said of it."""

    first: Summary  # of the highest median
    second: Summary  # the best of another framework
    group: tuple[Summary, ...]  # those that the runs do not tell from the first, itself among them
    word: Word
    chance: float | None = None  # with "consistent": of such an order where all are equal


def standing(found: Sequence[Summary]) -> Standing | None:
    """The standing among *found*, which are all comparable; None without two frameworks.

    Frameworks are compared, so each is represented by the best of its recipes.
    """
    rivals = _best_of_each(found)
    if len(rivals) < 2:
        return None
    first, second = rivals[:2]
    group = (first, *(one for one in rivals[1:] if not behind(one, first)))
    fewest = min(one.n for one in rivals)
    word: Word = "group" if len(group) > 1 else "fastest"
    if fewest < FEWEST_RUNS or any(_weak(one) for one in rivals):
        word = "untold"
    elif fewest < FULL_REPEATS:
        word = "untold" if len(group) > 1 else "consistent"
    if word != "untold" and any(fairness.unknown_facts(a, b) for a, b in combinations(rivals, 2)):
        word = "unknown_facts"
    chance = by_chance([one.n for one in rivals]) if word == "consistent" else None
    return Standing(first=first, second=second, group=group, word=word, chance=chance)


def behind(one: Summary, first: Summary) -> bool:
    """Whether all runs of *one* lie below all of *first*, and its median by at least 1 %."""
    return apart(values(one), values(first))


def apart(lower: Sequence[float], higher: Sequence[float]) -> bool:
    """Whether all of *lower* is below all of *higher*, and the medians are at least 1 % apart."""
    gap = 1 - statistics.median(lower) / statistics.median(higher)
    return max(lower) < min(higher) and gap >= LEAST_GAP


def told_apart(a: Summary, b: Summary) -> bool | None:
    """Whether the runs tell *a* from *b*; None where one has too few, or nobody knows that the two are alike."""
    if a.partial or b.partial or fairness.clocks_apart(a) or fairness.clocks_apart(b) or fairness.unknown_facts(a, b):
        return None
    return behind(a, b) or behind(b, a)


def leaders(row: Sequence[Summary | None]) -> frozenset[int]:
    """The places of the winner and of those that the runs do not tell from it; none where no such thing can be said."""
    given = [one for one in row if one is not None and not fairness.clocks_apart(one)]
    found = standing(given) if _comparable(given) else None
    if found is None or found.word not in ("fastest", "group"):
        return frozenset()
    if len(found.group) == len({one.case.framework for one in given}):
        return frozenset()  # all of them: nobody is ahead
    ahead = {one.case.id for one in found.group}
    return frozenset(place for place, one in enumerate(row) if one is not None and one.case.id in ahead)


def by_chance(runs: Sequence[int]) -> float:
    """How likely the runs of some one of several equal frameworks all lie above all others: exact.

    Of the N! orders of all runs each is as likely as any other, so n given ones are the highest in 1 of C(N, n).
    """
    together = sum(runs)
    return min(1.0, sum(1 / math.comb(together, n) for n in runs))


def _weak(one: Summary) -> bool:
    """Whether more than the number of its runs keeps *one* from being compared."""
    return short_window(one) or (one.partial and one.n >= FULL_REPEATS)


def _best_of_each(found: Sequence[Summary]) -> list[Summary]:
    best: dict[str, Summary] = {}
    for one in sorted(found, key=lambda one: -one.items_per_s.value):
        best.setdefault(one.case.framework, one)
    return list(best.values())


def _comparable(found: Sequence[Summary]) -> bool:
    return len(fairness.groups(found, fairness.FRAMEWORKS)) == 1

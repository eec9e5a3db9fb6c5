"""Adaptive repeats: which cases need another run (simulated: benchmarks/stopping.py; docs/numbers.md). An order is
settled once a lead is as clear as `significance.EARLY_LEVELS` ask, or the two are equal within 1.5 %; an efficiency,
once its interval holds no threshold."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations

from evalsuite.core.model import Row, Summary
from evalsuite.results.compare import significance
from evalsuite.results.compare.fairness import FRAMEWORKS, groups
from evalsuite.results.compare.significance import EARLY_LEVELS, Rounds
from evalsuite.results.judge.criteria import Criteria, Threshold
from evalsuite.results.measure.statistics import ratio_of_medians
from evalsuite.results.measure.summary import FULL_REPEATS, short_window, valid, values


def unsettled(rows: Iterable[Row], criteria: Criteria) -> frozenset[str]:
    known = valid(list(rows))
    compared: set[str] = set()
    open_: set[str] = set()
    for rivals in groups(known, FRAMEWORKS):
        if len({rival.case.framework for rival in rivals}) > 1:
            compared |= {rival.case.id for rival in rivals}
            open_ |= _open_orders(rivals)
    alone = (row for row in known if row.case.id not in compared)
    open_ |= {row.case.id for row in alone if row.n < FULL_REPEATS and not short_window(row)}
    if criteria.C1:
        open_ |= set(_at_threshold(known, criteria.C1))
    return frozenset(open_)


def _open_orders(rivals: Sequence[Summary]) -> set[str]:
    first = max(range(len(rivals)), key=lambda place: rivals[place].items_per_s.value)
    pairs = open_pairs([significance.rounds(rival) for rival in rivals], first)
    unlike = (pair for pair in pairs if len({rivals[place].case.framework for place in pair}) > 1)
    return {rivals[place].case.id for pair in unlike for place in pair}


def open_pairs(rivals: Sequence[Rounds], first: int) -> Iterator[tuple[int, int]]:
    """The pairs whose order more repeats could settle; none of one that is surely behind the *first*."""
    scatter = cache(lambda places: significance.scatter(rivals, places))

    def is_early(one: Rounds, other: Rounds) -> bool:
        places = frozenset(one.keys() & other.keys())
        seen = significance.leads(one, other, places)
        return len(seen) >= min(EARLY_LEVELS) and significance.is_early_lead(seen, scatter(places), len(rivals))

    behind = {place for place, rival in enumerate(rivals) if place != first and is_early(rival, rivals[first])}
    for pair in combinations(range(len(rivals)), 2):
        one, other = (rivals[place] for place in pair)
        seen = significance.leads(one, other)
        settled = len(seen) >= min(EARLY_LEVELS) and significance.are_equal(seen)
        if behind.isdisjoint(pair) and not (settled or is_early(one, other) or is_early(other, one)):
            yield pair


def _at_threshold(known: Sequence[Summary], asked: Threshold) -> Iterator[str]:
    by_case = {row.case: row for row in known}
    for row in known:
        base = by_case.get(row.base) if row.base and row.base != row.case else None
        if base is None or row.case.nodes < asked.min_nodes:
            continue
        found = ratio_of_medians(values(row), values(base), row.case.total_devices / base.case.total_devices)
        low, high, few = found.low, found.high, min(row.n, base.n) < FULL_REPEATS
        if few or low is None or high is None or low <= asked.threshold <= high:
            yield from (row.case.id, base.case.id)

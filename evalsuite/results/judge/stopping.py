"""Adaptive repeats: which cases need another run.

An order is settled once a lead is as clear as `significance.EARLY_LEVELS` ask, or the two are equal within 1.5 %; an
efficiency, once its interval holds no threshold. How often that errs, and what it saves, is simulated
(benchmarks/stopping.py; docs/method.md).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations

from evalsuite.model import Case, Row, Summary
from evalsuite.results.compare import significance
from evalsuite.results.compare.fairness import FRAMEWORKS, groups
from evalsuite.results.compare.significance import Leads
from evalsuite.results.judge.criteria import Criteria, LinearSpeedup
from evalsuite.results.measure.statistics import ratio_of_medians
from evalsuite.results.measure.summary import FULL_REPEATS, short_window, valid, values

FEWEST = min(significance.EARLY_LEVELS)


def unsettled(rows: Iterable[Row], criteria: Criteria) -> frozenset[str]:
    known = valid(list(rows))
    compared: set[str] = set()
    open_: set[str] = set()
    for rivals in groups(known, FRAMEWORKS):
        if len({one.case.framework for one in rivals}) > 1:
            compared |= {one.case.id for one in rivals}
            open_ |= _open_orders(rivals)
    alone = (one for one in known if one.case.id not in compared)
    open_ |= {one.case.id for one in alone if one.n < FULL_REPEATS and not short_window(one)}
    if criteria.linear_speedup:
        open_ |= set(_at_threshold(known, criteria.linear_speedup))
    return frozenset(open_)


def _open_orders(rivals: Sequence[Summary]) -> set[str]:
    first = max(range(len(rivals)), key=lambda place: rivals[place].items_per_s.value)
    pairs = open_pairs(len(rivals), first, lambda a, b: significance.shared_leads(rivals[a], rivals[b]))
    unlike = (pair for pair in pairs if len({rivals[place].case.framework for place in pair}) > 1)
    return {rivals[place].case.id for pair in unlike for place in pair}


def open_pairs(rivals: int, first: int, leads: Callable[[int, int], Leads]) -> Iterator[tuple[int, int]]:
    """The pairs whose order more repeats could settle; none of one that is surely behind the *first*."""
    pairs = {pair: leads(*pair) for pair in combinations(range(rivals), 2)}
    scatter = cache(lambda runs: significance.pooled_scatter(runs, pairs.values()))

    def is_early(found: Leads) -> bool:
        return len(found) >= FEWEST and significance.is_early_lead(found, scatter(len(found)), rivals)

    behind = {place for place in range(rivals) if is_early(leads(place, first))}
    for pair, found in pairs.items():
        settled = len(found) >= FEWEST and significance.are_equal(found)
        if behind.isdisjoint(pair) and not (settled or is_early(found) or is_early([-lead for lead in found])):
            yield pair


def _at_threshold(known: Sequence[Summary], asked: LinearSpeedup) -> Iterator[str]:
    by_case = {one.case: one for one in known}
    for one in known:
        base = by_case.get(one.base) if one.base and one.base != one.case else None
        if base is None or one.case.nodes < asked.min_nodes or not asked.scope.holds(one.case):
            continue
        few = min(one.n, base.n) < FULL_REPEATS
        if few or not clear_of(values(one), values(base), one.case, base.case, asked.threshold):
            yield from (one.case.id, base.case.id)


def clear_of(ours: Sequence[float], base: Sequence[float], case: Case, base_case: Case, threshold: float) -> bool:
    interval = ratio_of_medians(ours, base, case.total_devices / base_case.total_devices)
    return interval.low is not None and interval.high is not None and not interval.low <= threshold <= interval.high

"""Adaptive repeats: which cases need another run.

An order is settled once a lead is as clear as `significance.EARLY_LIMITS` ask, or the two are equal within 1.5 %; an
efficiency, once its interval holds no threshold. How often that errs, and what it saves, is simulated
(benchmarks/stopping.py; docs/method.md).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations

from evalsuite.model import Case, Summary, Unmeasured
from evalsuite.results.compare import significance
from evalsuite.results.compare.fairness import FRAMEWORKS, groups
from evalsuite.results.compare.significance import Leads
from evalsuite.results.judge.criteria import Criteria, LinearSpeedup
from evalsuite.results.measure.statistics import ratio_of_medians
from evalsuite.results.measure.summary import FULL_REPEATS, short_window, valid, values

FEWEST = min(significance.EARLY_LIMITS)
Row = Summary | Unmeasured


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
    """The pairs whose order more repeats could settle; none of two that are surely behind the *first*."""
    behind = {place for place in range(rivals) if _is_settled_lead(leads(place, first))}
    for a, b in combinations(range(rivals), 2):
        if not {a, b} <= behind and not _is_settled(leads(a, b)):
            yield a, b


def _is_settled(leads: Leads) -> bool:
    return len(leads) >= FEWEST and (_is_settled_lead(leads) or significance.are_equal(leads))


def _is_settled_lead(leads: Leads) -> bool:
    either = (leads, [-lead for lead in leads])
    return len(leads) >= FEWEST and any(map(significance.is_early_lead, either))


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

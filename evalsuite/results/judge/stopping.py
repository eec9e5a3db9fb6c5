"""Adaptive repeats: which cases need another run.

After five repeats a case is done once nothing that remains can change a comparison or criterion of it, or limits that
are stricter than the report's are passed, so that looking early errs no more often than 5 % in all. The limits are
simulated (`data/statistics/stopping.csv`, benchmarks/stopping.py; docs/method.md).
"""

import csv
import functools
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from evalsuite import paths
from evalsuite.model import Case, Summary, Unmeasured
from evalsuite.results.compare import significance
from evalsuite.results.compare.fairness import FRAMEWORKS, groups
from evalsuite.results.compare.significance import LEAST_GAP, LEAST_LEAD
from evalsuite.results.judge.criteria import Criteria, LinearSpeedup
from evalsuite.results.measure.statistics import ratio_of_medians
from evalsuite.results.measure.summary import FULL_REPEATS, short_window, valid, values

LIMITS = paths.DATA / "statistics" / "stopping.csv"
Row = Summary | Unmeasured


def unsettled(rows: Iterable[Row], criteria: Criteria, most: int) -> frozenset[str]:
    found = list(rows)
    known = valid(found)
    open_ = {one.case.id for one in known if one.n < FULL_REPEATS and not short_window(one)}
    for rivals in groups(known, FRAMEWORKS):
        limit = lead_limit(len({one.case.framework for one in rivals}))
        for a, b in combinations(rivals, 2):
            if a.case.framework != b.case.framework and not settled(a, b, limit, most):
                open_ |= {a.case.id, b.case.id}
    if criteria.linear_speedup:
        open_ |= set(_at_threshold(known, criteria.linear_speedup))
    return frozenset(open_)


def settled(a: Summary, b: Summary, limit: float, most: int) -> bool:
    """Whether further runs cannot change the stated order of *a* and *b*, or one is clearly slower."""
    shared = _leads(a, b)
    if len(shared) < FULL_REPEATS:
        return bool(shared) and contradicted(shared) and _overlap(a, b)
    return settled_in_rounds(shared, limit, most)


def settled_in_rounds(shared: Sequence[float], limit: float, most: int) -> bool:
    if contradicted(shared):
        return True
    sizes = sorted(map(abs, shared))
    large = sum(1 - math.exp(-size) >= LEAST_GAP for size in sizes)
    if large + most - len(sizes) <= most // 2:
        return True
    return sizes[0] >= limit * sizes[-1] and large > len(sizes) // 2


def contradicted(shared: Sequence[float]) -> bool:
    sizes = [abs(lead) for lead in shared]
    return min(shared) <= 0 <= max(shared) or min(sizes) < LEAST_LEAD * max(sizes)


def _leads(a: Summary, b: Summary) -> list[float]:
    ours, theirs = significance.by_round(a), significance.by_round(b)
    return [math.log(theirs[each] / ours[each]) for each in ours if each in theirs]


def _overlap(a: Summary, b: Summary) -> bool:
    ours, theirs = values(a), values(b)
    return max(min(ours), min(theirs)) <= min(max(ours), max(theirs))


def _at_threshold(known: Sequence[Summary], asked: LinearSpeedup) -> Iterator[str]:
    by_case = {one.case: one for one in known}
    for one in known:
        base = by_case.get(one.base) if one.base and one.base != one.case else None
        if base is None or one.case.nodes < asked.min_nodes or not asked.scope.holds(one.case):
            continue
        if not clear_of(values(one), values(base), one.case, base.case, asked.threshold):
            yield from (one.case.id, base.case.id)


def clear_of(ours: Sequence[float], base: Sequence[float], case: Case, base_case: Case, threshold: float) -> bool:
    ideal = case.total_devices / base_case.total_devices
    interval = ratio_of_medians(ours, base, ideal, level=interval_level())
    return interval.low is not None and interval.high is not None and not interval.low <= threshold <= interval.high


def lead_limit(frameworks: int) -> float:
    """The share of the largest lead that the smallest must have for an order to be clear early.

    Between two simulated numbers the larger is taken; beyond the most nothing is clear before the last repeat.
    """
    limits = {int(what): limit for what, limit in _limits().items() if what.isdecimal()}
    return next((limits[size] for size in sorted(limits) if size >= frameworks), math.inf)


def interval_level() -> float:
    return _limits()["efficiency"]


@functools.cache
def _limits() -> dict[str, float]:
    with LIMITS.open(encoding="utf-8", newline="") as file:
        return {row["of"]: float(row["limit"]) for row in csv.DictReader(file)}

"""What a reviewer would ask. No such note is a verdict, and nothing is left out because of one."""

import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from evalsuite.core.findings import FarBelow, OutsidePublished
from evalsuite.core.model import Finding, Summary, by_key
from evalsuite.results.compare.published_rates import PublishedRange, published

FAR = 4.0  # times slower than the median of the others: more than libraries of one generation differ by
FEWEST_OTHERS = 2  # frameworks whose median is a yardstick
BELOW, ABOVE = 0.5, 1.25  # of the lowest and the highest published figure: batches and versions differ that much
FAR_BELOW, FAR_ABOVE = 0.4, 2.5  # of the median of the figures: so far from it, though one of them lies as far


def findings(summaries: Iterable[Summary]) -> Iterator[Finding]:
    rows = list(summaries)
    alone = [row for row in rows if row.case.total_devices == 1]
    for members in by_key((replace(row.case, framework="", recipe=""), row) for row in alone).values():
        yield from _far_below(members)
    yield from _outside_published(rows)


def _far_below(members: Sequence[Summary]) -> Iterator[FarBelow]:
    for row in members:
        best: dict[str, float] = {}
        for other in members:
            if other.case.framework != row.case.framework and other.unit == row.unit:
                best[other.case.framework] = max(other.items_per_s.value, best.get(other.case.framework, 0.0))
        median = statistics.median(best.values()) if len(best) >= FEWEST_OTHERS else 0.0
        if row.items_per_s.value * FAR < median:
            yield FarBelow(
                where=row.case.id, rate=row.items_per_s.value, unit=row.unit, others=len(best), median=median
            )


def _outside_published(summaries: Iterable[Summary]) -> Iterator[OutsidePublished]:
    for row in summaries:
        known = published(row)
        if known and _unlike(row.items_per_s.value, known):
            yield OutsidePublished(
                where=row.case.id,
                rate=row.items_per_s.value,
                unit=row.unit,
                low=known.low,
                high=known.high,
                device=known.device if known.devices == 1 else f"{known.devices}× {known.device}",
                figures=known.figures,
                sources=tuple(known.sources[:2]),
            )


def _unlike(value: float, known: PublishedRange) -> bool:
    if known.low <= value <= known.high:
        return False
    far = not FAR_BELOW * known.median <= value <= FAR_ABOVE * known.median
    return far or (not known.few and not BELOW * known.low <= value <= ABOVE * known.high)

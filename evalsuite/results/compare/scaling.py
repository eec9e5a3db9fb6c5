"""Summaries against one another: speed-up and efficiency inside a series, ratios between frameworks."""

from collections.abc import Iterable
from dataclasses import replace

from evalsuite.core.findings import BaseUnlike, OddEfficiency, SuperLinear
from evalsuite.core.model import Finding, Interval, Row, Summary
from evalsuite.results.compare import fairness
from evalsuite.results.compare.fairness import Common
from evalsuite.results.measure.statistics import ratio_of_medians
from evalsuite.results.measure.summary import valid, values


def suspicious(summary: Summary) -> bool:
    return any(isinstance(finding, OddEfficiency) for finding in summary.findings)


def with_scaling(summaries: Iterable[Row]) -> list[Row]:
    """The summaries with speed-up, efficiency and the findings of their series; order kept. The base is the smallest
    scale measured: where it is disputed nothing is put in its place, and there is no speed-up over it."""
    rows, bases = list(summaries), dict[Common, Summary]()
    for row in sorted(valid(rows), key=lambda row: (row.case.total_devices, row.case.nodes)):
        bases.setdefault(_series(row), row)
    return [_scaled(row, bases[_series(row)]) if isinstance(row, Summary) else row for row in rows]


def _series(summary: Summary) -> Common:
    return tuple(each for each in fairness.group(summary, fairness.SCALES) if each[0] != fairness.CLOCKS)


def _scaled(summary: Summary, base: Summary) -> Summary:
    if "disputed" in (summary.grounds, base.grounds):
        return summary
    ideal = summary.case.total_devices / base.case.total_devices
    if summary is base:
        speedup = efficiency = Interval(value=1.0)
    else:
        speedup = ratio_of_medians(values(summary), values(base))
        efficiency = ratio_of_medians(values(summary), values(base), divisor=ideal)
    odd = None if summary.disturbed or base.disturbed else _superlinear(summary, efficiency)
    apart = ((row.rule.key, *(each or "–" for each in row.texts)) for row in fairness.unlike_at_base(summary, base))
    unlike = (BaseUnlike(fact=key, value=own, base_value=other, where=summary.case.id) for key, own, other in apart)
    findings = (*summary.findings, *([odd] if odd else []), *unlike)
    return replace(summary, base=base.case, speedup=speedup, efficiency=efficiency, findings=findings)


def _superlinear(summary: Summary, efficiency: Interval) -> Finding | None:
    low = efficiency.low if efficiency.low is not None else efficiency.value
    too_low = efficiency.value < OddEfficiency.lowest and summary.case.strong_batch is None  # a small batch may well be
    if efficiency.value > OddEfficiency.highest or too_low:
        return OddEfficiency(efficiency=efficiency.value, where=summary.case.id)
    return SuperLinear(efficiency=efficiency.value, where=summary.case.id) if low > SuperLinear.limit else None

"""Summaries against one another: speed-up and efficiency inside a series, ratios between frameworks."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from evalsuite.core.findings import OddEfficiency, OtherBase, SlowerAtScale, SuperLinear
from evalsuite.core.model import Finding, Interval, Row, Summary, by_key
from evalsuite.results.compare import fairness
from evalsuite.results.compare.fairness import Common
from evalsuite.results.measure.statistics import ratio_of_medians
from evalsuite.results.measure.summary import valid, values, with_findings


def suspicious(summary: Summary) -> bool:
    return any(isinstance(finding, OddEfficiency) for finding in summary.findings)


def with_scaling(summaries: Iterable[Row]) -> list[Row]:
    """The summaries with speed-up, efficiency and the findings of their series; order kept.

    The base is one node with one device, else the smallest scale measured (docs/report.md#definitions, D15).
    One whose value is disputed is a base still: nothing is put in its place, and there is no speed-up over it.
    """
    rows = list(summaries)
    smallest = sorted(valid(rows), key=lambda row: (row.case.total_devices, row.case.nodes))
    bases = {series: members[0] for series, members in _series(smallest).items()}
    scaled: list[Row] = []
    for row in rows:
        base = bases[_key(row)] if isinstance(row, Summary) and row.grounds != "disputed" else None
        scaled.append(_scaled(row, base) if isinstance(row, Summary) and base and base.grounds != "disputed" else row)
    falls = (each for members in _series(valid(scaled)).values() for each in _falls(members))
    return with_findings(scaled, by_key((each.where, each) for each in falls))


def _key(summary: Summary) -> Common:
    return tuple(each for each in fairness.group(summary, fairness.SCALES) if each[0] != fairness.CLOCKS)


def _series(summaries: Sequence[Summary]) -> dict[Common, list[Summary]]:
    return by_key((_key(summary), summary) for summary in summaries)


def _scaled(summary: Summary, base: Summary) -> Summary:
    ideal = summary.case.total_devices / base.case.total_devices
    if summary is base:
        speedup = efficiency = Interval(value=1.0)
    else:
        speedup = ratio_of_medians(values(summary), values(base))
        efficiency = ratio_of_medians(values(summary), values(base), divisor=ideal)
    findings = [finding] if (finding := _superlinear(summary, efficiency)) else []
    if base.case.total_devices == summary.case.total_devices > 1:
        findings.append(OtherBase(base_devices=base.case.total_devices, where=summary.case.id))
    return replace(
        summary, base=base.case, speedup=speedup, efficiency=efficiency, findings=(*summary.findings, *findings)
    )


def _superlinear(summary: Summary, efficiency: Interval) -> Finding | None:
    low = efficiency.low if efficiency.low is not None else efficiency.value
    too_low = efficiency.value < OddEfficiency.lowest and summary.case.strong_batch is None  # a small batch may well be
    if efficiency.value > OddEfficiency.highest or too_low:
        return OddEfficiency(efficiency=efficiency.value, where=summary.case.id)
    if low > SuperLinear.limit:
        return SuperLinear(efficiency=efficiency.value, where=summary.case.id)
    return None


def _falls(members: Sequence[Summary]) -> Iterator[Finding]:
    measured = sorted(members, key=lambda summary: summary.case.total_devices)
    for smaller, larger in itertools.pairwise(measured):
        if larger.case.total_devices > smaller.case.total_devices and (
            larger.items_per_s.value < smaller.items_per_s.value
        ):
            yield SlowerAtScale(
                larger=larger.case.scale,
                larger_items_per_s=larger.items_per_s.value,
                smaller=smaller.case.scale,
                smaller_items_per_s=smaller.items_per_s.value,
                unit=larger.unit,
                where=larger.case.id,
            )

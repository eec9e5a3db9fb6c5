"""Summaries against one another: speed-up and efficiency inside a series, ratios between frameworks."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evalsuite.errors import EvalsuiteError
from evalsuite.model import Case, Finding, Interval, Summary
from evalsuite.statistics import differ, ratio_of_medians
from evalsuite.summary import values

SUPERLINEAR = 1.02  # D11
CHECK_BASE_ABOVE = 1.20  # D12
CHECK_BASE_BELOW = 0.05


class ComparisonError(EvalsuiteError):
    """Two summaries that must not be compared."""


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """How many times as fast *faster_or_not* is as *other*, and whether that is more than noise."""

    numerator: Case
    denominator: Case
    ratio: Interval
    significant: bool | None  # None: too few repeats to tell


def with_scaling(summaries: Iterable[Summary]) -> list[Summary]:
    """The summaries with speed-up, efficiency and the findings of their series; order kept.

    A series is everything but the scale: same framework, recipe, precision, XLA, batch per device, options,
    protocol and environment. Its base is one node with one device, else the smallest scale measured, and
    the base is named wherever the number is shown (REPORT.md §4, D14, D15).
    """
    summaries = list(summaries)
    bases = {series: _base(members) for series, members in _series(summaries).items()}
    scaled = [_scaled(summary, bases[_key(summary)]) for summary in summaries]
    falling = {case_id: finding for members in _series(scaled).values() for case_id, finding in _falls(members).items()}
    return [
        replace(summary, findings=(*summary.findings, falling[summary.case.id]))
        if summary.case.id in falling
        else summary
        for summary in scaled
    ]


def relative(a: Summary, b: Summary) -> Ratio:
    """How many times as fast *a* is as *b*, with a bootstrap interval over the runs of both.

    Raises ComparisonError if the two cases differ in more than their framework, or one has no valid run.
    """
    difference = unfair(a, b)
    if difference:
        raise ComparisonError(f"{a.case.id} and {b.case.id} cannot be compared: {difference}")
    if a.items_per_s is None or b.items_per_s is None:
        without = a if a.items_per_s is None else b
        raise ComparisonError(f"{without.case.id} has no valid run to compare")
    return Ratio(
        numerator=a.case,
        denominator=b.case,
        ratio=ratio_of_medians(values(a), values(b)),
        significant=differ(values(a), values(b)),
    )


def unfair(a: Summary, b: Summary) -> str | None:
    """What besides the framework differs between the two; None if nothing does."""
    fields = (
        "model", "nodes", "devices_per_node", "batch_per_device", "precision", "xla", "device", "protocol", "options",
    )  # fmt: skip
    for name in fields:
        ours, theirs = getattr(a.case, name), getattr(b.case, name)
        if ours != theirs:
            return f"{name} is {ours} and {theirs}"
    if a.unit != b.unit:
        return f"the units are {a.unit} and {b.unit}"
    if _environment(a) != _environment(b):
        return f"the environments are {_environment(a)} and {_environment(b)}"
    return None


def _environment(summary: Summary) -> str | None:
    return next((run.environment for run in summary.measurements if run.environment), None)


def _version(summary: Summary) -> str | None:
    return next((run.framework_version for run in summary.measurements if run.framework_version), None)


def _key(summary: Summary) -> tuple:
    return (summary.case.series, summary.unit, _version(summary), _environment(summary))


def _series(summaries: Sequence[Summary]) -> dict[tuple, list[Summary]]:
    found: dict[tuple, list[Summary]] = {}
    for summary in summaries:
        found.setdefault(_key(summary), []).append(summary)
    return found


def _base(members: Sequence[Summary]) -> Summary | None:
    measured = [summary for summary in members if summary.items_per_s]
    return min(measured, key=lambda summary: (summary.case.total_devices, summary.case.nodes), default=None)


def _scaled(summary: Summary, base: Summary | None) -> Summary:
    if base is None or summary.items_per_s is None:
        return summary
    ideal = summary.case.total_devices / base.case.total_devices
    if summary is base:
        speedup = efficiency = Interval(value=1.0)
    else:
        speedup = ratio_of_medians(values(summary), values(base))
        efficiency = ratio_of_medians(values(summary), values(base), divisor=ideal)
    found = tuple(finding for finding in (_superlinear(summary, efficiency), _other_base(summary, base)) if finding)
    return replace(
        summary, base=base.case, speedup=speedup, efficiency=efficiency, findings=(*summary.findings, *found)
    )


def _superlinear(summary: Summary, efficiency: Interval) -> Finding | None:
    low = efficiency.low if efficiency.low is not None else efficiency.value
    percent = (("efficiency", f"{efficiency.value * 100:.1f}"),)
    if efficiency.value > CHECK_BASE_ABOVE or efficiency.value < CHECK_BASE_BELOW:
        return Finding(
            code="D12",
            severity="flag",
            text=f"efficiency {efficiency.value:.1%}: check the base run",
            values=percent,
            where=summary.case.id,
        )
    if low > SUPERLINEAR:
        return Finding(
            code="D11",
            severity="flag",
            text=f"super-linear: efficiency {efficiency.value:.1%}",
            values=percent,
            where=summary.case.id,
        )
    return None


def _other_base(summary: Summary, base: Summary) -> Finding | None:
    if base.case.total_devices == 1 or summary.case.total_devices != base.case.total_devices:
        return None
    devices = base.case.total_devices
    return Finding(
        code="D14",
        severity="flag",
        text=f"there is no run on 1 device; base = {devices} devices",
        values=(("base", str(devices)),),
        where=summary.case.id,
    )


def _falls(members: Sequence[Summary]) -> dict[str, Finding]:
    """D13: scales at which the job is slower than at the next smaller one."""
    measured = sorted((m for m in members if m.items_per_s), key=lambda summary: summary.case.total_devices)
    found = {}
    for smaller, larger in itertools.pairwise(measured):
        if larger.case.total_devices > smaller.case.total_devices and (
            larger.items_per_s.value < smaller.items_per_s.value
        ):
            found[larger.case.id] = Finding(
                code="D13",
                severity="flag",
                text=f"slower on {larger.case.scale} ({larger.items_per_s.value:,.2f} {larger.unit}) than on "
                f"{smaller.case.scale} ({smaller.items_per_s.value:,.2f})",
                values=(
                    ("larger", larger.case.scale),
                    ("larger_value", f"{larger.items_per_s.value:,.2f}"),
                    ("smaller", smaller.case.scale),
                    ("smaller_value", f"{smaller.items_per_s.value:,.2f}"),
                    ("unit", larger.unit),
                ),
                where=larger.case.id,
            )
    return found

"""Measurements of one case → its summary: the median of the valid repeats, its interval, what to be wary of."""

import statistics as standard
from collections.abc import Iterable, Sequence
from itertools import groupby

from evalsuite.model import Breakdown, Case, Finding, Measurement, Summary, Unmeasured, Utilisation
from evalsuite.results.statistics import coefficient_of_variation, median_with_range, outliers

FULL_REPEATS = 5  # fewer are partial (REPORT.md §9, D05)
MOST_REPEATS = 7
NOISY_CV = 0.05  # D08
UNSTABLE_CV = 0.15


def summaries(measurements: Iterable[Measurement]) -> list[Summary | Unmeasured]:
    """One summary for each case, in the order of the cases' first appearance; runs by repeat number."""
    by_case: dict[Case, list[Measurement]] = {}
    for measurement in measurements:
        by_case.setdefault(measurement.run.case, []).append(measurement)
    return [summary(case, runs) for case, runs in by_case.items()]


def summary(case: Case, measurements: Sequence[Measurement]) -> Summary | Unmeasured:
    """*case* over its repeats, the failed runs kept; `Unmeasured` without a valid one."""
    runs = tuple(sorted(measurements, key=lambda measurement: measurement.run.repeat))
    valid = [run for run in runs if counts(run)]
    values = _values(valid)
    unit = next((run.throughput.unit for run in runs if run.throughput), None)
    if not values or unit is None:
        return Unmeasured(case=case, unit=unit, measurements=runs, origin=runs[0].origin)
    return Summary(
        case=case,
        unit=unit,
        measurements=runs,
        items_per_s=median_with_range(values),
        n=len(values),
        cv=coefficient_of_variation(values),
        utilisation=_over_repeats(valid),
        breakdown=_breakdown(valid),
        partial=len(values) < FULL_REPEATS or any(_has(run, "D07") for run in valid),
        origin=runs[0].origin,
        findings=_findings(case, valid),
    )


def counts(measurement: Measurement) -> bool:
    """Whether this run's value enters the median."""
    excluded = any(finding.severity in ("exclude", "reject") for finding in measurement.findings)
    return measurement.value is not None and not excluded


def valid(found: Iterable[Summary | Unmeasured]) -> list[Summary]:
    """Those that have a value."""
    return [one for one in found if isinstance(one, Summary)]


def values(summary: Summary) -> list[float]:
    """The run values behind the median, in items/s."""
    return _values(run for run in summary.measurements if counts(run))


def _values(runs: Iterable[Measurement]) -> list[float]:
    return [run.value for run in runs if run.value is not None]


def _has(run: Measurement, code: str) -> bool:
    return any(finding.code == code for finding in run.findings)


def _findings(case: Case, valid: Sequence[Measurement]) -> tuple[Finding, ...]:
    values = _values(valid)
    found = [_too_few(values), _more_than_usual(values), _noisy(values), *_far_off(valid)]
    return tuple(
        Finding(code=f.code, severity=f.severity, text=f.text, values=f.values, where=f.where or case.id)
        for f in found
        if f
    )


def _too_few(values: Sequence[float]) -> Finding | None:
    if len(values) >= FULL_REPEATS:
        return None
    return Finding(
        code="D05",
        severity="note",
        text=f"{len(values)} valid repeats; {FULL_REPEATS} are needed to call a difference significant",
        values=(("n", str(len(values))), ("needed", str(FULL_REPEATS))),
    )


def _more_than_usual(values: Sequence[float]) -> Finding | None:
    if len(values) <= MOST_REPEATS:
        return None
    return Finding(
        code="D06",
        severity="note",
        text=f"{len(values)} repeats, all used",
        values=(("n", str(len(values))),),
    )


def _noisy(values: Sequence[float]) -> Finding | None:
    cv = coefficient_of_variation(values)
    if cv is None or cv <= NOISY_CV:
        return None
    unstable = cv > UNSTABLE_CV
    text = f"the repeats vary by {cv:.1%} (CV)" + ("; unstable" if unstable else "")
    code = "D08_unstable" if unstable else "D08"
    return Finding(code=code, severity="flag", text=text, values=(("cv", f"{cv * 100:.1f}"),))


def _far_off(valid: Sequence[Measurement]) -> list[Finding]:
    """D09, with the repeats of the rules: of three values the MAD is the smaller of two gaps, which says nothing."""
    if len(valid) < FULL_REPEATS:
        return []
    values = _values(valid)
    return [
        Finding(
            code="D09",
            severity="flag",
            text=f"{values[position]:,.2f} is more than 3 scaled MADs from the median of its repeats",
            values=(("value", f"{values[position]:,.2f}"),),
            where=valid[position].run.id,
        )
        for position in outliers(values)
    ]


def _over_repeats(valid: Sequence[Measurement]) -> tuple[Utilisation, ...]:
    """Median over the repeats for each resource and device; sample counts are added up (REPORT.md §4)."""

    def key(used: Utilisation) -> tuple[str, str]:
        return (used.resource, used.device or "")

    readings = sorted((used for run in valid for used in run.utilisation), key=key)
    return tuple(_median(list(group)) for _, group in groupby(readings, key=key))


def _breakdown(valid: Sequence[Measurement]) -> Breakdown | None:
    """That of the run whose step time is the (lower) median: medians of parts need not add up to a whole."""
    found = sorted((run.breakdown for run in valid if run.breakdown), key=lambda one: one.seconds)
    return found[(len(found) - 1) // 2] if found else None


def _median(readings: Sequence[Utilisation]) -> Utilisation:
    first = readings[0]
    return Utilisation(
        resource=first.resource,
        unit=first.unit,
        device=first.device,
        capacity=first.capacity,
        mean=standard.median(used.mean for used in readings),
        p5=standard.median(used.p5 for used in readings),
        p95=standard.median(used.p95 for used in readings),
        samples=sum(used.samples for used in readings),
        coverage=min(used.coverage for used in readings),
    )

"""Measurements of one case → its summary: the median of the valid repeats, its interval, what to be wary of."""

import statistics as standard
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from evalsuite.core import findings
from evalsuite.core.model import DECIDING_ORIGINS as DECIDING_ORIGINS
from evalsuite.core.model import Case, Finding, Interval, Measurement, Row, Summary, Unmeasured, Utilisation, by_key
from evalsuite.results.measure.statistics import coefficient_of_variation, median_with_range
from evalsuite.results.samples.run_figures import FIGURES, RunFigure

FULL_REPEATS = findings.FewRepeats.needed  # fewer are partial (D05)
MOST_REPEATS = 7
SHORT = (findings.EpochWindow, findings.ShortWindow, findings.TooShortWindow)


def summaries(measurements: Iterable[Measurement]) -> list[Row]:
    by_case = by_key((measurement.run.case, measurement) for measurement in measurements)
    return [summary(case, runs) for case, runs in by_case.items()]


def summary(case: Case, measurements: Sequence[Measurement]) -> Row:
    """`Unmeasured` without a valid run."""
    runs = _left_alone(sorted(measurements, key=lambda measurement: measurement.run.repeat))
    valid = [run for run in runs if run.counts]
    values = _values(valid)
    unit = next((run.throughput.unit for run in runs if run.throughput), None)
    if not values or unit is None:
        return Unmeasured(case=case, unit=unit, measurements=runs, origin=runs[0].origin)
    breakdowns = sorted((run.breakdown for run in valid if run.breakdown), key=lambda each: each.seconds)
    return Summary(
        case=case,
        unit=unit,
        measurements=runs,
        items_per_s=_with_ticks(median_with_range(values), valid),
        n=len(values),
        cv=coefficient_of_variation(values),
        utilisation=_over_repeats(valid),
        # of the run whose step time is the (lower) median: medians of parts need not add up to a whole
        breakdown=breakdowns[(len(breakdowns) - 1) // 2] if breakdowns else None,
        partial=len(values) < FULL_REPEATS or any(isinstance(each, SHORT) for run in valid for each in run.findings),
        origin=runs[0].origin,
        findings=tuple(_findings(case, runs, values)),
    )


def _with_ticks(interval: Interval, valid: Sequence[Measurement]) -> Interval:
    """Wider by what a coarse clock leaves open of each value."""
    read = [(run.value, run.throughput.tick) for run in valid if run.value is not None and run.throughput]
    if interval.low is None or not any(tick for _, tick in read):
        return interval
    low, high = min(value * (1 - tick) for value, tick in read), max(value * (1 + tick) for value, tick in read)
    return replace(interval, low=low, high=high)


def is_watched(run: Measurement) -> bool:
    """Whether readings of its window tell what others took of the CPU."""
    return any(use.resource == "cpu" for use in run.utilisation)


def _left_alone(runs: Sequence[Measurement]) -> tuple[Measurement, ...]:
    """The value comes from the runs that had the machine for themselves, where there are two, or they are half of all:
    by its state, and never by their values."""
    watched = [run for run in runs if is_watched(run)] or runs
    quiet = sum(run.counts and not run.disturbed for run in watched)
    if quiet < min(2, sum(run.counts for run in runs) / 2):
        return tuple(runs)
    aside = (findings.SetAside(quiet=quiet, where=run.run.id) if run.counts and run.disturbed else None for run in runs)
    return tuple(
        replace(run, findings=(*run.findings, found)) if found else run for run, found in zip(runs, aside, strict=True)
    )


def valid(rows: Iterable[Row]) -> list[Summary]:
    return [row for row in rows if isinstance(row, Summary)]


def median_run(summary: Summary) -> Measurement:
    """The run whose value is the median; of an even number the slower of the two in the middle."""
    counted = [(run.value, run) for run in summary.measurements if run.counts and run.value is not None]
    counted.sort(key=lambda pair: pair[0])
    return counted[(len(counted) - 1) // 2][1]


def case_figure(summary: Summary, figure: RunFigure) -> float | None:
    each = [value for run in summary.measurements if (value := run.figure(figure.name)) is not None and run.counts]
    return figure.over_runs(each) if each and figure.over_runs else None


def case_figures(summary: Summary) -> Mapping[str, float | None]:
    return {figure.name: case_figure(summary, figure) for figure in FIGURES if figure.over_runs}


def work_of_step(run: Measurement) -> float | None:
    """CPU seconds, or joules where accelerators count them, of a step and device; None where nothing was read."""
    window, spent = run.throughput.window if run.throughput else None, run.figure("energy_j")
    spent = spent if run.run.case.device != "cpu" else run.figure("window_cpu_s")
    return spent / window.steps / run.run.case.total_devices if spent and window else None


def values(summary: Summary) -> list[float]:
    return _values(run for run in summary.measurements if run.counts)


def _values(runs: Iterable[Measurement]) -> list[float]:
    return [run.value for run in runs if run.value is not None]


def failed_runs(summary: Summary) -> int:
    """Of its own: neither the machine nor the network ended them, so that those left over are a choice."""
    ended = (run for run in summary.measurements if run.status in ("failed", "timed_out", "incomplete"))
    return sum(run.fault is None for run in ended)


def disturbances(summary: Summary, rules: tuple[type[Finding], ...]) -> list[Finding]:
    """What most of the runs that count have of these."""
    by_run = [[each for each in run.findings if isinstance(each, rules)] for run in summary.measurements if run.counts]
    return [each for of in by_run for each in of] if 2 * sum(map(bool, by_run)) > summary.n else []


def short_window(summary: Summary) -> bool:
    """Whether some run that counts measured fewer steps than the full protocol asks for (D07)."""
    return any(isinstance(each, SHORT) for run in summary.measurements if run.counts for each in run.findings)


def _findings(case: Case, runs: Sequence[Measurement], values: Sequence[float]) -> Iterator[Finding]:
    """Of runs made elsewhere, numbered from 0 or 1, those that lack too: who brings some of them has chosen."""
    where, here = case.id, {run.run.repeat for run in runs}
    if len(values) < FULL_REPEATS:
        yield findings.FewRepeats(repeats=len(values), where=where)
    if (cv := coefficient_of_variation(values)) is not None and cv > findings.NoisyRepeats.limit:
        rule = findings.UnstableRepeats if cv > findings.UnstableRepeats.limit else findings.NoisyRepeats
        yield rule(cv=cv, where=where)
    missing = sorted(set(range(1, max(here))) - here)
    if missing and runs[0].origin != "measured":
        yield findings.RepeatsMissing(repeats=", ".join(map(str, missing)), here=len(here), where=where)


def _over_repeats(valid: Sequence[Measurement]) -> tuple[Utilisation, ...]:
    groups = by_key((used.resource, used) for run in valid for used in run.utilisation)
    return tuple(
        replace(
            readings[0],
            **{name: standard.median(getattr(used, name) for used in readings) for name in ("mean", "p5", "p95")},
            samples=sum(used.samples for used in readings),
            coverage=min(used.coverage for used in readings),
        )
        for _, readings in sorted(groups.items())
    )

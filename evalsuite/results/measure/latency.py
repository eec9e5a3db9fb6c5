"""The time of one step: percentiles over each run's window, their median over the repeats, and what it is made of."""

import math
import statistics
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from evalsuite.core.findings import OverlappingPhases
from evalsuite.core.model import Breakdown, Finding, Measurement, Summary

PERCENTILES = (50, 90, 99)
FEWEST = {50: 5, 90: 10, 99: 100}  # reports that a percentile needs: one of them lies beyond it
COMMUNICATION = ("allreduce",)


@dataclass(frozen=True, kw_only=True)
class Latency:
    """The time of one step: percentiles in seconds, as PERCENTILES; None where the reports are too few for one."""

    percentiles_s: tuple[float | None, ...]
    reports: int
    steps_per_report: float  # above 1 a report is the mean of several steps


def of_run(run: Measurement) -> Latency | None:
    if run.throughput is None or not run.throughput.step_time_s:
        return None
    times, window = sorted(run.throughput.step_time_s), run.throughput.window
    return Latency(
        percentiles_s=tuple(  # the smallest that so many of all do not exceed (en.wikipedia.org/wiki/Percentile)
            times[-(-rank * len(times) // 100) - 1] if len(times) >= FEWEST[rank] else None for rank in PERCENTILES
        ),
        reports=len(times),
        steps_per_report=window.steps / len(times) if window else 1.0,
    )


def of_case(summary: Summary) -> Latency | None:
    """The median over the runs that count of each run's percentiles; None for one that any of them lacks."""
    timed = [times for run in summary.measurements if run.counts and (times := of_run(run))]
    if not timed:
        return None
    return Latency(
        percentiles_s=tuple(
            None if None in each else statistics.median(value for value in each if value is not None)
            for each in zip(*(run.percentiles_s for run in timed), strict=True)
        ),
        reports=min(run.reports for run in timed),
        steps_per_report=max(run.steps_per_report for run in timed),
    )


def seconds_of(breakdown: Breakdown, phases: Collection[str]) -> float | None:
    known = [phase.seconds for phase in breakdown.phases if phase.name in phases and phase.parent is None]
    return math.fsum(known) if known else None


def rest(breakdown: Breakdown) -> float | None:
    left = breakdown.seconds - math.fsum(phase.seconds for phase in breakdown.phases if phase.parent is None)
    return left if left > 1e-3 * breakdown.seconds else None


def findings(breakdown: Breakdown | None) -> Iterable[Finding]:
    """phases that add up to more than what they are parts of, so that some time was counted twice."""
    if breakdown is None:
        return
    inside = {name: [p for p in breakdown.phases if p.parent == name] for name in {p.parent for p in breakdown.phases}}
    for parent, phases in sorted(inside.items(), key=lambda item: item[0] or ""):
        available = breakdown.seconds if parent is None else breakdown.seconds_of(parent)
        total = math.fsum(phase.seconds for phase in phases)
        if available is not None and total > OverlappingPhases.limit * available:
            yield OverlappingPhases(phases=tuple(phase.name for phase in phases), sum_s=total, whole_s=available)

"""The time of one step: percentiles over each run's window, and their median over the repeats."""

import statistics
from dataclasses import dataclass

from evalsuite.core.model import Measurement, Summary

PERCENTILES = (50, 90, 99)
FEWEST = {50: 5, 90: 10, 99: 100}  # reports that a percentile needs: one of them lies beyond it


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

"""Time of one step: percentiles over the reports of each run's window, and their median over the repeats."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from evalsuite.model import Measurement, Summary
from evalsuite.report import names, numbers
from evalsuite.report.blocks import Model, told_apart
from evalsuite.report.cells import Book
from evalsuite.report.numbers import Number
from evalsuite.summary import counts

PERCENTILES = (50, 90, 99)
FEWEST = {50: 5, 90: 10, 99: 100}  # reports that a percentile needs: one of them lies beyond it


@dataclass(frozen=True, kw_only=True)
class LatencyRow:
    """One case: its percentiles; None where the runs have too few reports for one."""

    summary: Summary
    notes: tuple[str, ...]  # the script, and the options that tell it from other rows of its framework
    percentiles: tuple[Number | None, ...]  # as PERCENTILES
    reports: int  # of the run with the fewest
    steps_per_report: float  # above 1 a report is the mean of several steps

    @property
    def ref(self) -> str:
        return names.case_anchor(self.summary.case)


def rows(book: Book, model: Model) -> tuple[LatencyRow, ...]:
    """The cases of *model* with a step time; of a large report the largest scale of each series."""
    valid = [one for block in model.blocks for one in block.valid]
    notes = told_apart(one.case for one in valid)
    found = [row for one in valid if (row := _row(one, notes[one.case.id]))]
    if not book.large:
        return tuple(found)
    largest = {row.summary.case.series: row for row in sorted(found, key=lambda row: row.summary.case.total_devices)}
    return tuple(row for row in found if largest[row.summary.case.series] is row)


def _row(summary: Summary, notes: tuple[str, ...]) -> LatencyRow | None:
    found = of_case(summary)
    if found is None:
        return None
    return LatencyRow(
        summary=summary,
        notes=notes,
        percentiles=tuple(None if value is None else numbers.milliseconds(value) for value in found.percentiles_s),
        reports=found.reports,
        steps_per_report=found.steps_per_report,
    )


@dataclass(frozen=True, kw_only=True)
class Latency:
    """The time of one step: percentiles in seconds, as PERCENTILES; None where the reports are too few for one."""

    percentiles_s: tuple[float | None, ...]
    reports: int
    steps_per_report: float  # above 1 a report is the mean of several steps


def of_run(run: Measurement) -> Latency | None:
    """The step time of one run; None where its log does not tell it."""
    times = run.throughput.step_time_s if run.throughput else ()
    if not times:
        return None
    window = run.throughput.window
    return Latency(
        percentiles_s=tuple(nearest_rank(times, one) if len(times) >= FEWEST[one] else None for one in PERCENTILES),
        reports=len(times),
        steps_per_report=window.steps / len(times) if window else 1.0,
    )


def of_case(summary: Summary) -> Latency | None:
    """The median over the runs that count of each run's percentiles; None for one that any of them lacks."""
    timed = [found for run in summary.measurements if counts(run) and (found := of_run(run))]
    if not timed:
        return None
    return Latency(
        percentiles_s=tuple(_median(each) for each in zip(*(one.percentiles_s for one in timed), strict=True)),
        reports=min(one.reports for one in timed),
        steps_per_report=max(one.steps_per_report for one in timed),
    )


def _median(values: Sequence[float | None]) -> float | None:
    return None if None in values else statistics.median(values)


def nearest_rank(values: Sequence[float], percent: int) -> float:
    """The smallest value that *percent* of all do not exceed (nearest rank, en.wikipedia.org/wiki/Percentile)."""
    return sorted(values)[max(0, -(-percent * len(values) // 100) - 1)]

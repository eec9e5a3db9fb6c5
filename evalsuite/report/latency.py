"""Time of one step: percentiles over the reports of each run's window, and their median over the repeats."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from evalsuite.model import Measurement, Summary
from evalsuite.summary import counts

from . import names, numbers
from .blocks import Model
from .cells import Book
from .numbers import Number

PERCENTILES = (50, 90, 99)
FEWEST = {50: 5, 90: 10, 99: 100}  # reports that a percentile needs: one of them lies beyond it


@dataclass(frozen=True, kw_only=True)
class LatencyRow:
    """One case: its percentiles; None where the runs have too few reports for one."""

    summary: Summary
    percentiles: tuple[Number | None, ...]  # as PERCENTILES
    reports: int  # of the run with the fewest
    steps_per_report: float  # above 1 a report is the mean of several steps

    @property
    def ref(self) -> str:
        return names.case_anchor(self.summary.case)


def rows(book: Book, model: Model) -> tuple[LatencyRow, ...]:
    """The cases of *model* with a step time; of a large report the largest scale of each series."""
    found = [row for block in model.blocks for one in block.valid if (row := _row(one))]
    if not book.large:
        return tuple(found)
    largest = {row.summary.case.series: row for row in sorted(found, key=lambda row: row.summary.case.total_devices)}
    return tuple(row for row in found if largest[row.summary.case.series] is row)


def _row(summary: Summary) -> LatencyRow | None:
    timed = [run for run in summary.measurements if counts(run) and run.throughput and run.throughput.step_time_s]
    if not timed:
        return None
    reports = min(len(run.throughput.step_time_s) for run in timed)
    found = tuple(_percentile(timed, percent) if reports >= FEWEST[percent] else None for percent in PERCENTILES)
    return LatencyRow(
        summary=summary,
        percentiles=found,
        reports=reports,
        steps_per_report=max(_steps_each(run) for run in timed),
    )


def _percentile(runs: Sequence[Measurement], percent: int) -> Number:
    found = [nearest_rank(run.throughput.step_time_s, percent) for run in runs]
    return numbers.milliseconds(statistics.median(found))


def _steps_each(run: Measurement) -> float:
    """Steps behind one report; its time is the mean of theirs."""
    window = run.throughput.window
    return window.steps / len(run.throughput.step_time_s) if window else 1.0


def nearest_rank(values: Sequence[float], percent: int) -> float:
    """The smallest value that *percent* of all do not exceed (nearest rank, en.wikipedia.org/wiki/Percentile)."""
    return sorted(values)[max(0, -(-percent * len(values) // 100) - 1)]

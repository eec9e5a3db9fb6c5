"""Time of one step: percentiles over the reports of each run's window, and their median over the repeats."""

from dataclasses import dataclass

from evalsuite.model import Summary
from evalsuite.report.book.blocks import Distinction, Model, distinctions
from evalsuite.report.book.book import Book
from evalsuite.report.text import numbers
from evalsuite.report.text.numbers import Number
from evalsuite.results.measure.latency import of_case


@dataclass(frozen=True, kw_only=True)
class LatencyRow:
    summary: Summary
    notes: Distinction
    percentiles: tuple[Number | None, ...]  # as PERCENTILES
    reports: int  # of the run with the fewest
    steps_per_report: float  # above 1 a report is the mean of several steps


def rows(book: Book, model: Model) -> tuple[LatencyRow, ...]:
    valid = [summary for block in model.blocks for summary in block.valid]
    notes = distinctions(summary.case for summary in valid)
    rows = [row for summary in valid if (row := _row(summary, notes[summary.case.id]))]
    if not book.large:
        return tuple(rows)
    largest = {row.summary.case.series: row for row in sorted(rows, key=lambda row: row.summary.case.total_devices)}
    return tuple(row for row in rows if largest[row.summary.case.series] is row)


def _row(summary: Summary, notes: Distinction) -> LatencyRow | None:
    latency = of_case(summary)
    if latency is None:
        return None
    return LatencyRow(
        summary=summary,
        notes=notes,
        percentiles=tuple(None if value is None else numbers.milliseconds(value) for value in latency.percentiles_s),
        reports=latency.reports,
        steps_per_report=latency.steps_per_report,
    )

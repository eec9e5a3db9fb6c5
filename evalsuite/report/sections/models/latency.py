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
    valid = [one for block in model.blocks for one in block.valid]
    notes = distinctions(one.case for one in valid)
    found = [row for one in valid if (row := _row(one, notes[one.case.id]))]
    if not book.large:
        return tuple(found)
    largest = {row.summary.case.series: row for row in sorted(found, key=lambda row: row.summary.case.total_devices)}
    return tuple(row for row in found if largest[row.summary.case.series] is row)


def _row(summary: Summary, notes: Distinction) -> LatencyRow | None:
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

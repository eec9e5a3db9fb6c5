"""What each device computed, held and took, and the CPU time of a run, one row per case."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalsuite.model import Summary
from evalsuite.report.book import columns, model_figures
from evalsuite.report.book.blocks import Block, Distinction, Model, distinctions
from evalsuite.report.book.book import Book
from evalsuite.report.book.columns import CaseColumn
from evalsuite.report.text.numbers import Number

Values = Mapping[str, float | str | None]


@dataclass(frozen=True, kw_only=True)
class Totals:
    block: Block
    columns: tuple[CaseColumn, ...]
    rows: tuple[tuple[Summary, Distinction, Values], ...]

    def mfu(self, values: Values) -> Number | None:
        return next((column.number(values) for column in self.columns if column.name == "mfu"), None)


def totals(book: Book, models: Sequence[Model]) -> list[Totals]:
    left = (model for model in models if model_figures.of_model(book, model) is None)
    return [totals for model in left for block in model.blocks if (totals := _of_block(block))]


def _of_block(block: Block) -> Totals | None:
    shown = [column for column in columns.shown(block.book.evaluation) if column.in_totals]
    every = (*columns.OF_CASE, *shown)
    values = [(summary, {column.name: column.value(summary) for column in every}) for summary in block.valid]
    notes = distinctions(summary.case for summary, _ in values)
    rows = [
        (summary, notes[summary.case.id], row) for summary, row in values if any(each.number(row) for each in shown)
    ]
    used = tuple(column for column in shown if any(column.number(row) for _, _, row in rows))
    return Totals(block=block, columns=used, rows=tuple(rows)) if used else None

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
        return next((one.number(values) for one in self.columns if one.name == "mfu"), None)


def totals(book: Book, models: Sequence[Model]) -> list[Totals]:
    left = (model for model in models if model_figures.of_model(book, model) is None)
    return [found for model in left for block in model.blocks if (found := _of_block(block))]


def _of_block(block: Block) -> Totals | None:
    shown = [column for column in columns.shown(block.book.evaluation) if column.in_totals]
    every = (*columns.OF_CASE, *shown)
    values = [(one, {column.name: column.value(one) for column in every}) for one in block.valid]
    notes = distinctions(one.case for one, _ in values)
    rows = [(one, notes[one.case.id], found) for one, found in values if any(each.number(found) for each in shown)]
    used = tuple(column for column in shown if any(column.number(found) for _, _, found in rows))
    return Totals(block=block, columns=used, rows=tuple(rows)) if used else None

"""What each device computed, held and took, and the CPU time of a run, one row per case."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalsuite.model import Summary
from evalsuite.report.book import columns
from evalsuite.report.book.blocks import Block, Distinction, Model, distinctions
from evalsuite.report.book.columns import CaseColumn
from evalsuite.report.text.numbers import Number

SHOWN = tuple(column for column in columns.OF_CASE if column.form)
Values = Mapping[str, float | str | None]


@dataclass(frozen=True, kw_only=True)
class Totals:
    block: Block
    columns: tuple[CaseColumn, ...]
    rows: tuple[tuple[Summary, Distinction, Values], ...]


def totals(models: Sequence[Model]) -> list[Totals]:
    return [found for model in models for block in model.blocks if (found := _of_block(block))]


def _of_block(block: Block) -> Totals | None:
    values = [(one, {column.name: column.value(one) for column in columns.OF_CASE}) for one in block.valid]
    notes = distinctions(one.case for one, _ in values)
    rows = [(one, notes[one.case.id], found) for one, found in values if any(printed(each, found) for each in SHOWN)]
    used = tuple(column for column in SHOWN if any(printed(column, found) for _, _, found in rows))
    return Totals(block=block, columns=used, rows=tuple(rows)) if used else None


def printed(column: CaseColumn, values: Values) -> Number | None:
    value = values[column.name]
    return column.form(value) if column.form and isinstance(value, (int, float)) else None

"""What each device computed, held and took, and the CPU time of a run, one row per case."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evalsuite.model import Summary
from evalsuite.report.book import columns, heading
from evalsuite.report.book.blocks import Block, Distinction, Model, distinctions
from evalsuite.report.book.columns import SHOWN, CaseColumn
from evalsuite.report.sections.common.markdown import NOTHING, MarkdownWriter, table, text
from evalsuite.report.text import names
from evalsuite.report.text.numbers import Number

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


def in_markdown(found: Sequence[Totals], writer: MarkdownWriter) -> Iterable[str]:
    if found:
        yield f"## {writer.word('totals.title')}"
        yield writer.word("totals.intro")
    for one in found:
        about = {"model": names.model(one.block.model), "block": heading.heading(one.block, writer.words)}
        yield f"**{writer.render(writer.words('totals.caption', **about))}**"
        heads = [writer.word(key) for key in ("words.framework", "words.scale")]
        heads += [writer.word(f"totals.{column.name}") for column in one.columns]
        yield table(heads, [_line(one, row, writer) for row in one.rows], right=range(1, len(heads)))


def _line(found: Totals, row: tuple[Summary, Distinction, Values], writer: MarkdownWriter) -> list[str]:
    one, notes, values = row
    apart = [*notes.names(writer.words), *([writer.words("models.xla_on")] if one.case.xla else [])]
    name = ", ".join([text(names.framework(one.case.framework)), *map(writer.render, apart)])
    cells = [printed(column, values) for column in found.columns]
    return [name, text(names.scale(one.case)), *(text(cell) if cell else NOTHING for cell in cells)]

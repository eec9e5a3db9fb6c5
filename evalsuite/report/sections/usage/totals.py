"""What each device computed, held and took, and the CPU time of a run, one row per case."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evalsuite.model import Summary
from evalsuite.report.book import columns, heading, model_figures
from evalsuite.report.book.blocks import Block, Distinction, Model, distinctions
from evalsuite.report.book.book import Book
from evalsuite.report.book.columns import CaseColumn
from evalsuite.report.sections.common.markdown import NOTHING, MarkdownWriter, table, text
from evalsuite.report.sections.common.section import Subject
from evalsuite.report.text import names

SHOWN = tuple(column for column in columns.SHOWN if column.in_totals)
Values = Mapping[str, float | str | None]


@dataclass(frozen=True, kw_only=True)
class Totals:
    block: Block
    columns: tuple[CaseColumn, ...]
    rows: tuple[tuple[Summary, Distinction, Values], ...]


def totals(book: Book, models: Sequence[Model]) -> list[Totals]:
    left = (model for model in models if model_figures.of_model(book, model) is None)
    return [found for model in left for block in model.blocks if (found := _of_block(block))]


def _of_block(block: Block) -> Totals | None:
    values = [(one, {column.name: column.value(one) for column in columns.OF_CASE}) for one in block.valid]
    notes = distinctions(one.case for one, _ in values)
    rows = [(one, notes[one.case.id], found) for one, found in values if any(each.number(found) for each in SHOWN)]
    used = tuple(column for column in SHOWN if any(column.number(found) for _, _, found in rows))
    return Totals(block=block, columns=used, rows=tuple(rows)) if used else None


def in_markdown(subject: Subject, writer: MarkdownWriter) -> Iterable[str]:
    if found := totals(subject.book, subject.models):
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
    name = writer.case_name(one.case, notes)
    cells = [column.number(values) for column in found.columns]
    return [name, text(names.scale(one.case)), *(text(cell) if cell else NOTHING for cell in cells)]

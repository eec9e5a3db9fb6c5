"""Every run of a case next to the others of its case: how much repeats differ."""

from collections.abc import Sequence
from dataclasses import replace

from evalsuite.report import figures
from evalsuite.report.book.blocks import Block
from evalsuite.report.book.book import Book
from evalsuite.report.figures import Look
from evalsuite.report.sections.common.captioned_figure import CaptionedFigure, panel_name, setting
from evalsuite.report.text import names, numbers
from evalsuite.report.text.words import Text, Words

MOST_REPEATS_DRAWN = 30


def draw_repeats(book: Book, blocks: Sequence[Block], look: Look, words: Words) -> list[CaptionedFigure]:
    rows = [_rows(block, named=book.large) for block in blocks]
    if book.large:
        every = [row for of_block in rows for row in of_block]
        return [_repeats_figure(every, f"f-{blocks[0].id}-r", look, words)] if every else []
    return [
        _repeats_figure(of_block, f"f-{block.id}-r", look, words, setting(block, words))
        for block, of_block in zip(blocks, rows, strict=True)
        if of_block
    ]


def _repeats_figure(
    rows: Sequence[figures.Repeats], id: str, look: Look, words: Words, *before: Text
) -> CaptionedFigure:
    noisiest = sorted(rows, key=lambda row: -(row.cv or 0.0))[:MOST_REPEATS_DRAWN]
    drawn = tuple(row for row in rows if row in noisiest)
    shown = drawn if not before else tuple(rows)
    figure = replace(figures.repeats(drawn, look, id=id), table=_by_case(shown))
    reading = [*before, words("figures.repeats_see")]
    if len(drawn) < len(rows):
        key = "figures.repeats_most" if before else "figures.repeats_most_receipts"
        reading.append(words(key, shown=numbers.count(len(drawn)), all=numbers.count(len(rows))))
    return CaptionedFigure(figure=figure, title=words("figures.repeats"), reading=tuple(reading))


def _by_case(rows: Sequence[figures.Repeats]) -> figures.Table:
    return figures.Table(
        columns=("case", "runs", "median", "cv"),
        rows=tuple((figures.plain(row.label), _side_by_side(row), row.median, row.cv) for row in rows),
        refs=tuple(row.ref for row in rows),
    )


def _side_by_side(row: figures.Repeats) -> str:
    counted = " ".join(numbers.throughput(value).text for value in row.values)
    excluded = " ".join(f"({numbers.throughput(value).text})" for value in row.excluded)
    return f"{counted} {excluded}".strip()


def _rows(block: Block, *, named: bool) -> list[figures.Repeats]:
    behind = f" · {panel_name(block)}" * named
    return [
        figures.Repeats(
            label=(f"{column.label} {names.scale(summary.case)}{behind}"),
            framework=summary.case.framework,
            values=tuple(run.value for run in summary.measurements if run.value is not None and run.counts),
            excluded=tuple(run.value for run in summary.measurements if run.value is not None and not run.counts),
            unit=names.visible(summary.unit),
            ref=names.case_anchor(summary.case),
        )
        for column in block.columns
        for summary in block.valid
        if summary.case.series == column.series and sum(run.value is not None for run in summary.measurements) > 1
    ]

"""Every run of a case beside the others of its case: how much repeats differ."""

from collections.abc import Sequence
from dataclasses import replace

from evalsuite.model import Summary
from evalsuite.report import figures
from evalsuite.report.book.blocks import Block, Column
from evalsuite.report.book.book import Book
from evalsuite.report.figures import Look
from evalsuite.report.sections.common.drawn import Drawn, panel_name, setting
from evalsuite.report.text import names, numbers
from evalsuite.report.text.words import Text, Words
from evalsuite.results.measure.summary import counts

MOST_REPEATS_DRAWN = 30  # cases in one strip plot; the table beside it has all


def drawn(book: Book, blocks: Sequence[Block], look: Look, words: Words) -> tuple[tuple[Block, Drawn], ...]:
    """Every run of every block; of a large report only the cases whose runs differ most, in one figure."""
    if book.large:
        rows = [
            _repeats(column, one, of=block)
            for block in blocks
            for column in block.columns
            for one in _of(block, column)
        ]
        return ((blocks[0], _repeats_figure(rows, f"f-{blocks[0].id}-r", look, words)),) if rows else ()
    found = []
    for block in blocks:
        rows = [_repeats(column, one) for column in block.columns for one in _of(block, column)]
        if rows:
            found.append((block, _repeats_figure(rows, f"f-{block.id}-r", look, words, setting(block, words))))
    return tuple(found)


def _repeats_figure(rows: Sequence[figures.Repeats], id: str, look: Look, words: Words, *before: Text) -> Drawn:
    noisiest = sorted(rows, key=lambda row: -(row.cv or 0.0))[:MOST_REPEATS_DRAWN]
    drawn = tuple(row for row in rows if row in noisiest)
    shown = drawn if not before else tuple(rows)  # without a block it is the whole report: the receipts have the rest
    figure = replace(figures.repeats(drawn, look, id=id), table=_by_case(shown))
    reading = [*before, words("figures.repeats_see")]
    if len(drawn) < len(rows):
        key = "figures.repeats_most" if before else "figures.repeats_most_receipts"
        reading.append(words(key, shown=numbers.count(len(drawn)), all=numbers.count(len(rows))))
    return Drawn(figure=figure, title=words("figures.repeats"), reading=tuple(reading))


def _by_case(rows: Sequence[figures.Repeats]) -> figures.Table:
    """One row a case: its runs side by side, in the order of the repeats."""
    return figures.Table(
        columns=("case", "runs", "median", "cv"),
        rows=tuple((figures.plain(row.label), _side_by_side(row), row.median, row.cv) for row in rows),
        refs=tuple(row.ref for row in rows),
    )


def _side_by_side(row: figures.Repeats) -> str:
    counted = " ".join(numbers.throughput(value).text for value in row.values)
    excluded = " ".join(f"({numbers.throughput(value).text})" for value in row.excluded)
    return f"{counted} {excluded}".strip()


def _of(block: Block, column: Column) -> list[Summary]:
    """The cases of a series with two runs at least: of one there is nothing to compare."""
    ours = [one for one in block.valid if one.case.series == column.series]
    return [one for one in ours if sum(run.value is not None for run in one.measurements) > 1]


def _repeats(column: Column, summary: Summary, of: Block | None = None) -> figures.Repeats:
    """The runs of one case; its block is named where a figure has cases of several."""
    return figures.Repeats(
        label=f"{column.label} {names.scale(summary.case)}" + (f" · {panel_name(of)}" if of else ""),
        framework=summary.case.framework,
        values=tuple(run.value for run in summary.measurements if run.value is not None and counts(run)),
        excluded=tuple(run.value for run in summary.measurements if run.value is not None and not counts(run)),
        unit=names.visible(summary.unit),
        ref=names.case_anchor(summary.case),
    )

"""What all sections share of figures: a figure with its words, the rows of its table, a block's values as series."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evalsuite.core.messages import dotted
from evalsuite.core.model import Summary
from evalsuite.report import figures
from evalsuite.report.book.blocks import Block
from evalsuite.report.book.book import Book
from evalsuite.report.book.states import GLYPHS
from evalsuite.report.figures import Figure, Look
from evalsuite.report.figures.style import COLOURS
from evalsuite.report.text import names, numbers
from evalsuite.report.text.numbers import Form, Number
from evalsuite.report.text.words import Rendered, Text, Words

_RATES = ("items_per_s", "items_per_s_per_device", "off", "on", "before", "after", "value", "median")
FORMS: dict[str, Form] = {
    **dict.fromkeys(_RATES, numbers.throughput),
    **dict.fromkeys(("speedup", "ideal", "ratio"), numbers.speedup),
    **dict.fromkeys(("efficiency", "cv"), numbers.percent),
}
NOTHING = "–"  # a field that is meant to be empty, such as the status of a case that has a value


@dataclass(frozen=True, kw_only=True)
class CaptionedFigure:
    figure: Figure
    title: Text
    reading: tuple[Text, ...] = ()
    help: Text | None = None
    labels: tuple[Rendered | str, ...] = ()
    tables: tuple[tuple[str, Rendered | str], ...] = ()  # (id, name) of tables of the page that hold its data


def look(book: Book) -> Look:
    return figures.look(book.frameworks)


def colours(book: Book) -> dict[str, tuple[str, bool]]:
    """Of each framework its colour on light ground, and whether it is another hand's build."""
    return {name: (COLOURS[hue.name][0], bool(hue.dash)) for name, hue in look(book).hues.items()}


def series_of_block(block: Block, metric: figures.Metric) -> tuple[figures.Line, ...]:
    printed = {column.series: column.label for column in block.columns}
    return tuple(anchored(each) for each in figures.series_of(block.valid, metric, printed))


def anchored(series: figures.Line) -> figures.Line:
    return replace(series, points=tuple(replace(p, ref=names.anchor("c", p.ref)) for p in series.points))


def label(text: Rendered) -> figures.Label:
    zh, en = (text.plain(text.words.languages[place]) for place in (0, -1))
    return zh if zh == en else figures.Bilingual(zh=zh, en=en)


def setting(block: Block, words: Words) -> Text:
    about = {"model": names.model(block.model), "precision": names.precision(block.precision)}
    return words(f"figures.block{'_strong' * block.strong}", batch=numbers.count(block.batch), **about)


def median(summary: Summary | None) -> float | None:
    return summary.items_per_s.value if summary else None


def ends(summary: Summary | None) -> tuple[float, float] | None:
    span = summary.items_per_s if summary else None
    return (span.low, span.high) if span and span.low is not None and span.high is not None else None


def low_and_high(known: Sequence[tuple[Number, Rendered | str]]) -> dict[str, object]:
    """For a title: the least and the greatest of *known*, numbers with the names of what they are of; {} of one."""
    if len(known) < 2:
        return {}
    low, *_, high = sorted(known, key=lambda each: each[0].raw)
    return {"low": low[0], "low_name": low[1], "high": high[0], "high_name": high[1]}


def panel_name(block: Block) -> str:
    return dotted(names.model(block.model), names.precision(block.precision), block.short_batch)


def table_rows(drawn: CaptionedFigure) -> Sequence[tuple[str, Sequence[tuple[object, object]]]]:
    """The rows of a figure's table as (anchor of the case, [(what is printed, raw value)])."""
    columns, rows = drawn.figure.table.columns, drawn.figure.table.rows
    forms = [_form(column, columns) for column in columns]
    labels = drawn.labels or [None] * len(rows)
    return [
        (ref, [(label, "") if label and not place else _shown(forms[place], value) for place, value in enumerate(row)])
        for ref, row, label in zip(drawn.figure.table.refs, rows, labels, strict=True)
    ]


def _form(column: str, columns: Sequence[str]) -> Form:
    if column in ("low", "high"):
        return next((FORMS[other] for other in columns if other in FORMS), numbers.plain)
    return FORMS.get(column, numbers.plain)


def _shown(form: Form, value: object) -> tuple[str, object]:
    if value is None:
        return GLYPHS["missing"], None
    if isinstance(value, bool):
        return ("✓" if value else "–"), int(value)
    if isinstance(value, float):
        return form(value).text, value
    return names.visible(value) or NOTHING, value

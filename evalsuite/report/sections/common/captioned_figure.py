"""What all sections share of figures: a figure with its words, a block's values as series."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalsuite.report import figures
from evalsuite.report.book.blocks import Block
from evalsuite.report.book.book import Book
from evalsuite.report.figures import Figure, Look
from evalsuite.report.figures.style import COLOURS
from evalsuite.report.text import names, numbers
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Rendered, Text, Words


@dataclass(frozen=True, kw_only=True)
class CaptionedFigure:
    figure: Figure
    title: Text
    reading: tuple[Text, ...] = ()
    help: Text | None = None
    tables: tuple[tuple[str, Rendered | str], ...] = ()  # (id, name) of tables of the page that hold its data


def look(book: Book) -> Look:
    return figures.look(book.frameworks)


def colours(book: Book) -> dict[str, tuple[str, bool]]:
    """Of each framework its colour on light ground, and whether it is another hand's build."""
    return {name: (COLOURS[hue.name][0], bool(hue.dash)) for name, hue in look(book).hues.items()}


def label(text: Rendered) -> figures.Label:
    zh, en = (text.plain(text.words.languages[place]) for place in (0, -1))
    return zh if zh == en else figures.Bilingual(zh=zh, en=en)


def setting(block: Block, words: Words) -> Text:
    about = {"model": names.model(block.model), "precision": names.precision(block.precision)}
    return words(f"figures.block{'_strong' * block.strong}", batch=numbers.count(block.batch), **about)


def low_and_high(known: Sequence[tuple[Number, Rendered | str]]) -> dict[str, object]:
    """For a title: the least and the greatest of *known*, numbers with the names of what they are of; {} of one."""
    if len(known) < 2:
        return {}
    low, *_, high = sorted(known, key=lambda each: each[0].raw)
    return {"low": low[0], "low_name": low[1], "high": high[0], "high_name": high[1]}

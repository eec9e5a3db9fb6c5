"""What a section is.

Each section is a module: what it shows (its facts), its figures, and what it says in Markdown. `sections(subject)`
gives the sections that a report has of it: none where there is nothing to show, one, or one for each model. Its
template lies beside it, and `page/contents` has the order.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from evalsuite.report.book.blocks import Block, Model
from evalsuite.report.book.book import Book
from evalsuite.report.figures import Look
from evalsuite.report.sections.common.markdown import MarkdownWriter
from evalsuite.report.text.words import Rendered, Text, Words


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What every section is made from."""

    book: Book
    models: tuple[Model, ...]
    look: Look
    words: Words
    in_parts: bool = False  # each model has a page of its own beside this one, and this one need not tell all

    @property
    def blocks(self) -> tuple[Block, ...]:
        return tuple(block for model in self.models for block in model.blocks)


def in_no_words(writer: MarkdownWriter) -> Iterable[str]:
    """Of a section that Markdown leaves out."""
    return ()


@dataclass(frozen=True, kw_only=True)
class Section:
    """A section of the report as every form asks for it."""

    id: str
    title: Rendered | str
    template: str
    facts: Callable[[], object]  # what the template shows, by name; figures are drawn when it is asked for
    markdown: Callable[[MarkdownWriter], Iterable[str]] = in_no_words  # its paragraphs and tables
    parts: Mapping[str, Text] = field(default_factory=dict)  # id → title of its subsections


def parts(words: Words, section: str, keys: Iterable[str]) -> dict[str, Text]:
    return {f"{section}-{key}": words(f"{section}.{key}") for key in keys}

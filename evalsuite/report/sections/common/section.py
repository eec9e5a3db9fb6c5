"""What a section is: facts for its template, and what it says in Markdown.

`sections(subject)` of a chapter's module gives those that a report has of it. `page/contents` has the order.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evalsuite.report.book.blocks import Block, Model
from evalsuite.report.book.book import Book
from evalsuite.report.figures import Look
from evalsuite.report.sections.common.markdown import MarkdownWriter
from evalsuite.report.text.words import Rendered, Text, Words


@dataclass(frozen=True, kw_only=True)
class Subject:
    book: Book
    models: tuple[Model, ...]
    look: Look
    words: Words

    @property
    def blocks(self) -> tuple[Block, ...]:
        return tuple(block for model in self.models for block in model.blocks)


def in_no_words(writer: MarkdownWriter) -> Iterable[str]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Section:
    id: str
    title: Rendered | str
    template: str
    facts: Callable[[], object]  # what the template shows, by name; figures are drawn when it is asked for
    markdown: Callable[[MarkdownWriter], Iterable[str]] = in_no_words
    parts: Mapping[str, Text] = field(default_factory=dict)
    finding: Callable[[Any], Rendered | Text | None] | None = None  # what its facts come to, in a line


def parts(words: Words, section: str, keys: Iterable[str]) -> dict[str, Text]:
    return {f"{section}-{key}": words(f"{section}.{key}") for key in keys}

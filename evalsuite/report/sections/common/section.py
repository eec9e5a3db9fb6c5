"""What a section is: a title, and facts for its template.
`sections(subject)` of a chapter's module gives those that a report has of it. `page/contents` has the order."""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evalsuite.report.book.blocks import Block, Model, models
from evalsuite.report.book.book import Book
from evalsuite.report.figures import Look, look
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Rendered, Text, Words


@dataclass(frozen=True, kw_only=True)
class Subject:
    book: Book
    words: Words

    @functools.cached_property
    def models(self) -> tuple[Model, ...]:
        return models(self.book)

    @functools.cached_property
    def look(self) -> Look:
        return look(self.book.most_drawn)

    @property
    def blocks(self) -> tuple[Block, ...]:
        return tuple(block for model in self.models for block in model.blocks)


@dataclass(frozen=True, kw_only=True)
class Section:
    id: str
    title: Rendered | str
    template: str
    facts: Callable[[], object]  # what the template shows, by name; figures are drawn when it is asked for
    parts: Mapping[str, Text] = field(default_factory=dict)
    finding: Callable[[Any], Rendered | Text | None] | None = None  # what its facts come to, in a line


def parts(words: Words, section: str, keys: Iterable[str]) -> dict[str, Text]:
    return {f"{section}-{key}": words(f"{section}.{key}") for key in keys}


def low_and_high(known: Sequence[tuple[Number, Rendered | str]]) -> dict[str, object]:
    """For a title: the least and the greatest of *known*, numbers with the names of what they are of; {} of one."""
    if len(known) < 2:
        return {}
    low, *_, high = sorted(known, key=lambda each: each[0].raw)
    return {"low": low[0], "low_name": low[1], "high": high[0], "high_name": high[1]}

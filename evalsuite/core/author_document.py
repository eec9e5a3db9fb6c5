"""The author document, one TOML file whose keys are the fields here (`--author`, docs/publishing.md)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Literal
from urllib.parse import urlsplit

from evalsuite.core.decode import EACH_ONCE, Constraint, From, Mistake, message

PLACE = re.compile(r"\{(\w+)(?::([^{}|]+))?(?:\|([^{}]*))?\}")  # of a computed number
PARAGRAPHS = re.compile(r"\n\s*\n")


def _is_page(url: str) -> bool:
    if re.search(r"[\s\x00-\x1f\x7f<>\"]", url):
        return False
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False


Text = Annotated[str, From(str, str.strip)]
Url = Annotated[str, Constraint("url", _is_page)]
Place = Literal["introduction", "background", "resnet50", "bert", "face", "gpt2", "wide_deep", "problems", "own"]


@dataclass(frozen=True, kw_only=True)
class BothLanguages:
    """An empty line parts paragraphs."""

    zh: Text
    en: Text

    def mistakes(self) -> Iterator[Mistake]:
        zh, en = (sorted(match[0] for match in PLACE.finditer(text)) for text in (self.zh, self.en))
        if zh != en:
            yield Mistake("", message("unlike_numbers", en=en, zh=zh))
        counts = [len(PARAGRAPHS.split(text)) for text in (self.zh, self.en)]
        if counts[0] != counts[1]:
            yield Mistake("", message("unlike_paragraphs", zh=counts[0], en=counts[1]))

    @property
    def paragraphs(self) -> tuple["BothLanguages", ...]:
        parts = (PARAGRAPHS.split(self.zh), PARAGRAPHS.split(self.en))
        return tuple(BothLanguages(zh=zh.strip(), en=en.strip()) for zh, en in zip(*parts, strict=True))


@dataclass(frozen=True, kw_only=True)
class WrittenFinding(BothLanguages):
    severity: Literal["note", "flag"] = "note"
    cases: tuple[str, ...] = ()  # ids
    model: str | None = None
    owner: str = ""
    decides: bool = False  # a verdict depends on it


@dataclass(frozen=True, kw_only=True)
class AuthorNote(WrittenFinding):
    source: str  # file:number


@dataclass(frozen=True, kw_only=True)
class Link(BothLanguages):
    url: Url


@dataclass(frozen=True, kw_only=True)
class Platform:
    """What the evaluation ran on (chapter 2.1)."""

    text: BothLanguages | None = None
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, kw_only=True)
class OwnSection:
    """At the end of the chapter *place*, or a chapter of its own."""

    title: BothLanguages
    text: BothLanguages
    place: Place = "own"


@dataclass(frozen=True, kw_only=True)
class LabDocument:
    title: BothLanguages
    organisation: BothLanguages | None = None
    outline: Literal["tianshu", "free"] = "tianshu"  # fixed chapter numbers, or consecutive ones
    platform: Platform | None = None
    expected: tuple[BothLanguages, ...] = ()  # hopes; never printed as results
    sections: tuple[OwnSection, ...] = ()
    order: Annotated[tuple[str, ...], EACH_ONCE] = ()  # of chapters without a fixed number; the others follow


@dataclass(frozen=True, kw_only=True)
class KeptProblem:
    question: BothLanguages
    owner: str | None = None
    answer: BothLanguages | None = None
    status: Literal["open", "in_progress", "closed"] = "open"
    asked: date | None = None
    answered: date | None = None

    def mistakes(self) -> Iterator[Mistake]:
        if self.status == "closed" and self.answer is None:
            yield Mistake("status", message("closed_without_answer"))
        if self.asked and self.answered and self.answered < self.asked:
            yield Mistake("answered", message("answered_before", answered=self.answered, asked=self.asked))

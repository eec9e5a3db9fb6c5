"""The author document: a lab's findings, title, platform, expectations, own sections, and the problems it keeps.

All of it comes from one TOML file (`--author`, docs/author-findings.md); the keys of the file are the fields here.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Literal
from urllib.parse import urlsplit

from evalsuite.decode import EACH_ONCE, Constraint, From, Mistake, said

PLACE = re.compile(r"\{(\w+)(?::([^{}|]+))?(?:\|([^{}]*))?\}")  # of a computed number in a text
SIZE = re.compile(r"[1-9]\d{0,4}x[1-9]\d{0,3}")
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
Size = Annotated[str, Constraint("size", SIZE.fullmatch)]
Place = Literal["introduction", "background", "resnet50", "bert", "face", "gpt2", "wide_deep", "problems", "own"]


@dataclass(frozen=True, kw_only=True)
class BothLanguages:
    """A text in both languages of the report; an empty line parts its paragraphs."""

    zh: Text
    en: Text

    def mistakes(self) -> Iterator[Mistake]:
        zh, en = (sorted(match[0] for match in PLACE.finditer(text)) for text in (self.zh, self.en))
        if zh != en:
            yield Mistake("", said("unlike_numbers", en=en, zh=zh))
        counts = [len(PARAGRAPHS.split(text)) for text in (self.zh, self.en)]
        if counts[0] != counts[1]:
            yield Mistake("", said("unlike_paragraphs", zh=counts[0], en=counts[1]))

    @property
    def paragraphs(self) -> tuple["BothLanguages", ...]:
        parts = (PARAGRAPHS.split(self.zh), PARAGRAPHS.split(self.en))
        return tuple(BothLanguages(zh=zh.strip(), en=en.strip()) for zh, en in zip(*parts, strict=True))


@dataclass(frozen=True, kw_only=True)
class WrittenFinding(BothLanguages):
    """A finding that a person wrote."""

    severity: Literal["note", "flag"] = "note"
    cases: tuple[str, ...] = ()  # ids of the cases it is about
    model: str | None = None
    owner: str = ""
    decides: bool = False  # whether a verdict depends on it


@dataclass(frozen=True, kw_only=True)
class AuthorNote(WrittenFinding):
    """A finding that a person wrote, and where it stands."""

    source: str  # file:number


@dataclass(frozen=True, kw_only=True)
class Link:
    """A page elsewhere, and what it is called."""

    zh: Text
    en: Text
    url: Url


@dataclass(frozen=True, kw_only=True)
class Platform:
    """Where the evaluation runs, and what can be had there (chapter 2.1)."""

    text: BothLanguages | None = None
    links: tuple[Link, ...] = ()
    sizes: tuple[Size, ...] = ()  # that can be chosen, nodes x devices per node: "1x1", "4x8"


@dataclass(frozen=True, kw_only=True)
class OwnSection:
    """A section of the lab's own: at the end of the chapter *place*, or a chapter of its own."""

    title: BothLanguages
    text: BothLanguages
    place: Place = "own"


@dataclass(frozen=True, kw_only=True)
class LabDocument:
    """The report as the lab publishes it."""

    title: BothLanguages
    organisation: BothLanguages | None = None
    outline: Literal["tianshu", "free"] = "tianshu"  # fixed chapter numbers, or chapters numbered as they come
    platform: Platform | None = None
    expected: tuple[BothLanguages, ...] = ()  # what is hoped for; never printed as a result
    sections: tuple[OwnSection, ...] = ()
    order: Annotated[tuple[str, ...], EACH_ONCE] = ()  # of chapters without a fixed number; those not named follow


@dataclass(frozen=True, kw_only=True)
class KeptProblem:
    """A question that somebody asked of the evaluation, whose it is, and what was answered (chapter 8)."""

    question: BothLanguages
    owner: str | None = None
    answer: BothLanguages | None = None
    status: Literal["open", "in_progress", "closed"] = "open"
    asked: date | None = None
    answered: date | None = None

    def mistakes(self) -> Iterator[Mistake]:
        if self.status == "closed" and self.answer is None:
            yield Mistake("status", said("closed_without_answer"))
        if self.asked and self.answered and self.answered < self.asked:
            yield Mistake("answered", said("answered_before", answered=self.answered, asked=self.asked))

"""What a lab writes itself: its document (title, platform, expectations, own sections), and the problems it keeps.

All of it comes from one TOML file (`--author`, docs/author-findings.md); the keys of the file are the fields here.
"""

from dataclasses import dataclass
from datetime import date
from typing import Literal

Place = Literal["introduction", "background", "resnet50", "bert", "face", "gpt2", "wide_deep", "problems", "own"]


@dataclass(frozen=True, kw_only=True)
class BothLanguages:
    """A text in both languages of the report; an empty line parts its paragraphs."""

    zh: str
    en: str


@dataclass(frozen=True, kw_only=True)
class Link:
    """A page elsewhere, and what it is called."""

    zh: str
    en: str
    url: str  # http or https


@dataclass(frozen=True, kw_only=True)
class Platform:
    """Where the evaluation runs, and what can be had there (chapter 2.1)."""

    text: BothLanguages | None = None
    links: tuple[Link, ...] = ()
    sizes: tuple[str, ...] = ()  # that can be chosen, nodes x devices per node: "1x1", "4x8"


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
    order: tuple[str, ...] = ()  # of the chapters that have no fixed number; those not named follow


@dataclass(frozen=True, kw_only=True)
class KeptProblem:
    """A question that somebody asked of the evaluation, whose it is, and what was answered (chapter 8)."""

    question: BothLanguages
    owner: str | None = None
    answer: BothLanguages | None = None
    status: Literal["open", "in_progress", "closed"] = "open"
    asked: date | None = None
    answered: date | None = None

"""Section 1: what the evaluation is for, and what was expected of it."""

from collections.abc import Iterable
from dataclasses import dataclass

from evalsuite.report.book.blocks import Model
from evalsuite.report.sections import cards
from evalsuite.report.sections.cards import Card
from evalsuite.report.sections.section import Section, Subject


@dataclass(frozen=True, kw_only=True)
class IntroductionFacts:
    """What the introduction shows."""

    cards: tuple[Card, ...]
    models: tuple[Model, ...]
    kinds: frozenset[str]  # of the scripts: official, reference


def sections(subject: Subject) -> Iterable[Section]:
    words = subject.words
    yield Section(
        id="intro", title=words("intro.title"), template="introduction.html.j2", facts=lambda: _facts(subject)
    )


def _facts(subject: Subject) -> IntroductionFacts:
    return IntroductionFacts(
        cards=cards.cards(subject.book, subject.words),
        models=subject.models,
        kinds=frozenset(one.kind for model in subject.models for one in model.participants if one.kind),
    )

"""The verdict: what a reader must know first, a card for each criterion, and the evaluation in a few sentences."""

from collections.abc import Iterable
from dataclasses import dataclass

from evalsuite.report.sections import cards, headlines, notices
from evalsuite.report.sections.cards import Card
from evalsuite.report.sections.drawn import Drawn
from evalsuite.report.sections.markdown import NOTHING, MarkdownWriter, listed, table, text
from evalsuite.report.sections.section import Section, Subject
from evalsuite.report.text import names
from evalsuite.report.text.words import Rendered, Text


@dataclass(frozen=True, kw_only=True)
class VerdictFacts:
    """What the verdict shows."""

    notices: tuple[tuple[str, Rendered], ...]  # kind, sentence
    cards: tuple[tuple[Card, Drawn | None], ...]  # with the value against its threshold, where there are both
    headlines: tuple[Text, ...]
    coverage: Text


def section(subject: Subject) -> Section:
    return Section(
        id="verdict",
        title=subject.words("verdict.title"),
        template="verdict.html.j2",
        facts=lambda: facts(subject),
        markdown=lambda writer: _markdown(subject, writer),
    )


def facts(subject: Subject) -> VerdictFacts:
    book, words = subject.book, subject.words
    return VerdictFacts(
        notices=notices.notices(book, words),
        cards=tuple((card, cards.bullet(card, subject.look, words)) for card in cards.cards(book, words)),
        headlines=headlines.headlines(book, subject.models, words),
        coverage=notices.coverage(book, words),
    )


def _markdown(subject: Subject, writer: MarkdownWriter) -> Iterable[str]:
    book, words = subject.book, subject.words
    yield from (f"> {writer.said(notice)}" for _, notice in notices.notices(book, words))
    yield f"## {writer.word('verdict.title')}"
    found = cards.cards(book, words)
    if found:
        heads = ("verdict.title", "verdict.measured", "verdict.interval", "verdict.threshold", "verdict.n")
        yield table(
            ["", *map(writer.word, (*heads, "words.reason"))],
            [_row(card, writer) for card in found],
            right=(2, 3, 4, 5),
        )
    else:
        yield writer.word("verdict.none")
    sentences = (*headlines.headlines(book, subject.models, words), notices.coverage(book, words))
    yield listed(map(writer.said, sentences))


def _row(card: Card, writer: MarkdownWriter) -> list[str]:
    words, verdict = writer.words, card.verdict
    noise = f" · {writer.word('verdict.within_noise')}" if verdict.within_noise else ""
    key = f"criteria_short.{verdict.criterion}"
    name = words(key) if key in words else words("criteria_short.other", name=names.visible(verdict.criterion))
    return [
        f"**{text(verdict.criterion)}** {writer.said(name)}",
        f"{writer.word(f'verdict.{verdict.outcome}')}{noise}",
        *(writer.said(value) if value else NOTHING for value in (card.value, card.interval, card.threshold)),
        str(verdict.n) if card.value else NOTHING,
        writer.said(card.reason) if card.reason else NOTHING,
    ]

"""A result as other programs read it: JUnit XML."""

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evalsuite import __version__
from evalsuite.commands.printing import i18n
from evalsuite.core import files, paths, redaction
from evalsuite.report.book.book import Book
from evalsuite.report.sections.verdict import cards
from evalsuite.report.text import names
from evalsuite.report.text.words import Words


@dataclass(frozen=True, kw_only=True)
class Check:
    name: str  # of a criterion of a report, or of a case of two
    outcome: str  # pass, fail, undetermined; record
    text: str


def of_criteria(book: Book, spoken: Words, language: str) -> list[Check]:
    checks = []
    for card in cards.cards(book, spoken):
        measured = f"{card.value} ({card.interval})" if card.interval else str(card.value or "")
        sentences = [each.plain(language) if each else "" for each in (card.statement, card.reason)]
        text = " · ".join(filter(None, (sentences[0], measured, sentences[1])))
        checks.append(Check(name=card.verdict.criterion, outcome=card.verdict.outcome, text=text))
    return checks


def fill(template: str, /, **facts: object) -> bytes:
    from evalsuite.report.page import templates

    known = {"say": i18n.say, "language": i18n.language(), "version": __version__, **facts}
    environment = templates.environment([paths.TEMPLATES / "services"])
    environment.filters["visible"] = names.visible
    text = environment.get_template(template).render(known)
    return redaction.redact(names.without_unseen(text)).encode("utf-8", "backslashreplace")


def tell(checks: Sequence[Check], arguments: argparse.Namespace) -> None:
    if arguments.junit:
        n = Counter(check.outcome for check in checks)
        files.write_named(arguments.junit, fill("junit.xml.j2", checks=checks, n=n))

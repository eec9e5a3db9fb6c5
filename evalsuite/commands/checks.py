"""A result as other programs read it: JUnit XML."""

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from evalsuite.core import files
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


def tell(checks: Sequence[Check], arguments: argparse.Namespace) -> None:
    if not arguments.junit:
        return
    n = Counter(check.outcome for check in checks)
    counts = {"tests": len(checks), "failures": n["fail"], "errors": 0, "skipped": n["undetermined"]}
    said = {"name": "evalsuite", **{name: str(count) for name, count in counts.items()}}
    suite = ElementTree.SubElement(suites := ElementTree.Element("testsuites", said), "testsuite", said)
    for check in checks:
        name, text = (names.without_unseen(names.visible(each)) for each in (check.name, check.text))
        case = ElementTree.SubElement(suite, "testcase", classname="evalsuite", name=name)
        if kind := {"fail": "failure", "undetermined": "skipped"}.get(check.outcome):
            ElementTree.SubElement(case, kind, message=text)
        else:
            ElementTree.SubElement(case, "system-out").text = text
    document = ElementTree.tostring(suites, encoding="unicode")
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    files.write_named(arguments.junit, f"{head}{document}\n".encode("utf-8", "backslashreplace"))

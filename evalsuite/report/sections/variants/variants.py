"""One option changed: a table of every pair of cases that differ in one option alone."""

from collections.abc import Iterable, Sequence

from evalsuite.report.book import why_not_comparable
from evalsuite.report.book.changes import Change, changes
from evalsuite.report.sections.common.section import Section, Subject, low_and_high
from evalsuite.report.text import names, numbers
from evalsuite.report.text.words import Text, Words


def sections(subject: Subject) -> Iterable[Section]:
    book, words = subject.book, subject.words
    found = () if book.huge else changes(book, book.planned)
    if rows := [change for change in found if change.ratio or change.obstacles]:
        yield Section(
            id="variants",
            title=words("variants.title"),
            template="variants/variants.html.j2",
            facts=lambda: {
                "rows": rows,
                "why": [[why_not_comparable.sentence(each, words) for each in change.obstacles] for change in rows],
            },
            finding=lambda _: _finding(rows, words),
        )


def _finding(changed: Sequence[Change], words: Words) -> Text:
    known = [
        (
            numbers.change(change.ratio.value - 1),
            f"{names.framework(change.after.framework)} {names.scale(change.after)}",
        )
        for change in changed
        if change.ratio
    ]
    found = low_and_high(known)
    return words("variants.found", **found) if found else words("variants.title")

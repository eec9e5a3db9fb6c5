"""One option changed: a table of every pair of cases that differ in one option alone."""

from collections.abc import Iterable

from evalsuite.report.book import why_not_comparable
from evalsuite.report.book.changes import changes
from evalsuite.report.sections.common.section import Section, Subject


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
        )

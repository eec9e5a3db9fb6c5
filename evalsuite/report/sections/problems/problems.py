"""Section 8: the problems that people keep, what the author found, and what is found by rule."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from evalsuite.report.book.book import Book
from evalsuite.report.sections.author import author, author_sections
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.sections.quality import quality
from evalsuite.report.text import numbers
from evalsuite.report.text.words import Rendered, Words

STATUSES = ("open", "in_progress", "closed")


def sections(subject: Subject) -> Iterable[Section]:
    book, words = subject.book, subject.words
    if not (book.evaluation.document or book.evaluation.kept_problems or author.notes(book, words)):
        return
    counted: Counter[str] = Counter(problem.status for problem in book.evaluation.kept_problems)
    by_status = [(status, counted[status]) for status in STATUSES if counted[status]]
    yield Section(
        id="problems",
        title=words("problems.title"),
        template="problems/problems.html.j2",
        facts=lambda: {**in_every_form(subject), "by_status": by_status, "fed": list(_fed(book, words))},
    )


def in_every_form(subject: Subject) -> dict[str, Any]:
    """The problems that people keep, and the author's notes."""
    kept = [
        {
            "kept": problem,
            "question": author_sections.prose(problem.question, subject),
            "answer": author_sections.prose(problem.answer, subject),
        }
        for problem in subject.book.evaluation.kept_problems
    ]
    return {"kept": kept, "notes": author.notes(subject.book, subject.words)}


def _fed(book: Book, words: Words) -> Iterable[Rendered]:
    """What the section on data quality counts, in its words."""
    failed = sum(not run.counts for run in book.measurements)
    if said := quality.found(book, words):
        yield said
    for key, n in (("quality.failures", failed), ("quality.skips", len(book.skips))):
        if n:
            yield words("models.option", name_text=words(key), value=numbers.count(n))

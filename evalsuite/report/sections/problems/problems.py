"""Section 8: the problems that people keep, what the author found, and what is found by rule."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from evalsuite.report.book.book import Book
from evalsuite.report.book.states import run_state
from evalsuite.report.sections.author import author, author_sections
from evalsuite.report.sections.common.section import Section, Subject

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
        facts=lambda: {**in_every_form(subject), "by_status": by_status, "kinds": kinds(book)},
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


def kinds(book: Book) -> int:
    rules = {finding.code for finding in book.findings if finding.severity != "note"}
    return len(rules) + any(run_state(run) != "value" for run in book.measurements) + bool(book.skips)

"""Section 8: the problems that people keep, what the author found, and what is found by rule."""

from collections import Counter
from collections.abc import Iterable, Mapping
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
    yield Section(
        id="problems",
        title=words("problems.title"),
        template="problems/problems.html.j2",
        facts=lambda: _facts(subject),
        markdown=lambda writer: writer.fill(
            "problems/problems.md.j2", kept=kept_problems(subject), notes=author.notes(book, words)
        ),
    )


def _facts(subject: Subject) -> Mapping[str, object]:
    book, words = subject.book, subject.words
    questions = kept_problems(subject)
    counted: Counter[str] = Counter(question["kept"].status for question in questions)
    return {
        "kept": questions,
        "by_status": [(status, counted[status]) for status in STATUSES if counted[status]],
        "kinds": kinds(book),
        "notes": author.notes(book, words),
    }


def kept_problems(subject: Subject) -> list[dict[str, Any]]:
    return [
        {
            "kept": problem,
            "question": author_sections.prose(problem.question, subject),
            "answer": author_sections.prose(problem.answer, subject),
        }
        for problem in subject.book.evaluation.kept_problems
    ]


def kinds(book: Book) -> int:
    rules = {finding.code for finding in book.findings if finding.severity != "note"}
    return len(rules) + any(run_state(run) != "value" for run in book.measurements) + bool(book.skips)

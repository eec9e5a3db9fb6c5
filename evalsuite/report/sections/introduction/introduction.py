"""Chapter 1 of a lab's document: what the evaluation is for, and what was expected of it."""

from collections.abc import Iterable

from evalsuite.report.sections.author import author_sections
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.sections.verdict import verdict
from evalsuite.report.text.words import Rendered


def sections(subject: Subject) -> Iterable[Section]:
    words = subject.words
    if subject.book.evaluation.document is None:
        return
    yield Section(
        id="intro",
        title=words("intro.title"),
        template="introduction/introduction.html.j2",
        # the first screen is none of the lab's chapters
        facts=lambda: {"expected": _expected(subject), "found": verdict.model_findings(subject.book, words)},
    )


def _expected(subject: Subject) -> tuple[Rendered, ...]:
    written = subject.book.evaluation.document
    return tuple(
        paragraph
        for text in (written.expected if written else ())
        for paragraph in author_sections.prose(text, subject)
    )

"""Chapter 1 of a lab's document: what the evaluation is for, and what was expected of it."""

from collections.abc import Iterable

from evalsuite.report.sections.author import author_sections
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.sections.verdict import verdict


def sections(subject: Subject) -> Iterable[Section]:
    words, written = subject.words, subject.book.evaluation.document
    if written is None:
        return
    expected = [paragraph for text in written.expected for paragraph in author_sections.prose(text, subject)]
    yield Section(
        id="intro",
        title=words("intro.title"),
        template="introduction/introduction.html.j2",
        # the first screen is none of the lab's chapters
        facts=lambda: {"expected": expected, "found": verdict.model_findings(subject.book, words)},
    )

"""Chapter 1 of a lab's document: what the evaluation is for, and what was expected of it."""

from collections.abc import Iterable, Mapping

from evalsuite.report.book.book import Book
from evalsuite.report.sections.author import author_sections
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.sections.verdict import verdict
from evalsuite.report.text import names
from evalsuite.report.text.words import Rendered


def sections(subject: Subject) -> Iterable[Section]:
    words = subject.words
    if subject.book.evaluation.document is None:
        return
    yield Section(
        id="intro",
        title=words("intro.title"),
        template="introduction/introduction.html.j2",
        facts=lambda: _facts(subject),
    )


def _facts(subject: Subject) -> Mapping[str, object]:
    book, words = subject.book, subject.words
    return {
        "models": subject.models,
        "scripts": scripts_of(subject),
        "once": max((len(row.measurements) for row in book.summaries), default=0) == 1,
        "variants_of": _variants_of(book),
        "expected": _expected(subject),
        # in an author's document: the first screen is none of its chapters
        "found": verdict.model_findings(book, words) if book.evaluation.document else (),
    }


def scripts_of(subject: Subject) -> str | None:
    """The key of the sentence that says whose scripts ran."""
    variants_of = _variants_of(subject.book)
    kinds = {participant.kind for model in subject.models for participant in model.participants if participant.kind}
    if not kinds <= {"reference", "official"}:
        return "intro.elsewhere"
    reference = "intro.reference_variants" if variants_of else "intro.reference_only"
    only = reference if "reference" in kinds else "intro.official_only"
    return "intro.both_kinds" if len(kinds) > 1 else only if kinds else None


def _variants_of(book: Book) -> str | None:
    alone = len(book.frameworks) == 1 and all(scope.among == "variants" for scope in book.ranking_scopes.values())
    return names.framework(book.frameworks[0]) if alone else None


def _expected(subject: Subject) -> tuple[Rendered, ...]:
    written = subject.book.evaluation.document
    return tuple(
        paragraph
        for text in (written.expected if written else ())
        for paragraph in author_sections.prose(text, subject)
    )

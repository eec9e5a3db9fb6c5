"""What people write about an evaluation: text in both languages, its numbers computed or checked.

`{throughput:CASE}` prints the computed number. `{frameworks|4}` has the author's number after the bar: where it is not
the computed one, rounded to its digits, the computed one is printed and the difference is a finding. What stands
outside braces is printed as it is.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from markupsafe import Markup, escape

from evalsuite.core.author_document import PLACE, AuthorNote, BothLanguages
from evalsuite.core.errors import EvalsuiteError, look_up
from evalsuite.core.findings import AuthorDiffers
from evalsuite.core.messages import LANGUAGES
from evalsuite.core.model import Evaluation, Finding, Summary
from evalsuite.report.book.book import Book
from evalsuite.report.sections.author import author_file
from evalsuite.report.sections.author.author_file import Authored
from evalsuite.report.text import names, numbers
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Rendered, Words
from evalsuite.report.text.words import read as read_words
from evalsuite.results.rules import printed_beside

COUNTS: Mapping[str, Callable[[Book], int]] = {
    "frameworks": lambda book: len(book.frameworks),
    "models": lambda book: len(book.models),
    "cases": lambda book: len(book.planned),
    "valid": lambda book: len(book.valid),
    "runs": lambda book: len(book.measurements),
    "nodes": lambda book: max((case.nodes for case in book.planned), default=0),
    "devices": lambda book: max((case.total_devices for case in book.planned), default=0),
}
OF_A_CASE: Mapping[str, tuple[Callable[[Summary], float | None], Callable[[float], Number], int]] = {
    # name: (value of a summary, how it is printed, what the author's number is divided by)
    "throughput": (lambda summary: summary.items_per_s.value, numbers.throughput, 1),
    "speedup": (lambda summary: summary.speedup.value if summary.speedup else None, numbers.speedup, 1),
    "efficiency": (lambda summary: summary.efficiency.value if summary.efficiency else None, numbers.percent, 100),
    "n": (lambda summary: summary.n, lambda n: numbers.count(round(n)), 1),
}


class FilledText(Rendered):
    def __init__(self, words: Words, book: Book, written: BothLanguages) -> None:
        self.words, self.book, self.written = words, book, written

    def in_language(self, language: str) -> Markup:
        text, parts, end = getattr(self.written, language), [], 0
        for place in PLACE.finditer(text):
            parts += [escape(names.visible(text[end : place.start()])), _number(self.book, place).__html__()]
            end = place.end()
        return Markup("").join((*parts, escape(names.visible(text[end:]))))


def attached(evaluation: Evaluation, written: Authored) -> Evaluation:
    """*evaluation* with what its author wrote, and a finding for each number in it that is not the computed one.
    Raises EvalsuiteError for a number or a case that this evaluation does not have."""
    book = Book(evaluation=evaluation)
    for note in written.notes:
        if unknown := [name for name in note.cases if name not in book.planned_of]:
            raise EvalsuiteError.of("report.author_no_case", where=note.source, name=unknown[0])
        if note.model is not None:
            models = {case.model: case for case in book.planned}
            look_up("core.unknown", models, note.model, where=note.source, names=sorted(models))
    texts = [(note.en, note.source) for note in written.notes]
    texts += [(text.en, written.source) for text in author_file.texts(written.document, written.problems)]
    wrong = dict.fromkeys(finding for text, source in texts for finding in _wrong(book, text, source))
    return replace(
        evaluation,
        author_notes=written.notes,
        document=written.document,
        kept_problems=written.problems,
        findings=(*evaluation.findings, *wrong),
    )


def _wrong(book: Book, text: str, source: str) -> Iterable[Finding]:
    for place in PLACE.finditer(text):
        computed, written = _number(book, place, source), place[3]
        scale = OF_A_CASE[place[1]][2] if place[1] in OF_A_CASE else 1
        if written is not None and not _agrees(written, computed.raw * scale, source):
            yield AuthorDiffers(written=written, computed=computed.raw, measure=place[1], where=place[2] or source)


def _agrees(written: str, computed: float, source: str) -> bool:
    number = printed_beside.written(written)
    if number is None:
        raise EvalsuiteError.of("report.author_number", where=source, text=written)
    return printed_beside.rounds_to(number, computed)


def _number(book: Book, place: re.Match[str], source: str = "") -> Number:
    name, case_id = place[1], place[2]
    if name in COUNTS and case_id is None:
        return numbers.count(COUNTS[name](book))
    summary = book.valid_of.get(case_id or "")
    value = OF_A_CASE[name][0](summary) if name in OF_A_CASE and summary is not None else None
    if summary is None or value is None:
        known = ", ".join((*COUNTS, *(f"{each}:CASE" for each in OF_A_CASE)))
        raise EvalsuiteError.of("report.author_reference", where=source, name=place[0], names=known)
    return OF_A_CASE[name][1](value).to(names.case_anchor(summary.case))


def rows(book: Book) -> list[dict[str, Any]]:
    if not book.evaluation.author_notes:
        return []
    words = read_words()
    return [
        {
            **{name: getattr(note, name) for name in ("source", "severity", "model", "owner", "decides")},
            "cases": ";".join(note.cases),
            **{language: FilledText(words, book, note).plain(language) for language in LANGUAGES},
        }
        for note in book.evaluation.author_notes
    ]


def notes(book: Book, words: Words, model: str | None = None) -> tuple[tuple[AuthorNote, FilledText], ...]:
    cases = {case.id for case in book.planned if case.model == model}
    notes = book.evaluation.author_notes
    ours = notes if model is None else [note for note in notes if note.model == model or cases & set(note.cases)]
    return tuple((note, FilledText(words, book, note)) for note in ours)

"""What people write about an evaluation: text in both languages from a TOML file, its numbers computed or checked.

In a text stands `{throughput:CASE}`, and the report prints the computed number with its receipt; or
`{frameworks|4}`, the author's number after the bar, which is compared with the computed one. Where the two
differ by more than half of the last digit written, the computed one is printed and the difference is a finding
(D23).
"""

import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from markupsafe import Markup, escape

from evalsuite import redaction
from evalsuite.authored import shown
from evalsuite.errors import EvalsuiteError, did_you_mean
from evalsuite.findings import AuthorDiffers
from evalsuite.lab import KeptProblem, LabDocument
from evalsuite.model import LANGUAGES, AuthorNote, Evaluation, Finding, Summary
from evalsuite.report.book.book import Book
from evalsuite.report.sections.author import author_file
from evalsuite.report.sections.author.author_file import PLACE
from evalsuite.report.text import names, numbers
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Rendered, Words
from evalsuite.report.text.words import read as read_words
from evalsuite.results.rules import data_rules

SEVERITIES = ("note", "flag")
KEYS = {*LANGUAGES, "severity", "cases", "model", "owner", "decides"}
TABLES = {"document": "[document]", "finding": "[[finding]]", "problems": "[[problems]]"}
SEE = "See docs/author-findings.md, which has an example of each table."
KINDS: Mapping[str, tuple[type, str]] = {  # key → what stands there
    "cases": (list, 'a list of the ids of cases, such as ["…-1x8"]'),
    "model": (str, "the name of a model"),
    "owner": (str, "a name"),
    "decides": (bool, "true or false"),
}

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
    "throughput": (lambda one: one.items_per_s.value, numbers.throughput, 1),
    "speedup": (lambda one: one.speedup.value if one.speedup else None, numbers.speedup, 1),
    "efficiency": (lambda one: one.efficiency.value if one.efficiency else None, numbers.percent, 100),
    "n": (lambda one: one.n, lambda n: numbers.count(round(n)), 1),
}


class AuthorError(EvalsuiteError):
    """An author's file that cannot be used."""


class Written(Protocol):
    """A text of an author's in every language."""

    @property
    def zh(self) -> str: ...
    @property
    def en(self) -> str: ...


@dataclass(frozen=True, kw_only=True)
class Authored:
    """What stands in an author's file."""

    source: str  # the file's name
    notes: tuple[AuthorNote, ...] = ()
    document: LabDocument | None = None
    problems: tuple[KeptProblem, ...] = ()


class Said(Rendered):
    """An author's text with its numbers filled in."""

    def __init__(self, words: Words, book: Book, written: Written) -> None:
        self.words, self.book, self.written = words, book, written

    def in_language(self, language: str) -> Markup:
        text, parts, end = getattr(self.written, language), [], 0
        for place in PLACE.finditer(text):
            parts += [escape(names.visible(text[end : place.start()])), _number(self.book, place).__html__()]
            end = place.end()
        return Markup("").join((*parts, escape(names.visible(text[end:]))))


def read(file: Path) -> Authored:
    """What *file* holds. Raises AuthorError with the file and the key of the first mistake in it."""
    try:
        found = tomllib.loads(Path(file).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise AuthorError(f"{file}: {error}; expected findings in TOML." + f" {SEE}") from error
    for key in found:
        if key not in TABLES:
            raise AuthorError(
                f"{file}: unknown key {shown(key)}; expected {', '.join(TABLES.values())}."
                f"{did_you_mean(key, TABLES, cutoff=0.4)} {SEE}"
            )
    if secret := redaction.first_of(found):
        raise AuthorError(
            f"{file}: {secret}: it looks like a secret, and what stands here is published; expected none. Take it out. "
            f"{SEE}"
        )
    if not any(found.values()):
        raise AuthorError(f"{file}: no [[finding]]; expected {', '.join(TABLES.values())}, one at least." + f" {SEE}")
    try:
        return Authored(
            source=Path(file).name,
            notes=tuple(_note(file, place, facts) for place, facts in enumerate(_tables(file, found, "finding"), 1)),
            document=author_file.document(found["document"], f"{file}: [document]") if "document" in found else None,
            problems=author_file.problems(_tables(file, found, "problems"), f"{file}: [[problems]]"),
        )
    except AuthorError:
        raise
    except EvalsuiteError as error:
        raise AuthorError(f"{error} See docs/author-findings.md, which has an example of each table.") from error


def _tables(file: Path, found: Mapping[str, Any], key: str) -> Sequence[Any]:
    tables = found.get(key, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise AuthorError(
            f"{file}: {key} is no list of tables; expected one or more of [[{key}]], in double brackets. {SEE}"
        )
    return tables


def _note(file: Path, place: int, facts: Mapping[str, Any]) -> AuthorNote:
    where = f"{file}: finding {place}"
    unknown = sorted(set(facts) - KEYS)
    if unknown:
        raise AuthorError(f"{where}: {', '.join(unknown)} is unknown; expected {', '.join(sorted(KEYS))}.")
    for language in LANGUAGES:
        if not isinstance(facts.get(language), str) or not facts[language].strip():
            raise AuthorError(
                f'{where}: no text "{language}"; expected one in every language ({", ".join(LANGUAGES)}).'
            )
        if any(unicodedata.category(letter) == "Cc" and letter not in "\n\t\r" for letter in facts[language]):
            raise AuthorError(f'{where}: the text "{language}" has a control character; expected words alone.')
    places = [sorted(match[0] for match in PLACE.finditer(facts[language])) for language in LANGUAGES]
    if places[0] != places[1]:
        raise AuthorError(f"{where}: the texts have the numbers {places[0]} and {places[1]}; expected the same.")
    for key, (kind, expected) in KINDS.items():
        if key in facts and not isinstance(facts[key], kind):
            raise AuthorError(f"{where}: {key} = {facts[key]!r}; expected {expected}.")
    if not all(isinstance(name, str) for name in facts.get("cases", ())):
        raise AuthorError(f"{where}: cases = {facts['cases']!r}; expected {KINDS['cases'][1]}.")
    severity = facts.get("severity", "note")
    if severity not in SEVERITIES:
        raise AuthorError(f'{where}: severity is "{severity}"; expected {" or ".join(SEVERITIES)}.')
    return AuthorNote(
        zh=facts["zh"].strip(),
        en=facts["en"].strip(),
        severity=severity,
        cases=tuple(facts.get("cases", ())),
        model=facts.get("model"),
        owner=facts.get("owner", ""),
        decides=facts.get("decides", False),
        source=f"{Path(file).name}:{place}",
    )


def attached(evaluation: Evaluation, written: Authored) -> Evaluation:
    """*evaluation* with what its author wrote, and a finding for each number in it that is not the computed one.

    Raises AuthorError for a number or a case that this evaluation does not have.
    """
    book = Book(evaluation=evaluation)
    for note in written.notes:
        unknown = [name for name in note.cases if name not in book.planned_ids]
        if unknown:
            raise AuthorError(f"{note.source}: {unknown[0]} is no case of this evaluation; expected the id of one.")
        if note.model is not None and note.model not in (models := {case.model for case in book.planned}):
            known = ", ".join(sorted(models))
            raise AuthorError(f"{note.source}: {note.model} is no model of this evaluation; expected one of {known}.")
    texts = [(note.en, note.source) for note in written.notes]
    texts += [(text.en, written.source) for text in author_file.texts(written.document, written.problems)]
    found = dict.fromkeys(finding for text, source in texts for finding in _wrong(book, text, source))
    return replace(
        evaluation,
        author_notes=written.notes,
        document=written.document,
        kept_problems=written.problems,
        findings=(*evaluation.findings, *found),
    )


def _wrong(book: Book, text: str, source: str) -> Iterable[Finding]:
    for place in PLACE.finditer(text):
        computed, written = _number(book, place, source), place[3]
        if written is not None and not _agrees(written, computed.raw * _scale(place[1]), source):
            yield AuthorDiffers(written=written, computed=computed.raw, measure=place[1], where=place[2] or source)


def _agrees(written: str, computed: float, source: str) -> bool:
    """Whether *written* is *computed* rounded to the digits that were written (data/rules, D23)."""
    number = data_rules.written(written)
    if number is None:
        raise AuthorError(f'{source}: "{written}" is no number; expected one after the bar.')
    return data_rules.rounds_to(number, computed)


def _scale(name: str) -> int:
    return OF_A_CASE[name][2] if name in OF_A_CASE else 1


def _number(book: Book, place: re.Match[str], source: str = "") -> Number:
    """The computed number that a place names."""
    name, case_id = place[1], place[2]
    if name in COUNTS and case_id is None:
        return numbers.count(COUNTS[name](book))
    summary = book.valid_of.get(case_id or "")
    value = OF_A_CASE[name][0](summary) if name in OF_A_CASE and summary is not None else None
    if summary is None or value is None:
        known = ", ".join((*COUNTS, *(f"{each}:CASE" for each in OF_A_CASE)))
        raise AuthorError(f"{source}: {place[0]} names no number of this evaluation; expected one of {known}.")
    return OF_A_CASE[name][1](value).to(names.case_anchor(summary.case))


ROW = ("source", "severity", "model", "cases", "owner", "decides", *LANGUAGES)


def rows(book: Book) -> list[dict[str, Any]]:
    """The notes as plain values, with their numbers filled in."""
    if not book.evaluation.author_notes:
        return []
    words = read_words()
    return [_plain(note, Said(words, book, note)) for note in book.evaluation.author_notes]


def _plain(note: AuthorNote, text: Said) -> dict[str, Any]:
    facts = {name: getattr(note, name) for name in ("source", "severity", "model", "owner", "decides")}
    return {**facts, "cases": ";".join(note.cases), **{language: text.plain(language) for language in LANGUAGES}}


def said(book: Book, words: Words, model: str | None = None) -> tuple[tuple[AuthorNote, Said], ...]:
    """The notes, or those about one model: named by it, or by one of its cases."""
    cases = {case.id for case in book.planned if case.model == model}
    notes = book.evaluation.author_notes
    ours = notes if model is None else [note for note in notes if note.model == model or cases & set(note.cases)]
    return tuple((note, Said(words, book, note)) for note in ours)

"""A row for each acceptance criterion: value, threshold, reason, and what it says of each framework."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalsuite.core.messages import dotted, places
from evalsuite.core.model import Verdict, VerdictCell, by_key
from evalsuite.report.book.book import Book, applies
from evalsuite.report.text import names, numbers, options
from evalsuite.report.text.numbers import Form, Number
from evalsuite.report.text.words import Rendered, Text, Words

CARD = "v"


@dataclass(frozen=True, kw_only=True)
class Card:
    verdict: Verdict
    statement: Rendered
    reason: Rendered | None
    value: Number | None
    interval: Number | None
    threshold: Number | None
    cells: Sequence[Mapping[str, Any]] = ()  # of each framework: its cell, name and value

    @property
    def id(self) -> str:
        return names.anchor(CARD, self.verdict.criterion)

    @property
    def applies(self) -> bool:
        return applies(self.verdict)


def cards(book: Book, words: Words) -> tuple[Card, ...]:
    verdicts = sorted(book.evaluation.verdicts, key=lambda verdict: verdict.criterion)
    return tuple(_card(verdict, words) for verdict in verdicts)


def not_here(cards: Sequence[Card], words: Words) -> Rendered | None:
    by_reason = by_key((card.verdict.notes, card) for card in cards if not card.applies)
    parts = [
        words("models.option", name_text=words.listed(called(card.verdict, words) for card in of), value=of[0].reason)
        for of in by_reason.values()
        if of[0].reason
    ]
    return words.sentences(parts) if parts else None


def called(verdict: Verdict, words: Words) -> Rendered:
    """In words, with its code behind."""
    code, key = names.visible(verdict.criterion), f"criteria_short.{verdict.criterion}"
    if verdict.holds or key not in words:
        return words.same(code)
    return options.apart([code, words(key)], words, " ")


def _card(verdict: Verdict, words: Words) -> Card:
    form = numbers.plain if verdict.holds else numbers.beside(verdict.threshold)
    ref = names.case_anchor(verdict.case) if verdict.case else None
    reached, threshold = verdict.measured, verdict.threshold
    return Card(
        verdict=verdict,
        statement=_statement(verdict, form, words),
        reason=_reason(verdict, words),
        value=form(reached.value).to(ref) if reached else None,
        interval=numbers.interval(reached, form),
        threshold=form(threshold) if threshold is not None else None,
        cells=_cells(verdict, form),
    )


def _cells(verdict: Verdict, form: Form) -> Sequence[Mapping[str, Any]]:
    if verdict.holds or len(verdict.cells) < 2 or not any(cell.measured for cell in verdict.cells):
        return ()
    return [
        {
            "cell": cell,
            "name": dotted(names.framework(cell.framework), names.model(cell.model), names.precision(cell.precision)),
            "value": cell.measured
            and form(cell.measured.value).to(names.case_anchor(cell.case) if cell.case else None),
        }
        for cell in verdict.cells
    ]


def _statement(verdict: Verdict, form: Form, words: Words) -> Text:
    if verdict.holds:
        return words("criteria.own", holds=names.visible(verdict.holds))
    limits = {"threshold": form(verdict.threshold or 0.0), "min_nodes": numbers.count(verdict.min_nodes or 0)}
    return words(f"criteria.{verdict.criterion}", **limits)


def _reason(verdict: Verdict | VerdictCell, words: Words) -> Rendered | None:
    if not verdict.reason:
        return None
    known = {name: _named(name, value, words) for name, value in verdict.values}
    keys = (f"verdicts.{verdict.reason}", *(f"verdict_notes.{note}" for note in verdict.notes))
    there = [key for key in keys if key in words]  # of what is undetermined the notes alone
    sentences = [words(key, **{name: known[name] for name in places(words.sentence(key))}) for key in there]
    return words.sentences(sentences)


def _named(name: str, value: str, words: Words) -> object:
    if name in ("resources", "left_out"):
        return words.listed(
            words(f"resource_kinds.{each}") if f"resource_kinds.{each}" in words else names.visible(each)
            for each in value.split(", ")
        )
    if name == "scales":
        return names.visible(value).replace("x", "×")
    if name == "codes":
        return words.listed(words(f"rules.{code}.title") for code in value.split(", "))
    return names.visible(value)

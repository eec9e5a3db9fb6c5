"""Frameworks by settings: how near to the fastest, ranked or not."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from evalsuite.core.model import Summary, by_key
from evalsuite.report.book import why_not_comparable
from evalsuite.report.book.book import Book
from evalsuite.report.sections.verdict import answers
from evalsuite.report.text import names, numbers, options
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Rendered, Words
from evalsuite.results.compare.answers import Answer, Missing, headline
from evalsuite.results.compare.decisions import flags

WEIGHTS: Mapping[str | None, Literal["bold", "plain", "weak"]] = {
    **dict.fromkeys(("ahead", "equal"), "bold"),
    **dict.fromkeys(("source", "clock"), "plain"),
}
TINTS = (0.25, 0.5, 0.75, 0.9)  # of the highest throughput


@dataclass(frozen=True, kw_only=True)
class Standing:
    ref: str
    why: Rendered | None = None  # it is not ranked, or has no value
    share: Number | None = None  # of the highest that is ranked; a link to the answer leads on
    tint: int = 0
    weight: Literal["bold", "plain", "weak"] = "weak"
    flagged: bool = False
    pair: str = ""  # the fastest and this
    outcome: str = ""


def standings(book: Book, words: Words) -> list[Mapping[str, Any]]:
    """A table for each scale, or one for all where there is a single column: of each model and precision the setting
    that compares most. Those of a single framework are not here."""
    asked: dict[str, dict[tuple[str, str], list[Answer]]] = {}
    for answer in sorted(book.answers, key=lambda answer: (answer.devices, answer.nodes)):
        if answer.scope.among == "frameworks":
            key = (answer.setting.model, answer.setting.precision)
            asked.setdefault(answers.scale(answer), {}).setdefault(key, []).append(answer)
    alike = by_key((key, each) for by in asked.values() for key, of in by.items() for each in of)
    usual = {key: best.setting for key, of in alike.items() if (best := headline(of))}
    columns = {
        scale: sorted(filter(None, (headline(of, usual.get(key)) for key, of in by.items())), key=_order)
        for scale, by in asked.items()
        if any(answer.ranked for answers in by.values() for answer in answers)
    }
    if len({_order(answer) for answers in columns.values() for answer in answers}) == 1:
        columns = {"": [answer for answers in columns.values() for answer in answers]}
    if not columns or len(book.frameworks) < 2:
        return []
    first = max(
        columns, key=lambda scale: (sum(len(answer.ranked) for answer in columns[scale]), columns[scale][0].devices)
    )
    labels = answers.settings([answer for group in columns.values() for answer in group], words)
    cells = {
        scale: {of: [_standing(book, answer, of, words) for answer in answers] for of in book.frameworks}
        for scale, answers in columns.items()
    }
    order = sorted(book.frameworks, key=lambda of: -sum(c.share.raw for c in cells[first][of] if c.share and not c.why))
    return [
        {
            "id": names.anchor("at", scale),
            "scale": scale,  # of all columns; empty: each has its own
            "answers": group,
            "models": [(names.model(of), n) for of, n in Counter(answer.setting.model for answer in group).items()],
            "settings": [
                options.apart([labels[answer.setting], *([] if scale else [answers.scale(answer)])], words)
                for answer in group
            ],
            "rows": [(names.framework(of), cells[scale][of]) for of in order],
            "chosen": scale == first,
        }
        for scale, group in columns.items()
    ]


def _order(answer: Answer) -> tuple[object, ...]:
    return (*names.model_order(answer.setting.model), answer.setting.precision)


def _standing(book: Book, answer: Answer, framework: str, words: Words) -> Standing:
    ranked = next((entry for entry in answer.ranked if entry.summary.case.framework == framework), None)
    if ranked:
        known = ranked.known or answer.known
        pair = " ".join(names.case_anchor(entry.summary.case) for entry in (answer.ranked[0], ranked))
        return replace(
            _valued(answer, ranked.summary),
            why=words("unlike.unstated_facts" if answers.unstated(answer) else "outcome.not_comparable")
            if answer.outcome == "not_comparable"
            else None,
            weight="plain" if answer.disturbed else WEIGHTS.get(known, "weak"),
            pair=pair if ranked.known else "",
            outcome=ranked.outcome or answer.outcome,
        )
    beside = [entry for entry in (*answer.apart, *answer.passed_over) if entry.summary.case.framework == framework]
    if beside:
        best = max(beside, key=lambda entry: entry.summary.items_per_s.value)
        why = why_not_comparable.briefly(best.obstacles, words) if best.obstacles else words("outcome.not_comparable")
        return replace(_valued(answer, best.summary), why=why)
    absent = next((absence for absence in answer.missing if absence.candidate.framework == framework), None)
    return _absent(book, answer, absent, words)


def _absent(book: Book, answer: Answer, absent: Missing | None, words: Words) -> Standing:
    elsewhere = [case for case in (absent.others if absent else ()) if case.id in book.valid_of]
    if elsewhere:
        nearest = book.valid_of[elsewhere[0].id]
        return replace(_valued(answer, nearest), why=answers.elsewhere(nearest.case, answer, words))
    cited = answer.ranked and answer.ranked[0].summary.grounds == "cited"  # nobody knows what was run
    never = "no_figure" if cited else "never"
    return Standing(ref=answers.anchor(answer), why=words(f"standings.{absent.why if absent else never}"))


def _valued(answer: Answer, row: Summary) -> Standing:
    highest, ref = answer.ranked[0].summary, answers.anchor(answer)
    if row.unit != highest.unit or (answer.outcome == "not_comparable" and not answers.unstated(answer)):
        return Standing(ref=ref)
    share = row.items_per_s.value / highest.items_per_s.value
    tint = sum(share >= least for least in TINTS)
    return Standing(ref=ref, share=numbers.percent(share), tint=tint, flagged=bool(flags(row)))

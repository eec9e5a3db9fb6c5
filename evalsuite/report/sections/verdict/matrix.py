"""The winner matrix: settings by scales, in each cell who leads and by how much; and the best efficiency there."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from evalsuite.report.book.book import Book
from evalsuite.report.sections.common import leads
from evalsuite.report.sections.verdict import answers
from evalsuite.report.sections.verdict.answers import AnsweredQuestion
from evalsuite.report.text import names, numbers
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.options import unbroken
from evalsuite.report.text.words import Rendered, Text, Words
from evalsuite.results.compare.answers import OF_EVIDENCE, Answer, Conditions, most_efficient

Tone = Literal["clear", "tie", "open", "told", "none"]  # as published by others
TONES: Mapping[str, Tone] = {"fastest": "clear", "tie": "tie", "published": "told", "printed": "told"}
LEVEL = {"tie": {"zh": " = ", "en": " = "}, "group": {"zh": " ≈ ", "en": " ≈ "}}
OF_SAID = {said: evidence for evidence, said in OF_EVIDENCE.items()}
NOTES = {"zh": "；", "en": "; "}
MOST_NAMED = 2
FEWEST_ALIKE = 3  # open cells that need the same: the eye then finds it once, below the table


@dataclass(frozen=True, kw_only=True)
class WinnerCell:
    tone: Tone
    ref: str
    winner: Rendered | None = None
    lead: str = ""
    pair: str = ""  # the two that the lead is of, by their anchors
    evidence: str = ""
    flagged: bool = False
    note: Rendered | None = None  # what would decide it, or how few there are


@dataclass(frozen=True, kw_only=True)
class EfficiencyCell:
    outcome: Literal["pass", "fail", "undetermined", "information", "none"]
    ref: str
    name: Rendered | None = None
    value: Number | None = None
    share: str = ""  # of the highest throughput here, which an efficiency says nothing of; empty: it is the highest


@dataclass(frozen=True, kw_only=True)
class WinnerRow:
    model: str
    span: int  # rows of the model, counted at its first; 0 at the others
    setting: Rendered
    cells: tuple[WinnerCell, ...]
    efficiencies: tuple[EfficiencyCell, ...]


@dataclass(frozen=True, kw_only=True)
class WinnerMatrix:
    scales: tuple[str, ...]
    rows: tuple[WinnerRow, ...]
    title: Text
    long_names: bool
    left_out: int  # settings with no two to compare
    threshold: Number | None  # of the efficiency, by the criterion
    min_nodes: int | None
    has_efficiency: bool
    needed: Rendered | None  # what would decide each open cell, where all need the same
    published: bool


def matrix(book: Book, questions: Sequence[AnsweredQuestion], words: Words) -> WinnerMatrix | None:
    by_setting: dict[Conditions, dict[str, Answer]] = {}
    for one in questions:
        by_setting.setdefault(one.answer.setting, {})[one.scale] = one.answer
    labels = {one.answer.setting: one.setting for one in questions}
    compared = {key: found for key, found in by_setting.items() if any(len(one.ranked) > 1 for one in found.values())}
    if not compared:
        return None
    shown = [one for found in compared.values() for one in found.values()]
    scales = sorted({(one.devices, one.nodes, answers.scale(one)) for one in shown})
    linear = next((one for one in book.evaluation.verdicts if one.criterion == "C1"), None)
    threshold = linear.threshold if linear else None
    shown_scales = [name for _, _, name in scales]
    judged = {key: threshold if key.strong_batch is None or book.judges_strong else None for key in compared}
    rows = [
        WinnerRow(
            model=names.model(key.model),
            span=1,
            setting=unbroken(labels[key], words),
            cells=tuple(_winner(found.get(scale), words) for scale in shown_scales),
            efficiencies=tuple(_efficiency(found.get(scale), judged[key], words) for scale in shown_scales),
        )
        for key, found in compared.items()
    ]
    needed = _needed_by_all(rows, words)
    return WinnerMatrix(
        scales=tuple(shown_scales),
        title=words(_title(shown)),
        long_names=any(one.scope.among == "variants" for one in shown),
        rows=_spanned(rows),
        left_out=len(by_setting) - len(compared),
        threshold=numbers.limit(threshold) if threshold is not None else None,
        min_nodes=linear.min_nodes if linear else None,
        has_efficiency=any(cell.value for row in rows for cell in row.efficiencies),
        needed=needed,
        published=all(one.said == "published" for one in shown if len(one.ranked) > 1),
    )


def _needed_by_all(rows: Sequence[WinnerRow], words: Words) -> Rendered | None:
    found = [cell.note for row in rows for cell in row.cells if cell.tone == "open" and cell.note]
    alike = len({one.plain(words.languages[0]) for one in found}) == 1
    return found[0] if alike and len(found) >= FEWEST_ALIKE else None


def _title(shown: Sequence[Answer]) -> str:
    among = {one.scope.among for one in shown}
    return "matrix.winners_mixed" if len(among) > 1 else f"matrix.winners_{among.pop()}"


def _spanned(rows: Sequence[WinnerRow]) -> tuple[WinnerRow, ...]:
    counted = Counter(row.model for row in rows)
    first = {row.model: place for place, row in reversed(list(enumerate(rows)))}
    return tuple(
        replace(row, span=counted[row.model] if first[row.model] == place else 0) for place, row in enumerate(rows)
    )


def _winner(answer: Answer | None, words: Words) -> WinnerCell:
    if answer is None or not answer.ranked:
        return WinnerCell(tone="none", ref=answers.anchor(answer) if answer else "")
    ref, first = answers.anchor(answer), answers.name(answer, answer.ranked[0].summary, words)
    if answer.said == "alone":
        return WinnerCell(tone="none", ref=ref, winner=first, note=words("matrix.alone"))
    pair, flagged = answer.lead_pair, any(one.flags for one in answer.leaders)
    return WinnerCell(
        tone="open" if flagged and answer.said == "published" else TONES.get(answer.said, "open"),
        ref=ref,
        winner=_level(answer, words) if answer.level else first,
        lead=f"+{numbers.gain(pair.lead).text}" if pair else "",
        pair=" ".join(names.case_anchor(one.case) for one in (pair.first, pair.second)) if pair else "",
        evidence=pair.evidence if pair else "",
        flagged=flagged,
        note=_needs(answer, words),
    )


def _level(answer: Answer, words: Words) -> Rendered:
    leading = [answers.name(answer, one.summary, words) for one in answer.leaders]
    more = len(leading) - MOST_NAMED
    found = words.listed([*leading[:MOST_NAMED], *([f"+{more}"] if more > 0 else [])])
    return replace(found, separators=LEVEL[answer.said])


def _needs(answer: Answer, words: Words) -> Rendered | None:
    found = [one for one in (_open(answer, words), _of_ranked(answer, words)) if one]
    return replace(words.listed(found), separators=NOTES) if found else None


def _of_ranked(answer: Answer, words: Words) -> Rendered | None:
    n = numbers.count(len(answer.ranked))
    if answer.passed_over:
        return words("matrix.of_passed", n=n, passed_text=leads.passed(answer, words))
    return words("matrix.of_ranked", n=n) if answer.left_out and answer.said in TONES else None


def _open(answer: Answer, words: Words) -> Rendered | None:
    if answer.said in TONES:
        return None
    known = words(f"evidence.{OF_SAID[answer.said]}")
    if answer.deciding is None:
        return known
    runs = {"runs": numbers.count(answer.deciding.runs)} if answer.deciding.needed == "repeats" else {}
    return words(f"matrix.needs_{answer.deciding.needed}", evidence_text=known, **runs)


def _efficiency(answer: Answer | None, threshold: float | None, words: Words) -> EfficiencyCell:
    best = most_efficient(answer) if answer else None
    if answer is None or best is None or best.efficiency is None:
        return EfficiencyCell(outcome="none", ref="")
    found = best.efficiency
    low, high = (found.value if end is None else end for end in (found.low, found.high))
    highest = answer.ranked[0].summary.items_per_s.value
    return EfficiencyCell(
        outcome="information"
        if threshold is None
        else "pass"
        if low >= threshold
        else "fail"
        if high < threshold
        else "undetermined",
        ref=answers.anchor(answer),
        name=answers.name(answer, best, words),
        value=numbers.percent(found.value).to(names.case_anchor(best.case)),
        share=numbers.percent(best.items_per_s.value / highest).text if best.items_per_s.value < highest else "",
    )

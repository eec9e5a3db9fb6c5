"""Acceptance: which criteria these data can judge, and what each says."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from evalsuite.core.messages import dotted
from evalsuite.core.model import Outcome, Verdict, by_key
from evalsuite.report.sections.verdict.cards import Card, CardCell
from evalsuite.report.text import names
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Rendered, Words

INFORMATION = "C3"  # stated by the headlines and the winner matrix
NOT_HERE = (  # reasons why a criterion cannot apply
    *("no_large_scale", "strong_only", "no_samples", "no_gpu", "nothing_to_compare"),
)
SAID_BY_THE_VALUE = ("met", "not_met", "met_of", "not_met_of")  # reasons that value and outcome already tell


def applies(verdict: Verdict) -> bool:
    return verdict.criterion != INFORMATION and verdict.reason not in NOT_HERE


def is_left_out(card: Card) -> bool:
    return card.verdict.criterion != INFORMATION and not applies(card.verdict)


def not_here(cards: Sequence[Card], words: Words) -> Rendered | None:
    left = [card for card in cards if is_left_out(card)]
    if not left:
        return None
    by_reason = by_key((card.verdict.reason, card) for card in left)
    parts = [
        words(
            "acceptance.because",
            criteria=words.listed(words.same(card.verdict.criterion).about(card.id) for card in members),
            reason_text=members[0].reason or words("words.none"),
        )
        for members in by_reason.values()
    ]
    return words.sentences(parts)


def about(card: Card) -> str:
    case = card.verdict.case
    return dotted(names.model(case.model), names.precision(case.precision)) if case else ""


@dataclass(frozen=True, kw_only=True)
class Judgement:
    criterion: str
    outcome: Outcome
    ref: str
    value: Number | None
    note: int | None


@dataclass(frozen=True, kw_only=True)
class AcceptanceMatrix:
    criteria: tuple[str, ...]
    models: tuple[tuple[str, int], ...]
    precisions: tuple[str, ...]
    # framework → a cell for each column: a judgement for each criterion about it, none where it was not planned
    rows: tuple[tuple[str, tuple[tuple[Judgement, ...], ...]], ...]
    notes: tuple[Rendered, ...]


def matrix(cards: Sequence[Card]) -> AcceptanceMatrix | None:
    judged = [(card, cell) for card in cards for cell in card.cells]
    columns = sorted({_column(cell) for _, cell in judged}, key=_order)
    frameworks = sorted({cell.cell.framework for _, cell in judged}, key=lambda name: names.framework(name).casefold())
    if len(columns) * len(frameworks) < 2:
        return None
    reasons: dict[tuple[str, object], Rendered] = {}
    for _, cell in judged:
        if cell.reason and cell.cell.reason not in SAID_BY_THE_VALUE:
            reasons.setdefault((cell.cell.reason, cell.cell.values), cell.reason)
    numbered = {key: number for number, key in enumerate(reasons, 1)}

    def judgements(framework: str, column: tuple[str, str]) -> Iterable[Judgement]:
        for card, cell in judged:
            if (cell.cell.framework, _column(cell)) == (framework, column):
                yield Judgement(
                    criterion=card.verdict.criterion,
                    outcome=cell.cell.outcome,
                    ref=names.case_anchor(cell.cell.case) if cell.cell.case else card.id,
                    value=cell.value,
                    note=numbered.get((cell.cell.reason, cell.cell.values)),
                )

    return AcceptanceMatrix(
        criteria=tuple(dict.fromkeys(card.verdict.criterion for card, _ in judged)),
        models=tuple((names.model(model), len(list(same))) for model, same in groupby(columns, key=lambda col: col[0])),
        precisions=tuple(names.precision(precision) for _, precision in columns),
        rows=tuple(
            (names.framework(name), tuple(tuple(judgements(name, column)) for column in columns)) for name in frameworks
        ),
        notes=tuple(reasons.values()),
    )


def _column(cell: CardCell) -> tuple[str, str]:
    return cell.cell.model, cell.cell.precision


def _order(column: tuple[str, str]) -> tuple[object, ...]:
    model, precision = column
    known = list(names.PRECISIONS)
    return names.model_order(model), known.index(precision) if precision in known else len(known), precision

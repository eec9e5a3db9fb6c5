"""Acceptance: which criteria can be judged here, and one line for the others."""

from collections.abc import Sequence

from evalsuite.model import Verdict
from evalsuite.report.sections.verdict.cards import Card
from evalsuite.report.text import names
from evalsuite.report.text.words import Rendered, Text, Traced, Words

INFORMATION = "C3"  # said by the headlines and the winner matrix
NOT_HERE = (  # reasons why a criterion cannot apply
    *("no_large_scale", "strong_only", "no_samples", "no_gpu", "nothing_to_compare"),
)


def applies(verdict: Verdict) -> bool:
    """Whether *verdict* is about a criterion that these data can pass or fail."""
    return verdict.criterion != INFORMATION and verdict.reason not in NOT_HERE


def not_here(found: Sequence[Card], words: Words) -> Text | None:
    """The criteria that cannot apply, with the reason, in one sentence; one reason said once."""
    left = [card for card in found if card.verdict.criterion != INFORMATION and not applies(card.verdict)]
    if not left:
        return None
    by_reason: dict[str, list[Card]] = {}
    for card in left:
        by_reason.setdefault(card.verdict.reason, []).append(card)
    parts = [
        words(
            "acceptance.because",
            criteria=words.listed(_named(card, words) for card in members),
            reason_text=members[0].reason or words("words.none"),
        )
        for members in by_reason.values()
    ]
    return words("acceptance.not_here", reasons_text=words.sentences(parts))


def _named(card: Card, words: Words) -> Rendered:
    return Traced(words=words, inside=words.same(card.verdict.criterion), ref=card.id)


def about(card: Card) -> str:
    """Model and precision that the card's value is of: no figure stands without them."""
    case = card.verdict.case
    return f"{names.model(case.model)} · {names.precision(case.precision)}" if case else ""

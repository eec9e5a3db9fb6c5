"""`suspicions` of `summary.json`: what a reviewer would ask (docs/contracts.md#summaryjson)."""

from typing import Any

from evalsuite.results.rules.suspicions import AtChance, FarBelow, OneClock, OutsidePublished, SlowBase, Suspicion


def document(one: Suspicion) -> dict[str, Any]:
    """The rule, the cases, the figure that is odd, and the lowest and highest that would not be."""
    match one:
        case FarBelow():
            return _entry("far_below", [one.one.case.id], one.one.items_per_s.value, one.median, None, one.settings)
        case OutsidePublished():
            value, known = one.one.items_per_s.value, one.range
            return _entry("outside_published", [one.one.case.id], value, known.low, known.high, one.settings)
        case SlowBase():
            cases = [one.one.case.id, one.base.case.id]
            return _entry("slow_base", cases, one.share, 1.0, None, one.settings)
        case AtChance():
            return _entry("at_chance", [one.one.case.id], one.score.value, 100 / one.classes, None, ())
        case OneClock():
            return _entry("one_clock", [case.id for case in one.cases], None, None, None, ())


def _entry(
    rule: str,
    cases: list[str],
    value: float | None,
    low: float | None,
    high: float | None,
    settings: tuple[str, ...],
) -> dict[str, Any]:
    return {"rule": rule, "cases": cases, "value": value, "low": low, "high": high, "settings": list(settings)}

"""What a model expects at the scales of `--forecast`, which were not measured (docs/numbers.md#extrapolation).
Every value here carries ≈; none leaves this section."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from evalsuite.report.book.states import MARKS
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.text import numbers
from evalsuite.report.text.numbers import Form, Number
from evalsuite.results.judge import extrapolation
from evalsuite.results.judge.extrapolation import Forecast


def sections(subject: Subject) -> Iterable[Section]:
    if found := _find(subject):
        yield Section(
            id="forecasts",
            title=subject.words("forecasts.title"),
            template="forecasts/forecasts.html.j2",
            facts=lambda: {"found": found},
        )


def _find(subject: Subject) -> Mapping[str, Any] | None:
    book, words = subject.book, subject.words
    asked = {row.case.at_scale(*scale) for row in book.valid for scale in book.evaluation.forecast}
    outlook_of = {outlook.largest.case.series: outlook for outlook in extrapolation.outlooks(book.valid, asked)}
    places: list[dict[str, Any]] = [
        {"block": block, "column": column, "outlook": outlook}
        for block in subject.blocks
        for column in block.columns
        if (outlook := outlook_of.get(column.example.series))
    ]
    if not places:
        return None
    return {
        "rows": [{**place, **_row(forecast)} for place in places for forecast in place["outlook"].forecasts],
        "refusals": [
            {**place, "refusal": refusal, "reason": words(f"forecasts.{refusal.reason}", **dict(refusal.values))}
            for place in places
            for refusal in place["outlook"].refusals
        ],
    }


def _row(forecast: Forecast) -> Mapping[str, Any]:
    return {
        "forecast": forecast,
        "throughput": _about(forecast.items_per_s.value, numbers.throughput),
        "throughput_interval": numbers.interval(forecast.items_per_s, numbers.throughput),
        "efficiency": _about(forecast.efficiency.value, numbers.percent),
        "efficiency_interval": numbers.interval(forecast.efficiency, numbers.percent),
        "far": (forecast.efficiency.high or 0.0) > extrapolation.HARDLY_REACHED,
    }


def _about(value: float, form: Form) -> Number:
    """A value that was not measured, with the sign that says so."""
    number = form(value)
    return replace(number, text=f"{MARKS['simulated']}{number.text}")

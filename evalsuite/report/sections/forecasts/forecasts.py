"""What a model expects at the scales of `--forecast`, which were not measured (docs/report.md#extrapolation).

Every value here carries ≈; none leaves this section.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evalsuite.report.book.blocks import Block, Column, Model
from evalsuite.report.book.book import Book
from evalsuite.report.book.states import MARKS
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.text import numbers
from evalsuite.report.text.numbers import Form, Number
from evalsuite.report.text.words import Text, Words
from evalsuite.results.judge import extrapolation
from evalsuite.results.judge.extrapolation import Forecast, Outlook, Refusal

APPROXIMATELY = MARKS["simulated"]


@dataclass(frozen=True, kw_only=True)
class ForecastRow:
    block: Block
    column: Column
    outlook: Outlook
    forecast: Forecast
    throughput: Number
    throughput_interval: Number | None
    efficiency: Number
    efficiency_interval: Number | None


@dataclass(frozen=True)
class RefusalRow:
    block: Block
    column: Column
    outlook: Outlook
    refusal: Refusal
    reason: Text


@dataclass(frozen=True, kw_only=True)
class Forecasts:
    rows: tuple[ForecastRow, ...]
    refusals: tuple[RefusalRow, ...]
    validations: tuple[extrapolation.Validation, ...]


def sections(subject: Subject) -> Iterable[Section]:
    outlooks = forecasts(subject.book, subject.models, subject.words)
    if outlooks is not None:
        yield Section(
            id="forecasts",
            title=subject.words("forecasts.title"),
            template="forecasts/forecasts.html.j2",
            facts=lambda: {
                "found": outlooks,
                "sources": extrapolation.sources(),  # of the published series that the model was checked against
            },
            markdown=lambda writer: writer.fill("forecasts/forecasts.md.j2", forecasts=outlooks),
        )


def forecasts(book: Book, models: Sequence[Model], words: Words) -> Forecasts | None:
    asked = {row.case.at_scale(*scale) for row in book.valid for scale in book.evaluation.forecast}
    outlook_of = {outlook.largest.case.series: outlook for outlook in extrapolation.outlooks(book.valid, asked)}
    places = [
        (block, column, outlook_of[column.series])
        for model in models
        for block in model.blocks
        for column in block.columns
        if column.series in outlook_of
    ]
    if not places:
        return None
    rows = tuple(_row(*place, forecast) for place in places for forecast in place[2].forecasts)
    return Forecasts(
        rows=rows,
        refusals=tuple(
            RefusalRow(block, column, outlook, refusal, words(f"forecasts.{refusal.reason}", **dict(refusal.values)))
            for block, column, outlook in places
            for refusal in outlook.refusals
        ),
        validations=tuple(dict.fromkeys(sorted((r.forecast.validation for r in rows), key=lambda v: v.doublings))),
    )


def _row(block: Block, column: Column, outlook: Outlook, forecast: Forecast) -> ForecastRow:
    return ForecastRow(
        block=block,
        column=column,
        outlook=outlook,
        forecast=forecast,
        throughput=about(forecast.items_per_s.value, numbers.throughput),
        throughput_interval=numbers.interval(forecast.items_per_s, numbers.throughput),
        efficiency=about(forecast.efficiency.value, numbers.percent),
        efficiency_interval=numbers.interval(forecast.efficiency, numbers.percent),
    )


def about(value: float, form: Form) -> Number:
    """A value that was not measured, with the sign that says so."""
    number = form(value)
    return replace(number, text=f"{APPROXIMATELY}{number.text}")

"""What a model expects at planned scales that were not measured (docs/report.md#extrapolation).

Every value here carries ≈; none leaves this section.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evalsuite.report import figures
from evalsuite.report.book.blocks import Block, Column, Model
from evalsuite.report.book.book import Book
from evalsuite.report.book.states import MARKS
from evalsuite.report.figures import Look
from evalsuite.report.sections.common.captioned_figure import CaptionedFigure, setting
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.text import names, numbers
from evalsuite.report.text.numbers import Form, Number
from evalsuite.report.text.words import Text, Words
from evalsuite.results.judge import extrapolation
from evalsuite.results.judge.extrapolation import Expected, Forecast, Outlook, Refusal

APPROXIMATELY = MARKS["simulated"]
MOST_FIGURES = 6


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
    offered: tuple[tuple[Block, Column, Outlook], ...]
    validations: tuple[extrapolation.Validation, ...]

    @property
    def left_out(self) -> int:
        return max(0, len(self.offered) - MOST_FIGURES)


def sections(subject: Subject) -> Iterable[Section]:
    outlooks = forecasts(subject.book, subject.models, subject.words)
    if outlooks is not None:
        yield Section(
            id="forecasts",
            title=subject.words("forecasts.title"),
            template="forecasts/forecasts.html.j2",
            facts=lambda: {
                "found": outlooks,
                "figures": [_draw(*place, subject.look, subject.words) for place in outlooks.offered[:MOST_FIGURES]],
                "sources": extrapolation.sources(),  # of the published series that the model was checked against
            },
            markdown=lambda writer: writer.fill("forecasts/forecasts.md.j2", forecasts=outlooks),
            finding=lambda facts: facts["figures"][0].title if facts["figures"] else None,
        )


def forecasts(book: Book, models: Sequence[Model], words: Words) -> Forecasts | None:
    outlook_of = {outlook.largest.case.series: outlook for outlook in extrapolation.outlooks(book.valid, book.planned)}
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
        offered=tuple(place for place in places if place[2].forecasts),
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


def _draw(block: Block, column: Column, outlook: Outlook, look: Look, words: Words) -> CaptionedFigure:
    measured = figures.series_of(outlook.measured, "efficiency", {column.series: column.label})[0]
    anchored = tuple(replace(point, ref=names.anchor("c", point.ref)) for point in measured.points)
    figure = figures.extrapolation(
        replace(measured, points=anchored, variant=column.variant),
        _curve(outlook),
        look,
        id=f"f-{block.id}-x{column.id.removeprefix('s-')}",
        threshold=block.efficiency_threshold,
    )
    last = outlook.forecasts[-1]
    said = words(
        "forecasts.sentence",
        framework=column.label,
        measured=numbers.count(outlook.largest.case.total_devices),
        target=numbers.count(last.case.total_devices),
        distance=numbers.plain(round(last.distance, 1)),
        efficiency=about(last.efficiency.value, numbers.percent),
        interval=numbers.interval(last.efficiency, numbers.percent),
        base=words("headlines.base", devices=numbers.count(outlook.base.case.total_devices)),
        error=numbers.percent(last.validation.median_error),
        series=numbers.count(last.validation.series),
        sources=numbers.count(last.validation.sources),
        inside=numbers.percent(last.validation.inside),
    )
    title = words(
        "forecasts.title_found",
        framework=column.label,
        measured=numbers.count(outlook.largest.case.total_devices),
        target=numbers.count(last.case.total_devices),
        efficiency=about(last.efficiency.value, numbers.percent),
    )
    return CaptionedFigure(
        figure=figure, title=title, reading=(setting(block, words), said), help=words("forecasts.see")
    )


def _curve(outlook: Outlook) -> tuple[figures.ExpectedPoint, ...]:
    last, target = outlook.largest.case.total_devices, outlook.forecasts[-1].case.total_devices
    doubled = {last * 2**k for k in range(1, 64) if last * 2**k < target}
    planned = {forecast.case.total_devices for forecast in outlook.forecasts}
    return tuple(_point(devices, outlook.expected(devices)) for devices in sorted(doubled | planned))


def _point(devices: int, expected: Expected) -> figures.ExpectedPoint:
    share = expected.efficiency
    return figures.ExpectedPoint(devices=devices, value=share, low=share / expected.reach, high=share * expected.reach)

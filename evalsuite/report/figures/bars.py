"""Speed-up as bars next to their ideal."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evalsuite.report.figures import ticks
from evalsuite.report.figures.data import Axis, Figure, ScalePoint, ScaleSeries, as_drawn, point_notes, point_table
from evalsuite.report.figures.scaling import NARROW, WIDEST_RANGE, counts_of, drawable, legend, positive
from evalsuite.report.figures.shapes import Box, bars, cores, outlines, whiskers
from evalsuite.report.figures.sheet import SMALL, TEXT, Panel, Sheet, draw, marker_style, text_width
from evalsuite.report.figures.style import Hue, Look

if TYPE_CHECKING:
    from matplotlib.transforms import Transform


def speedup(series: Sequence[ScaleSeries], look: Look, *, id: str) -> Figure:
    """Speed-up as bars grouped by devices, each in the outlined box that ideal scaling would fill.

    Scales too far apart for one linear axis (1 beside 1000) are put in panels side by side.
    """
    visible = above_base(series)
    return Figure(
        id=id,
        svg=draw(_speedup, id, look, as_drawn(visible)) if visible else None,
        table=point_table(visible, "speedup", "x", given=series),
        legend=legend(as_drawn(visible), look, ("ideal_box",), form="bar"),
        axes=(Axis(key="devices"), Axis(key="speedup", unit="x")),
        notes=point_notes(visible),
    )


def above_base(series: Sequence[ScaleSeries]) -> tuple[ScaleSeries, ...]:
    """*series* without their bases, of which speed-up and efficiency say nothing."""
    kept = [
        replace(each, points=tuple(p for p in each.points if p.devices != each.base_devices))
        for each in drawable(series)
    ]
    return tuple(each for each in kept if each.points)


def _speedup(id: str, look: Look, series: Sequence[ScaleSeries]) -> str:
    height = 340
    sheet = Sheet(id, height=height)
    chunks = _chunks(counts_of(series))
    shares = [len(chunk) + 0.3 for chunk in chunks]
    unit_width = (sheet.width - 12 - 58 * len(chunks)) / sum(shares)
    left = 48.0
    for chunk, share in zip(chunks, shares, strict=True):
        panel = sheet.panel(left, 28, left + unit_width * share, height - 48)
        _speedup_panel(sheet, panel, chunk, series, look, unit_width)
        left += unit_width * share + 58
    return sheet.svg()


def _chunks(counts: Sequence[int]) -> list[list[int]]:
    span = counts[-1] / counts[0]
    pieces = max(1, math.ceil(math.log(span) / math.log(WIDEST_RANGE))) if span > 1 else 1
    step = span ** (1 / pieces)
    chunks: list[list[int]] = [[] for _ in range(pieces)]
    for count in counts:
        place = math.log(count / counts[0]) / math.log(step) if span > 1 else 0
        chunks[min(math.floor(place + 1e-9), pieces - 1)].append(count)
    return [chunk for chunk in chunks if chunk]


def _speedup_panel(
    sheet: Sheet, panel: Panel, counts: Sequence[int], series: Sequence[ScaleSeries], look: Look, group: float
) -> None:
    ideals = [m / s.base_devices for s in series for m in counts]
    values = [v for s in series for p in s.points if p.devices in counts for v in (p.value, p.high) if positive(v)]
    panel.set_xlim(-0.65, len(counts) - 0.35)
    panel.set_ylim(0, max(*ideals, *values, 0) * 1.1)
    ticks.label_rows(sheet, panel, ticks.linear(0, panel.get_ylim()[1], 5), lambda v: f"{ticks.number(v)}x")
    width = min(0.84 / len(series), 60 / group)
    columns = _bars_of(series, counts, width)
    every = [bar for bars_of_one in columns for bar in bars_of_one]
    for each, members in zip(series, columns, strict=True):
        boxes = [(bar.box(bar.point.shown), bar.point) for bar in members]
        bars(sheet, panel, boxes, look.hue(each.framework), each.framework)
        cores(panel, [box for box, point in boxes if not point.hollow], each.variant)
        _feet(sheet, panel, members, look.hue(each.framework), width * group)
    outlines(panel, _ideal_boxes(series, counts, every, width, width * group))
    spans = [(bar.middle, *span) for bar in every if (span := bar.point.interval)]
    whiskers(panel, spans, wide=width * group >= NARROW)
    for bar in every:
        _speedup_label(sheet, panel, bar, width * group)
    for i, count in enumerate(counts):
        x, y = sheet.pixel(panel, i, 0)
        sheet.write(x, y + 34, ticks.number(count), anchor="center", size=TEXT, colour="ink")


@dataclass(frozen=True, kw_only=True)
class _Bar:
    """Place of a bar (1 = the width of a group)."""

    point: ScalePoint
    left: float
    width: float
    ideal: float

    @property
    def middle(self) -> float:
        return self.left + self.width / 2

    def box(self, height: float) -> Box:
        return (self.left, 0, self.width, height)


def _bars_of(series: Sequence[ScaleSeries], counts: Sequence[int], width: float) -> list[list[_Bar]]:
    def bar(point: ScalePoint, place: int, base: int) -> _Bar:
        left = counts.index(point.devices) + (place - len(series) / 2 + 0.06) * width
        return _Bar(point=point, left=left, width=0.88 * width, ideal=point.devices / base)

    return [
        [bar(point, place, each.base_devices) for point in each.points if point.devices in counts]
        for place, each in enumerate(series)
    ]


def _ideal_boxes(
    series: Sequence[ScaleSeries], counts: Sequence[int], every: Sequence[_Bar], width: float, pixels: float
) -> list[Box]:
    bases = {each.base_devices for each in series}
    if pixels >= NARROW or len(bases) > 1:
        return [bar.box(bar.ideal) for bar in every]
    whole = width * len(series)
    return [(i - whole / 2, 0, whole, count / min(bases)) for i, count in enumerate(counts)]


def _speedup_label(sheet: Sheet, panel: Panel, bar: _Bar, pixels: float) -> None:
    value = bar.point.shown
    forms = (f"{value:,.2f}", f"{value:,.1f}", f"{value:,.0f}")
    text = next((form for form in forms if text_width(form) <= pixels), "")
    if text:
        x, y = sheet.pixel(panel, bar.middle, max(bar.point.shown, bar.point.high or 0))
        _, lid = sheet.pixel(panel, bar.middle, bar.ideal)
        crosses = lid - 13 < y - 8 < lid + 14 or text_width(text) > pixels
        place = min(lid, y) - 8 if crosses else y - 8  # never across the edges of the box
        sheet.write(x, place, text, anchor="center", size=SMALL, colour="ink", style="halo")


def _feet(sheet: Sheet, panel: Panel, bars_of_one: Sequence[_Bar], hue: Hue, pixels: float) -> None:
    """Markers under the bars: identity without colour."""
    for hollow in (False, True):
        xs = [bar.middle for bar in bars_of_one if bar.point.hollow == hollow]
        if xs and pixels >= NARROW:
            style = marker_style(hue, hollow=hollow)
            style["markersize"] *= min(1, pixels / 12)
            panel.plot(xs, [0] * len(xs), transform=_below(sheet, panel), **style)


def _below(sheet: Sheet, panel: Panel) -> "Transform":
    from matplotlib.transforms import ScaledTranslation

    return panel.transData + ScaledTranslation(0, -11 / 72, sheet.figure.dpi_scale_trans)

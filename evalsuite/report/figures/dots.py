"""Scaling efficiency as dots: a row for each series, a dot for each scale."""

import math
from collections.abc import Sequence

from evalsuite.report.figures import data, ticks
from evalsuite.report.figures.scaling import above_base
from evalsuite.report.figures.shapes import row_chart
from evalsuite.report.figures.sheet import SMALL, WIDTH, Panel, Sheet, draw, text_width
from evalsuite.report.figures.style import ROLES, Hue, Look

ROW, TOP, BOTTOM = 34, 12, 32
SMALLEST = 0.62  # of a marker: that of the smallest scale; the largest scale has the whole
LEAST_TOP = 1.02  # of the axis: 100 % is always on it


def efficiency(
    series: Sequence[data.ScaleSeries], look: Look, *, id: str, threshold: float | None = None
) -> data.Figure:
    """Scaling efficiency (1.0 = linear), x from 0 to at least 100 %, sorted by the largest scale.

    Bases are not drawn: their efficiency is 100 % by definition.
    """
    visible = tuple(sorted(above_base(series), key=_order))
    return data.Figure(
        id=id,
        svg=draw(_dots, id, look, data.as_drawn(visible), threshold) if visible else None,
        table=data.point_table(visible, "efficiency", "", given=series),
        legend=(data.note_entry("ideal"), *((data.note_entry("threshold"),) if threshold else ())),
        axes=(data.Axis(key="efficiency", unit="%"),),
        notes=data.point_notes(visible),
    )


def _order(series: data.ScaleSeries) -> tuple[int, float]:
    last = series.points[-1]
    return -last.devices, -last.shown


def _dots(id: str, look: Look, series: Sequence[data.ScaleSeries], threshold: float | None) -> str:
    sheet, panel = row_chart(
        id,
        [each.name for each in series],
        row=ROW,
        top=TOP,
        foot=BOTTOM,
        right=WIDTH - 64,
        widest=240,
        gap=20,
        values=[ticks.percent_value(each.points[-1].shown, threshold) for each in series],
    )
    highest = max(v for each in series for p in each.points for v in (p.shown, p.high or 0) if math.isfinite(v))
    panel.set_xlim(0, max(LEAST_TOP, highest * 1.02))
    ticks.label_columns(sheet, panel, ticks.linear(*panel.get_xlim(), 5), ticks.percent, grid=True)
    panel.axvline(1, color=ROLES["rule"], linewidth=1.2, dashes=(2, 3), zorder=1.4)
    if threshold:
        panel.axvline(threshold, color=ROLES["ink"], linewidth=1.3, dashes=(6, 3), zorder=1.5)
    for place, each in enumerate(series):
        _row(sheet, panel, each, look.hue(each.framework), place)
    return sheet.svg()


def _row(sheet: Sheet, panel: Panel, series: data.ScaleSeries, hue: Hue, place: int) -> None:
    xs = [point.shown for point in series.points]
    (line,) = panel.plot((min(xs), max(xs)), (place, place), color=ROLES[hue.name], linewidth=1.4, zorder=2)
    sheet.belongs(line, series.framework)
    last = series.points[-1]
    if last.interval:
        panel.hlines(place, *last.interval, color=ROLES["ink"], linewidth=1, zorder=5)
    for i, point in enumerate(series.points):
        scale = SMALLEST + (1 - SMALLEST) * (i / (len(xs) - 1) if len(xs) > 1 else 1)
        at = ([point.shown], [place])
        sheet.dots(panel, *at, hue, [point.ref], series.framework, hollow=point.hollow, scale=scale, zorder=3 + i / 100)
    _counts(sheet, panel, series.points, place)


def _counts(sheet: Sheet, panel: Panel, points: Sequence[data.ScalePoint], place: int) -> None:
    taken: list[tuple[float, float]] = []
    for point in reversed(points):
        x, y = sheet.pixel(panel, point.shown, place)
        text = ticks.number(point.devices)
        half = text_width(text, SMALL) / 2 + 1.5
        if all(x + half <= low or x - half >= high for low, high in taken):
            taken.append((x - half, x + half))
            sheet.write(x, y - 12, text, anchor="center", size=SMALL, style="halo")

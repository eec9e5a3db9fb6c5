"""Figures over the number of devices: throughput, speed-up, efficiency, per-device throughput."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeGuard

from evalsuite.report.figures import ticks
from evalsuite.report.figures.cache import drawn
from evalsuite.report.figures.data import (
    Axis,
    Figure,
    Label,
    LegendEntry,
    ScalePoint,
    ScaleSeries,
    point_notes,
    point_table,
)
from evalsuite.report.figures.shapes import Box, bars, cores, lead, whiskers
from evalsuite.report.figures.sheet import SMALL, TEXT, Panel, Sheet, marker_style, shortened, spread, text_width
from evalsuite.report.figures.style import DOTTED, ROLES, Hue, Look, note_swatch, swatch

_TOP, _BOTTOM = 34, 34  # room for the unit above and the numbers below a panel, in pixels
_ROW = 30  # a row of a horizontal chart
WIDEST_RANGE = 40  # largest ÷ smallest scale that share one linear axis of bars
_END = 60  # pixels: a series that ends further from its label is named beside its last mark
NARROW = 8  # pixels: thinner bars share one ideal box and have no marker below


def throughput(series: Sequence[ScaleSeries], look: Look, *, id: str, unit: str, logarithmic: bool = True) -> Figure:
    """Throughput of the whole job against devices, log–log, with the ideal line from each base.

    `logarithmic=False` is the toggle: y linear from 0, x as before.
    """
    form = _Form(logarithmic=logarithmic, ideal="proportional", unit=unit)
    return _figure(series, look, id, form, "items_per_s")


def per_device(series: Sequence[ScaleSeries], look: Look, *, id: str, unit: str) -> Figure:
    """Throughput per device, y from 0: flat is perfect. Points carry items/s per device."""
    return _figure(series, look, id, _Form(ideal="flat", unit=unit), "items_per_s_per_device")


def time_to_solution(series: Sequence[ScaleSeries], look: Look, *, id: str, unit: str = "s") -> Figure:
    """Time to a stated end against devices, log–log, with the ideal line falling from each base."""
    form = _Form(logarithmic=True, ideal="inverse", unit=unit)
    return _figure(series, look, id, form, "time_to_solution")


def efficiency(series: Sequence[ScaleSeries], look: Look, *, id: str, threshold: float | None = 0.8) -> Figure:
    """Scaling efficiency (1.0 = linear) against devices, y from 0 to at least 105 %, with the threshold."""
    form = _Form(percent=True, threshold=threshold, ideal="one", least_top=1.05)
    return _figure(series, look, id, form, "efficiency")


@dataclass(frozen=True, kw_only=True)
class _Form:
    """What the line figures differ in."""

    logarithmic: bool = False
    percent: bool = False
    threshold: float | None = None
    ideal: Literal["proportional", "inverse", "flat", "one"] = "flat"
    least_top: float = 0.0
    unit: str = ""

    @property
    def tick(self) -> Callable[[float], str]:
        return ticks.percent if self.percent else ticks.number

    @property
    def value(self) -> Callable[[float], str]:
        return ticks.percent_value if self.percent else ticks.rounded


def _figure(series: Sequence[ScaleSeries], look: Look, id: str, form: _Form, key: str) -> Figure:
    visible = drawable(series)
    counts = counts_of(visible)
    draw = _lines if len(counts) > 1 else _one_scale
    notes = (*(("ideal",) if len(counts) > 1 else ()), *(("threshold",) if form.threshold else ()))
    return Figure(
        id=id,
        svg=drawn(draw, id, look, visible, form) if visible else None,
        table=point_table(visible, key, "" if form.percent else form.unit, given=series),
        legend=legend(visible, look, notes, form="line" if len(counts) > 1 else "bar"),
        axes=_axes(key, form, scales=len(counts)),
        notes=point_notes(visible),
    )


def _axes(key: str, form: _Form, *, scales: int) -> tuple[Axis, ...]:
    """The horizontal axis, then the vertical one; bars of one scale have their numbers along a linear axis."""
    value = Axis(key=key, unit="%" if form.percent else form.unit, logarithmic=form.logarithmic and scales > 1)
    return (Axis(key="devices", logarithmic=True), value) if scales > 1 else (value,)


def drawable(series: Sequence[ScaleSeries]) -> tuple[ScaleSeries, ...]:
    """*series* with only the points that have a positive, finite value and a scale, sorted; none empty."""
    kept = []
    for each in series:
        points = [p for p in each.points if positive(p.value) and p.devices > 0]
        if points:
            kept.append(replace(each, points=tuple(sorted(points, key=lambda p: p.devices))))
    return tuple(kept)


def positive(value: float | None) -> TypeGuard[float]:
    return value is not None and math.isfinite(value) and value > 0


def counts_of(series: Sequence[ScaleSeries]) -> list[int]:
    return sorted({point.devices for each in series for point in each.points})


def entry(name: Label, key: str, look: Look) -> LegendEntry:
    """One line of a legend, in the hue of *key*."""
    hue = look.hue(key)
    return LegendEntry(key=key, label=name, hue=hue.index, marker=hue.marker, swatch=swatch(hue))


def legend(
    series: Sequence[ScaleSeries], look: Look, notes: Sequence[str] = (), *, form: str = "line"
) -> tuple[LegendEntry, ...]:
    """One entry per series, then what the notes name."""
    entries = []
    for each in series:
        hue = dashed(look.hue(each.framework), each.variant)
        entries.append(
            LegendEntry(
                key=each.framework,
                label=each.name,
                hue=hue.index,
                marker=hue.marker,
                swatch=swatch(hue, form=form, variant=each.variant),
            )
        )
    entries += [LegendEntry(key=key, swatch=note_swatch(key)) for key in notes]
    return tuple(entries)


def dashed(hue: Hue, variant: int) -> Hue:
    """The hue of a further series of one framework: the dash changes, colour and marker stay."""
    return replace(hue, dash=((), (2, 2), (7, 2, 2, 2), (1, 3))[min(variant, 3)]) if variant else hue


# --- lines over scales -------------------------------------------------------------------------------


def _lines(id: str, look: Look, series: Sequence[ScaleSeries], form: _Form) -> str:
    names = [each.name for each in series]
    room = min(max(text_width(name, SMALL) for name in names) + 30, 190)
    height = max(360, 17 * len(series) + 90)
    sheet = Sheet(id, height=height)
    limits, rows = _rows(series, form)
    left = max(ticks.margin(rows, form.tick), text_width(form.unit) if len(form.unit) < 12 else 0)
    panel = sheet.panel(left, _TOP, sheet.width - room, height - _BOTTOM)
    counts = counts_of(series)
    scale_columns(sheet, panel, counts)
    _scale_rows(sheet, panel, limits, rows, form)
    sheet.write(left - 6, 12, form.unit, anchor="right" if text_width(form.unit) < left - 6 else "center")
    draw_ideal(sheet, panel, series, look, form.ideal, counts)
    if form.threshold:
        panel.axhline(form.threshold, color=ROLES["ink"], linewidth=1.2, dashes=(6, 3), zorder=1.5)
    row = 0
    for each in series:
        draw_series(sheet, panel, each, look, row)
        row += len(each.points)
    end_labels(sheet, panel, series, room)
    return sheet.svg()


def scale_columns(sheet: Sheet, panel: Panel, counts: Sequence[int]) -> None:
    """A log2 axis over these device counts (or batch sizes), with a tick at each."""
    from matplotlib.ticker import NullLocator

    pad = (counts[-1] / counts[0]) ** 0.04 if counts[-1] > counts[0] else 1.3
    panel.set_xscale("log", base=2)
    panel.set_xlim(counts[0] / pad, counts[-1] * pad)
    ticks.label_columns(sheet, panel, counts)
    panel.xaxis.set_minor_locator(NullLocator())


def _rows(series: Sequence[ScaleSeries], form: _Form) -> tuple[tuple[float, float], list[float]]:
    """The limits of the y axis and the numbers at its grid lines."""
    low, high = _reach(series, form)
    if form.logarithmic:
        limits = (low / 1.25, high * 1.25)
        return limits, ticks.logarithmic(*limits)
    limits = (0, max(high * 1.06, form.least_top))
    values = ticks.linear(*limits, 6)
    if form.threshold and not any(math.isclose(form.threshold, value) for value in values):
        values = [v for v in values if abs(v - form.threshold) > 0.06] + [form.threshold]
    return limits, values


def _scale_rows(sheet: Sheet, panel: Panel, limits: tuple[float, float], values: Sequence[float], form: _Form) -> None:
    from matplotlib.ticker import NullLocator

    if form.logarithmic:
        panel.set_yscale("log")
    panel.set_ylim(*limits)
    ticks.label_rows(sheet, panel, values, form.tick)
    panel.yaxis.set_minor_locator(NullLocator())


def _reach(series: Sequence[ScaleSeries], form: _Form) -> tuple[float, float]:
    """The smallest and the largest number that the y axis must show."""
    points = [p for each in series for p in each.points]
    values = [v for p in points for v in (p.value, p.low, p.high) if positive(v)]
    if form.ideal in ("proportional", "inverse"):
        last = max(p.devices for p in points)
        values += [_ideal(base, last, form.ideal) for base in map(_base, series)]
    return min(values), max(values)


def _base(series: ScaleSeries) -> ScalePoint:
    """The point that speed-up counts from: the series' base, or the smallest scale where that is missing."""
    named = [p for p in series.points if p.devices == series.base_devices]
    return (named or series.points)[0]


def _ideal(base: ScalePoint, devices: int, kind: str) -> float:
    """What perfect scaling from *base* would give on *devices*."""
    ratio = devices / base.devices
    return base.shown * {"proportional": ratio, "inverse": 1 / ratio, "flat": 1.0}[kind]


def draw_ideal(
    sheet: Sheet, panel: Panel, series: Sequence[ScaleSeries], look: Look, kind: str, counts: Sequence[int]
) -> None:
    """What perfect scaling would be: from each base, or the one line at 100 %."""
    if kind == "one":
        panel.axhline(1, color=ROLES["rule"], linewidth=1.2, dashes=(2, 3), zorder=1.4)
        return
    crowded = len(series) > 6  # then only the coloured ones have a line of their own
    for each in series:
        if crowded and not look.hue(each.framework).index:
            continue
        base = _base(each)
        ends = (base.devices, counts[-1])
        values = [_ideal(base, m, kind) for m in ends]
        (line,) = panel.plot(
            ends, values, color=ROLES[look.hue(each.framework).name], linewidth=1.1, dashes=(1.5, 3), zorder=1.6
        )
        sheet.belongs(line, each.framework)


def draw_series(
    sheet: Sheet, panel: Panel, series: ScaleSeries, look: Look, first_row: int, *, connected: bool = True
) -> None:
    """Connection, whiskers, markers and provenance signs of one series."""
    hue = dashed(look.hue(series.framework), series.variant)
    if connected:
        _connection(sheet, panel, series, hue)
    _whiskers(sheet, panel, series, hue)
    rows = list(enumerate(series.points, first_row))
    for hollow in (False, True):
        group = [(row, p) for row, p in rows if p.hollow == hollow]
        if group:
            (dots,) = panel.plot(
                [p.devices for _, p in group],
                [p.shown for _, p in group],
                zorder=4,
                **marker_style(hue, hollow=hollow),
            )
            sheet.mark(dots, [(p.ref, row) for row, p in group], series=series.framework)
    for _, point in rows:
        if point.sign:
            x, y = sheet.pixel(panel, point.devices, point.shown)
            sheet.write(x + 7, y - 9, point.sign, size=TEXT, colour="ink", style="halo")


def _connection(sheet: Sheet, panel: Panel, series: ScaleSeries, hue: Hue) -> None:
    """A line through three scales or more, dots between two: two points show no curve."""
    if len(series.points) < 2:
        return
    dash = DOTTED if len(series.points) == 2 else hue.dash
    look: dict[str, Any] = {"dashes": dash, "dash_capstyle": "round" if dash == DOTTED else "butt"} if dash else {}
    xs, ys = [p.devices for p in series.points], [p.shown for p in series.points]
    (line,) = panel.plot(xs, ys, color=ROLES[hue.name], linewidth=2, zorder=3, **look)
    sheet.belongs(line, series.framework)


def _whiskers(sheet: Sheet, panel: Panel, series: ScaleSeries, hue: Hue) -> None:
    spans = [(p.devices, *p.interval) for p in series.points if p.interval]
    if spans:
        xs, lows, highs = zip(*spans, strict=True)
        whiskers = panel.vlines(xs, lows, highs, color=ROLES[hue.name], linewidth=1.2, zorder=3.5)
        sheet.belongs(whiskers, series.framework)


def end_labels(sheet: Sheet, panel: Panel, series: Sequence[ScaleSeries], room: float) -> None:
    """Names after the ends of their lines, moved apart, with a thin lead where they moved."""
    left = sheet.width - room + 16
    columns: dict[float, list[tuple[ScaleSeries, float]]] = {}
    for each in series:
        x, y = sheet.pixel(panel, each.points[-1].devices, each.points[-1].shown)
        columns.setdefault(x, []).append((each, y))
    for x, members in columns.items():
        at_the_end = left - x <= _END
        places = spread([y for _, y in members], 16, _TOP, sheet.height - _BOTTOM - 2)
        for (each, y), place in zip(members, places, strict=True):
            if at_the_end and abs(place - y) > 3:
                lead(sheet, [(x + 7, y), (left - 10, place), (left - 3, place)])
            name = shortened(each.name, room - 18)
            if at_the_end:
                sheet.write(left, place, name, colour="ink")
            else:  # a series that ends early is named where it ends: a lead across the panel looks like a line
                sheet.write(x + 9, place + 14, name, colour="ink", style="halo")


# --- one scale: bars from 0, no line -----------------------------------------------------------------


def _one_scale(id: str, look: Look, series: Sequence[ScaleSeries], form: _Form) -> str:
    names = max(text_width(each.name, TEXT) for each in series)
    left = min(names + 20, 240)
    height = _ROW * len(series) + 52
    sheet = Sheet(id, height=height)
    panel = sheet.panel(left, 8, sheet.width - 84, height - _BOTTOM)
    top = max(v for s in series for p in s.points for v in (p.value, p.high) if positive(v))
    panel.set_xlim(0, max(top * 1.02, form.least_top))
    panel.set_ylim(len(series) - 0.5, -0.5)
    ticks.label_columns(sheet, panel, ticks.linear(0, panel.get_xlim()[1], 5), form.tick)
    panel.grid(axis="x", color=ROLES["grid"], linewidth=1)
    if form.threshold:
        panel.axvline(form.threshold, color=ROLES["ink"], linewidth=1.2, dashes=(6, 3))
    sheet.write(left - 10, height - _BOTTOM + 12, form.unit, anchor="right")
    for row, each in enumerate(series):
        _bar_row(sheet, panel, each, look.hue(each.framework), row, left, form)
    return sheet.svg()


def _bar_row(sheet: Sheet, panel: Panel, series: ScaleSeries, hue: Hue, row: int, left: float, form: _Form) -> None:
    point = series.points[0]
    box: Box = (0, row - 0.3, point.shown, 0.6)
    bars(sheet, panel, [(box, point, row)], hue, series.framework)
    cores(panel, [] if point.hollow else [box], series.variant, across=True)
    if point.interval:
        whiskers(panel, [(row, *point.interval)], across=True)
    _, y = sheet.pixel(panel, 0, row)
    end, _ = sheet.pixel(panel, max(point.shown, point.high or 0), row)
    sheet.write(left - 10, y, shortened(series.name, left - 12, TEXT), anchor="right", size=TEXT, colour="ink")
    sheet.write(end + 7, y, form.value(point.shown) + point.sign, colour="ink")


# --- speed-up: grouped bars with ideal boxes ---------------------------------------------------------

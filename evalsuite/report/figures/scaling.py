"""Figures over the number of devices."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeGuard

from evalsuite.report.figures import ticks
from evalsuite.report.figures.data import (
    Axis,
    Bilingual,
    Figure,
    Label,
    LegendEntry,
    ScalePoint,
    ScaleSeries,
    as_drawn,
    note_entry,
    point_notes,
    point_table,
)
from evalsuite.report.figures.shapes import Box, bars, cores, row_chart, whiskers
from evalsuite.report.figures.sheet import SMALL, WIDTH, Panel, Sheet, draw, shorten, spread, text_width
from evalsuite.report.figures.style import ROLES, Hue, Look, swatch
from evalsuite.report.text import numbers

_TOP, _BOTTOM = 34, 34  # room for the unit above and the numbers below a panel, in pixels
_ROW = 30  # a row of a horizontal chart
_LONGEST = 205  # pixels: of what is at the end of a line
_SLOPE = 260  # pixels between two points that a line joins
_BETWEEN = 14  # pixels between two panels
_END = 60  # pixels: a series that ends further from its label is named next to its last mark
Ideal = Literal["proportional", "each", "inverse", "none"]  # each: a line from every base


def throughput(series: Sequence[ScaleSeries], look: Look, *, id: str, unit: str) -> Figure:
    form = _Form(logarithmic=reaches_far(series), ideal="proportional", unit=unit)
    return _figure(series, look, id, form, "items_per_s")


def curves(whole: Sequence[ScaleSeries], gains: Sequence[ScaleSeries], look: Look, *, id: str, unit: str) -> Figure:
    """Throughput and speed-up of the job side by side, with their ideals; without a base throughput alone."""
    visible, gained = drawable(whole), drawable(gains)
    if not gained:
        return throughput(whole, look, id=id, unit=unit)
    named = len(gained) == len(visible)  # at the ends of their lines
    drawn = as_drawn(visible)
    far = reaches_far(visible)
    return Figure(
        id=id,
        svg=draw(_curves, id, look, drawn, as_drawn(gained), unit),
        table=point_table(visible, "items_per_s", unit, given=whole),
        legend=(*(() if named else legend(drawn, look)), note_entry("ideal")),
        axes=(
            Axis(key="devices", logarithmic=far),
            Axis(key="speedup", logarithmic=far),
            Axis(key="items_per_s", unit=unit, logarithmic=far),
        ),
        notes=point_notes(visible),
    )


def per_device(series: Sequence[ScaleSeries], look: Look, *, id: str, unit: str) -> Figure:
    return _figure(series, look, id, _Form(ideal="none", unit=unit, valued=True), "items_per_s_per_device")


def time_to_solution(series: Sequence[ScaleSeries], look: Look, *, id: str, unit: str = "s") -> Figure:
    form = _Form(logarithmic=True, ideal="inverse", unit=unit)
    return _figure(series, look, id, form, "time_to_solution")


@dataclass(frozen=True, kw_only=True)
class _Form:
    logarithmic: bool = False
    ideal: Ideal = "none"
    unit: str = ""
    valued: bool = False  # names at the ends of lines carry their values


def _figure(series: Sequence[ScaleSeries], look: Look, id: str, form: _Form, key: str) -> Figure:
    visible = drawable(series)
    counts = counts_of(visible)
    drawing = _lines if len(counts) > 1 else _one_scale
    if len(counts) == 1:
        visible = tuple(sorted(visible, key=lambda each: -each.points[0].shown))
    notes = ("ideal",) if len(counts) > 1 and form.ideal != "none" else ()
    return Figure(
        id=id,
        svg=draw(drawing, id, look, as_drawn(visible), form) if visible else None,
        table=point_table(visible, key, form.unit, given=series),
        legend=tuple(map(note_entry, notes)),
        axes=_axes(key, form, scales=len(counts)),
        notes=point_notes(visible),
    )


def _axes(key: str, form: _Form, *, scales: int) -> tuple[Axis, ...]:
    value = Axis(key=key, unit=form.unit, logarithmic=form.logarithmic and scales > 1)
    devices = Axis(key="devices", logarithmic=form.logarithmic or (form.ideal == "none" and scales > 2))
    return (devices, value) if scales > 1 else (value,)


def drawable(series: Sequence[ScaleSeries]) -> tuple[ScaleSeries, ...]:
    """*series* with their positive, finite points, sorted by scale; none is empty."""
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


def reaches_far(series: Sequence[ScaleSeries]) -> bool:
    counts = counts_of(series)
    return bool(counts) and counts[-1] > numbers.FAR * counts[0]


def entry(name: Label, key: str, hue: Hue) -> LegendEntry:
    return LegendEntry(key=key, label=name, hue=hue.index, swatch=swatch(hue))


def legend(series: Sequence[ScaleSeries], look: Look) -> tuple[LegendEntry, ...]:
    hues = [dashed(look.hue(each.framework), each.variant) for each in series]
    return tuple(entry(each.name, each.framework, hue) for each, hue in zip(series, hues, strict=True))


def dashed(hue: Hue, variant: int) -> Hue:
    """A further series of one framework: the dash changes, colour and marker stay."""
    return replace(hue, dash=((), (2, 2), (7, 2, 2, 2), (1, 3))[min(variant, 3)]) if variant else hue


def _curves(id: str, look: Look, series: Sequence[ScaleSeries], gains: Sequence[ScaleSeries], unit: str) -> str:
    names = [shorten(each.name, _LONGEST) for each in gains]
    room = max(text_width(name, SMALL) for name in names) + 30
    form = _Form(logarithmic=reaches_far(series), ideal="proportional", unit=unit)
    forms = (form, replace(form, ideal="each", unit="x"))
    sheet = Sheet(id, height=max(300, 17 * len(gains) + 90), ends=True)
    lefts = [_margin(*each) for each in zip((series, gains), forms, strict=True)]
    wide = (sheet.width - room - sum(lefts) - _BETWEEN) / 2
    _panel(sheet, lefts[0], lefts[0] + wide, series, forms[0], look)
    end, sheet.fold = sheet.width - room, lefts[0] + wide + _BETWEEN / 2
    end_labels(sheet, _panel(sheet, end - wide, end, gains, forms[1], look), gains, names, room)
    return sheet.svg()


def _lines(id: str, look: Look, series: Sequence[ScaleSeries], form: _Form) -> str:
    counts = counts_of(series)
    slope = form.valued and len(counts) == 2
    lasting = [each for each in series if each.points[-1].devices == counts[-1]] if slope else series
    begins = _beginnings(series, counts[0], form) if slope else []
    names = [_ending(each, form) for each in lasting]
    room = max(text_width(name, SMALL) for name in names) + 30
    aside = max((text_width(text, SMALL) for _, text in begins), default=-14) + 14
    left = _margin(series, form) + aside
    width = left + room + _SLOPE if slope else WIDTH
    sheet = Sheet(id, height=max(250 if slope else 360, 17 * len(series) + 90), width=width, ends=not slope)
    panel = _panel(sheet, left, sheet.width - room, series, form, look, aside)
    end_labels(sheet, panel, lasting, names, room)
    _begin_labels(sheet, panel, begins)
    return sheet.svg()


def _beginnings(series: Sequence[ScaleSeries], devices: int, form: _Form) -> list[tuple[ScalePoint, Label]]:
    """What stands before the first points: the value, and the name of a series that has no other."""
    first = [(each, each.points[0]) for each in series if each.points[0].devices == devices]
    return [
        (at, ticks.throughput(at.shown) if len(series.points) > 1 else _ending(series, form)) for series, at in first
    ]


def _begin_labels(sheet: Sheet, panel: Panel, begins: Sequence[tuple[ScalePoint, Label]]) -> None:
    at = [sheet.pixel(panel, point.devices, point.shown) for point, _ in begins]
    places = spread([y for _, y in at], 16, _TOP, sheet.height - _BOTTOM - 2)
    for (x, _), (_, text), place in zip(at, begins, places, strict=True):
        sheet.write(x - 10, place, text, anchor="right", colour="ink", style="halo")


def _margin(series: Sequence[ScaleSeries], form: _Form) -> float:
    return max(ticks.margin(_rows(series, form)[1]), text_width(form.unit) if len(form.unit) < 12 else 0)


def _panel(
    sheet: Sheet, left: float, right: float, series: Sequence[ScaleSeries], form: _Form, look: Look, aside: float = 0
) -> Panel:
    limits, rows = _rows(series, form)
    panel = sheet.panel(left, _TOP, right, sheet.height - _BOTTOM)
    counts = counts_of(series)
    scale_columns(sheet, panel, counts, from_0=form.ideal != "none" and not form.logarithmic and len(counts) > 2)
    if form.logarithmic:
        panel.set_yscale("log")
    panel.set_ylim(*limits)
    ticks.label_rows(sheet, panel, rows, aside=aside)
    sheet.write(left - 6, 12, form.unit, anchor="right" if text_width(form.unit) < left - 6 else "center")
    draw_ideal(sheet, panel, series, form.ideal, counts)
    for each in series:
        draw_series(sheet, panel, each, look)
    return panel


def _ending(series: ScaleSeries, form: _Form) -> Label:
    value = f"  {ticks.throughput(series.points[-1].shown)}" if form.valued else ""
    name = shorten(series.name, _LONGEST - text_width(value, SMALL))
    if isinstance(name, Bilingual):
        return Bilingual(zh=f"{name.zh}{value}", en=f"{name.en}{value}")
    return f"{name}{value}"


def scale_columns(sheet: Sheet, panel: Panel, counts: Sequence[int], *, from_0: bool = False) -> None:
    pad = (counts[-1] / counts[0]) ** 0.04 if counts[-1] > counts[0] else 1.3
    if from_0:
        panel.set_xlim(0, counts[-1] * 1.03)
    else:
        panel.set_xscale("log", base=2)
        panel.set_xlim(counts[0] / pad, counts[-1] * pad)
    ticks.label_columns(sheet, panel, counts)


def _rows(series: Sequence[ScaleSeries], form: _Form) -> tuple[tuple[float, float], list[float]]:
    low, high = _reach(series, form)
    if form.logarithmic:
        limits = (low / 1.25, high * 1.25)
        return limits, ticks.logarithmic(*limits)
    limits = (0.0, high * 1.06)
    return limits, ticks.linear(*limits, 6)


def _reach(series: Sequence[ScaleSeries], form: _Form) -> tuple[float, float]:
    points = [p for each in series for p in each.points]
    values = [v for p in points for v in (p.value, p.low, p.high) if positive(v)]
    last = max(p.devices for p in points)
    values += [_ideal(base, last, form.ideal) for base in _ideal_bases(series, form.ideal)]
    return min(values), max(values)


def _base(series: ScaleSeries) -> ScalePoint:
    named = [p for p in series.points if p.devices == series.base_devices]
    return (named or series.points)[0]


def _ideal_bases(series: Sequence[ScaleSeries], kind: Ideal) -> Sequence[ScalePoint]:
    bases = list(map(_base, series))
    if kind == "each":
        return list({base.devices: base for base in bases}.values())
    if kind == "inverse":
        return [min(bases, key=lambda base: base.shown * base.devices)]
    return [max(bases, key=lambda base: base.shown / base.devices)] if kind == "proportional" else []


def _ideal(base: ScalePoint, devices: int, kind: Ideal) -> float:
    ratio = devices / base.devices
    return base.shown * (1 / ratio if kind == "inverse" else ratio)


def draw_ideal(sheet: Sheet, panel: Panel, series: Sequence[ScaleSeries], kind: Ideal, counts: Sequence[int]) -> None:
    for base in _ideal_bases(series, kind):
        ends = (base.devices, counts[-1])
        values = [_ideal(base, m, kind) for m in ends]
        panel.plot(ends, values, color=ROLES["rule"], linewidth=1.2, dashes=(2, 3), zorder=1.6)


def draw_series(sheet: Sheet, panel: Panel, series: ScaleSeries, look: Look, *, connected: bool = True) -> None:
    hue = dashed(look.hue(series.framework), series.variant)
    if connected and len(series.points) > 1:
        sheet.join(panel, [p.devices for p in series.points], [p.shown for p in series.points], hue, series.framework)
    _whiskers(sheet, panel, series, hue)
    for hollow in (False, True):
        group = [p for p in series.points if p.hollow == hollow]
        if group:
            xs, ys, refs = zip(*((p.devices, p.shown, p.ref) for p in group), strict=True)
            sheet.dots(panel, xs, ys, hue, refs, series.framework, hollow=hollow)


def _whiskers(sheet: Sheet, panel: Panel, series: ScaleSeries, hue: Hue) -> None:
    spans = [(p.devices, *p.interval) for p in series.points if p.interval]
    if spans:
        xs, lows, highs = zip(*spans, strict=True)
        whiskers = panel.vlines(xs, lows, highs, color=ROLES[hue.name], linewidth=1.2, zorder=3.5)
        sheet.belongs(whiskers, series.framework)


def end_labels(sheet: Sheet, panel: Panel, series: Sequence[ScaleSeries], names: Sequence[Label], room: float) -> None:
    left = sheet.width - room + 16
    columns: dict[float, list[tuple[Label, float]]] = {}
    for each, name in zip(series, names, strict=True):
        x, y = sheet.pixel(panel, each.points[-1].devices, each.points[-1].shown)
        columns.setdefault(x, []).append((name, y))
    for x, members in columns.items():
        at_the_end = left - x <= _END
        places = spread([y for _, y in members], 16, _TOP, sheet.height - _BOTTOM - 2)
        for (name, y), place in zip(members, places, strict=True):
            if at_the_end and abs(place - y) > 3:
                sheet.line([(x + 7, y), (left - 10, place), (left - 3, place)], width=0.7)
            if at_the_end:
                sheet.write(left, place, name, colour="ink")
            else:  # a series that ends early is named where it ends: a lead across the panel looks like a line
                sheet.write(x + 9, place + 14, name, colour="ink", style="halo")


def _one_scale(id: str, look: Look, series: Sequence[ScaleSeries], form: _Form) -> str:
    names, right = [each.name for each in series], WIDTH - 84
    sheet, panel = row_chart(
        id, names, row=_ROW + 10 / len(names), top=8, foot=_BOTTOM, right=right, widest=240, gap=20
    )
    top = max(v for s in series for p in s.points for v in (p.value, p.high) if positive(v))
    panel.set_xlim(0, top * 1.02)
    ticks.label_columns(sheet, panel, ticks.linear(0, panel.get_xlim()[1], 5), grid=True)
    sheet.write(sheet.pixel(panel, 0, 0)[0] - 10, sheet.height - _BOTTOM + 12, form.unit, anchor="right")
    for row, each in enumerate(series):
        _bar_row(sheet, panel, each, look.hue(each.framework), row)
    return sheet.svg()


def _bar_row(sheet: Sheet, panel: Panel, series: ScaleSeries, hue: Hue, row: int) -> None:
    point = series.points[0]
    box: Box = (0, row - 0.3, point.shown, 0.6)
    bars(sheet, panel, [(box, point)], hue, series.framework)
    cores(panel, [] if point.hollow else [box], series.variant)
    if point.interval:
        whiskers(panel, [(row, *point.interval)])
    end, y = sheet.pixel(panel, max(point.shown, point.high or 0), row)
    sheet.write(end + 7, y, ticks.throughput(point.shown), colour="ink")

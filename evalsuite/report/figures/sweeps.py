"""Throughput against a size, that of the batch per device or of an option, and where memory ran out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evalsuite.core.model import by_key
from evalsuite.report.figures import ticks
from evalsuite.report.figures.data import Axis, Figure, Label, Table, note_entry, plain
from evalsuite.report.figures.scaling import positive, scale_columns
from evalsuite.report.figures.shapes import field
from evalsuite.report.figures.sheet import TEXT, WIDTH, Panel, Sheet, draw, marker_style, shorten, spread, text_width
from evalsuite.report.figures.style import ROLES, Hue, Look

HIGH = 180  # of a panel


@dataclass(frozen=True, kw_only=True)
class SweepPoint:
    size: int
    items_per_s: float | None = None
    low: float | None = None
    high: float | None = None
    oom: bool = False
    ref: str = ""


@dataclass(frozen=True, kw_only=True)
class SweepLine:
    name: Label
    framework: str
    points: tuple[SweepPoint, ...]
    panel: str = ""  # lines of one name here share a panel: the precision

    @property
    def oom_from(self) -> int | None:
        return min((p.size for p in self.points if p.oom), default=None)


def size_sweep(sweeps: Sequence[SweepLine], look: Look, *, id: str, unit: str, key: str = "batch_per_device") -> Figure:
    panels = list(dict.fromkeys(sweep.panel for sweep in sweeps))
    sweeps = tuple(sorted((sweep for sweep in sweeps if sweep.points), key=lambda sweep: panels.index(sweep.panel)))
    pairs = [(sweep, point) for sweep in sweeps for point in sweep.points]
    drawable_points = any(positive(p.items_per_s) or p.oom for _, p in pairs)
    oom = any(p.oom for _, p in pairs)
    return Figure(
        id=id,
        svg=draw(_size_sweep, id, look, sweeps, unit) if drawable_points else None,
        table=Table(
            columns=("series", key, "items_per_s", "low", "high", "oom"),
            units=("", "", unit, unit, unit, ""),
            rows=tuple((row_name(s), p.size, p.items_per_s, p.low, p.high, p.oom) for s, p in pairs),
            refs=tuple(p.ref for _, p in pairs),
        ),
        legend=(note_entry("oom"),) if oom else (),
        axes=(Axis(key=key, logarithmic=True), Axis(key="items_per_s", unit=unit)),
    )


def row_name(sweep: SweepLine) -> str:
    return " · ".join(filter(None, (plain(sweep.name), sweep.panel)))


def _size_sweep(id: str, look: Look, sweeps: Sequence[SweepLine], unit: str) -> str:
    columns = by_key((sweep.panel, sweep) for sweep in sweeps)
    lanes = max(sum(sweep.oom_from is not None for sweep in members) for members in columns.values())
    sizes = sorted({p.size for s in sweeps for p in s.points})
    room = min(max(text_width(sweep.name) for sweep in sweeps) + 28, WIDTH / 2)  # for names after the lines
    stacked = room > WIDTH / len(columns) / 2
    top, each = 46 + 20 * lanes, 76 + 20 * lanes + HIGH
    sheet = Sheet(id, height=each * (len(columns) if stacked else 1))
    wide = WIDTH if stacked else WIDTH / len(columns)
    for place, (label, members) in enumerate(columns.items()):
        across, down = (0, place) if stacked else (place, 0)
        left, right, begin = across * wide + (58 if across else 78), (across + 1) * wide - room, down * each
        panel = sheet.panel(left, begin + top, right, begin + top + HIGH)
        _sweep_panel(sheet, panel, members, look, sizes)
        _names(sheet, panel, members, right + 20, begin + top, room - 22)
        _oom_lanes(sheet, panel, members, look, sizes, begin + 40)
        sheet.write(left, begin + 12, label, size=TEXT, colour="ink", style="strong")
        if not across:
            sheet.write(72, begin + 30, unit, anchor="right")
    return sheet.svg()


def _names(sheet: Sheet, panel: Panel, sweeps: Sequence[SweepLine], x: float, top: float, room: float) -> None:
    ends = []
    for sweep in sweeps:
        known = [(p.size, p.items_per_s) for p in sweep.points if positive(p.items_per_s)]
        if known:
            ends.append((sweep.name, *sheet.pixel(panel, *max(known))))
    places = spread([y for *_, y in ends], 16, top, top + HIGH - 4)
    for (name, end, y), place in zip(ends, places, strict=True):
        if x - end > 40 or abs(place - y) > 3:
            sheet.line([(end + 7, y), (x - 10, place), (x - 3, place)], width=0.7)
        sheet.write(x, place, shorten(name, room), colour="ink")


def _sweep_panel(sheet: Sheet, panel: Panel, sweeps: Sequence[SweepLine], look: Look, sizes: Sequence[int]) -> None:
    points = [p for s in sweeps for p in s.points]
    top = 1.08 * max((v for p in points for v in (p.items_per_s, p.high) if positive(v)), default=1.0)
    scale_columns(sheet, panel, sizes)
    panel.set_ylim(0, top)
    ticks.label_rows(sheet, panel, ticks.linear(0, top, 5))
    for sweep in sweeps:
        _sweep_line(sheet, panel, sweep, look.hue(sweep.framework))


def _sweep_line(sheet: Sheet, panel: Panel, sweep: SweepLine, hue: Hue) -> None:
    points = sorted((p for p in sweep.points if positive(p.items_per_s)), key=lambda p: p.size)
    if not points:
        return
    xs, ys = [p.size for p in points], [p.items_per_s or 0.0 for p in points]
    sheet.join(panel, xs, ys, hue, sweep.framework)
    whiskers = [(p.size, p.low, p.high) for p in points if positive(p.low) and positive(p.high)]
    if whiskers:
        panel.vlines(*zip(*whiskers, strict=True), color=ROLES[hue.name], linewidth=1.2, zorder=3.5)
    sheet.dots(panel, xs, ys, hue, [p.ref for p in points], sweep.framework)


def _oom_lanes(
    sheet: Sheet, panel: Panel, members: list[SweepLine], look: Look, sizes: Sequence[int], top: float
) -> None:
    low, high = panel.get_xlim()
    edge = sheet.pixel(panel, high, 0)[0]
    for place, sweep in enumerate(line for line in members if line.oom_from is not None):
        first = sweep.oom_from or 0
        fitting = [size for size in sizes if size < first]
        begin = math.sqrt(fitting[-1] * first) if fitting else low
        x, y = sheet.pixel(panel, begin, 0)[0], top + 20 * place
        lane = sheet.panel(x, y, edge, y + 14, foot=False)
        lane.set(xlim=(0, 1), ylim=(0, 1))
        field(lane, [(0, 0, 1, 1)], "cell-bad", hatch="rule")
        lane.plot([0], [0.5], zorder=4, **marker_style(look.hue(sweep.framework)))
        sheet.write((x + edge) / 2, y + 7, "OOM", anchor="center", colour="ink", style="halo")
        panel.axvline(begin, color=ROLES[look.hue(sweep.framework).name], linewidth=1.1, dashes=(1.5, 3))

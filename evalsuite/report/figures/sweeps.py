"""Batch sizes: throughput and device memory against the batch size per device, and where memory ran out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evalsuite.report.figures import ticks
from evalsuite.report.figures.data import Axis, Figure, Label, LegendEntry, Table, plain
from evalsuite.report.figures.scaling import entry, positive, scale_columns
from evalsuite.report.figures.shapes import field, outlines
from evalsuite.report.figures.sheet import (
    TEXT,
    WIDTH,
    Panel,
    Sheet,
    dashes,
    draw,
    marker_style,
    shortened,
    spread,
    text_width,
)
from evalsuite.report.figures.style import ROLES, Hue, Look, note_swatch


@dataclass(frozen=True, kw_only=True)
class SweepPoint:
    """One batch size per device. *oom* where it did not fit."""

    batch_per_device: int
    items_per_s: float | None = None
    low: float | None = None
    high: float | None = None
    memory_bytes: float | None = None  # of the fullest device
    oom: bool = False
    ref: str = ""


@dataclass(frozen=True, kw_only=True)
class SweepLine:
    """One framework over batch sizes."""

    name: Label
    framework: str
    points: tuple[SweepPoint, ...]
    panel: str = ""  # lines of one name here stand in one panel: the precision

    @property
    def oom_from(self) -> int | None:
        """The smallest batch that did not fit."""
        return min((p.batch_per_device for p in self.points if p.oom), default=None)


def batch_sweep(
    sweeps: Sequence[SweepLine], look: Look, *, id: str, unit: str, capacity_bytes: float | None = None
) -> Figure:
    """Throughput and, below it, device memory against batch size on one log2 axis, with where memory ran out."""
    panels = list(dict.fromkeys(sweep.panel for sweep in sweeps))
    sweeps = tuple(sorted((sweep for sweep in sweeps if sweep.points), key=lambda sweep: panels.index(sweep.panel)))
    named = {(sweep.framework, sweep.name): sweep for sweep in sweeps}
    pairs = [(sweep, point) for sweep in sweeps for point in sweep.points]
    drawable_points = any(positive(p.items_per_s) or p.oom for _, p in pairs)
    oom = any(p.oom for _, p in pairs)
    return Figure(
        id=id,
        svg=draw(_batch_sweep, id, look, sweeps, unit, capacity_bytes) if drawable_points else None,
        table=Table(
            columns=("series", "batch_per_device", "items_per_s", "low", "high", "memory", "oom"),
            units=("", "", unit, unit, unit, "bytes", ""),
            rows=tuple(
                (row_name(s), p.batch_per_device, p.items_per_s, p.low, p.high, p.memory_bytes, p.oom) for s, p in pairs
            ),
            refs=tuple(p.ref for _, p in pairs),
        ),
        legend=(
            *(entry(name, framework, look) for framework, name in named),
            *((LegendEntry(key="oom", swatch=note_swatch("oom")),) if oom else ()),
            *((LegendEntry(key="capacity", swatch=note_swatch("threshold")),) if capacity_bytes else ()),
        ),
        axes=(
            Axis(key="batch_per_device", logarithmic=True),
            Axis(key="items_per_s", unit=unit),
            Axis(key="memory", unit="GB"),
        ),
        notes=("oom",) if oom else (),
    )


def row_name(sweep: SweepLine) -> str:
    """What a line is called in the rows of the table."""
    return " · ".join(filter(None, (plain(sweep.name), sweep.panel)))


def _batch_sweep(id: str, look: Look, sweeps: Sequence[SweepLine], unit: str, capacity: float | None) -> str:
    """A column of panels for each precision: throughput on axes of their own, so that the slower one can be read."""
    columns: dict[str, list[SweepLine]] = {}
    for sweep in sweeps:
        columns.setdefault(sweep.panel, []).append(sweep)
    lanes = max(sum(sweep.oom_from is not None for sweep in members) for members in columns.values())
    memory = any(positive(p.memory_bytes) for s in sweeps for p in s.points)
    frame = _Frame(
        sizes=tuple(sorted({p.batch_per_device for s in sweeps for p in s.points})),
        top=46 + 20 * lanes,
        room=min(max(text_width(sweep.name) for sweep in sweeps) + 16, 150),
        memory=memory,
        capacity=capacity,
        fullest=_highest(sweeps, "memory_bytes", capacity),
    )
    sheet = Sheet(id, height=frame.top + 220 + (150 if memory else 0) + 30)
    wide = WIDTH / len(columns)
    for place, (label, members) in enumerate(columns.items()):
        _column(sheet, members, look, frame, (place * wide + (78 if not place else 58), (place + 1) * wide))
        sheet.write(place * wide + (78 if not place else 58), 12, label, size=TEXT, colour="ink", style="strong")
    sheet.write(72, 30, unit, anchor="right")
    return sheet.svg()


@dataclass(frozen=True, kw_only=True)
class _Frame:
    """What all columns share."""

    sizes: tuple[int, ...]
    top: float  # where the panels begin, below the lanes
    room: float  # for names behind the lines
    memory: bool
    capacity: float | None
    fullest: float  # of the axis of memory


def _highest(sweeps: Sequence[SweepLine], field_name: str, capacity: float | None) -> float:
    values = [v for s in sweeps for p in s.points if positive(v := getattr(p, field_name))]
    values += [p.high for s in sweeps for p in s.points if positive(p.high) and field_name == "items_per_s"]
    return 1.08 * max([*values, *([capacity] if capacity else [])] or [1])


def _column(sheet: Sheet, sweeps: Sequence[SweepLine], look: Look, frame: _Frame, edges: tuple[float, float]) -> None:
    left, right = edges[0], edges[1] - frame.room
    above = sheet.panel(left, frame.top, right, frame.top + 220)
    _sweep_panel(sheet, above, sweeps, look, frame, "items_per_s")
    _names(sheet, above, sweeps, right + 8, frame)
    panels = [above]
    if frame.memory:
        below = sheet.panel(left, frame.top + 250, right, frame.top + 370)
        _sweep_panel(sheet, below, sweeps, look, frame, "memory_bytes")
        sheet.write(left - 6, frame.top + 238, "GB", anchor="right")
        panels.append(below)
    lanes = [(sweep, size) for sweep in sweeps if (size := sweep.oom_from) is not None]
    _oom_lanes(sheet, panels, lanes, look, frame.sizes)


def _names(sheet: Sheet, panel: Panel, sweeps: Sequence[SweepLine], x: float, frame: _Frame) -> None:
    """Each line's name behind it, at the height of its last value."""
    ends = []
    for sweep in sweeps:
        known = [(p.batch_per_device, p.items_per_s) for p in sweep.points if positive(p.items_per_s)]
        if known:
            ends.append((sweep.name, sheet.pixel(panel, *max(known))[1]))
    places = spread([y for _, y in ends], 16, frame.top, frame.top + 216)
    for (name, _), place in zip(ends, places, strict=True):
        sheet.write(x, place, shortened(name, frame.room - 10), colour="ink")


def _sweep_panel(
    sheet: Sheet,
    panel: Panel,
    sweeps: Sequence[SweepLine],
    look: Look,
    frame: _Frame,
    field_name: str,
) -> None:
    scale = 1e9 if field_name == "memory_bytes" else 1.0
    found = [[(p, getattr(p, field_name)) for p in s.points if positive(getattr(p, field_name))] for s in sweeps]
    top = _highest(sweeps, "items_per_s", None) if scale == 1 else frame.fullest / scale
    scale_columns(sheet, panel, frame.sizes, labelled=scale != 1 or not frame.memory)
    panel.set_ylim(0, top)
    ticks.label_rows(sheet, panel, ticks.linear(0, top, 5 if scale == 1 else 3))
    if frame.capacity and scale != 1:
        panel.axhline(frame.capacity / scale, color=ROLES["ink"], linewidth=1.2, dashes=(6, 3))
    for sweep, points in zip(sweeps, found, strict=True):
        points = sorted(points, key=lambda pair: pair[0].batch_per_device)
        _sweep_line(sheet, panel, sweep, points, look.hue(sweep.framework), scale)


def _sweep_line(
    sheet: Sheet,
    panel: Panel,
    sweep: SweepLine,
    points: Sequence[tuple[SweepPoint, float]],
    hue: Hue,
    scale: float,
) -> None:
    if not points:
        return
    xs, ys = [p.batch_per_device for p, _ in points], [v / scale for _, v in points]
    (line,) = panel.plot(xs, ys, color=ROLES[hue.name], linewidth=2, zorder=3, **dashes(hue.dash))
    sheet.belongs(line, sweep.framework)
    whiskers = [(p.batch_per_device, p.low, p.high) for p, _ in points if positive(p.low) and positive(p.high)]
    if whiskers and scale == 1:
        panel.vlines(*zip(*whiskers, strict=True), color=ROLES[hue.name], linewidth=1.2, zorder=3.5)
    (dots,) = panel.plot(xs, ys, zorder=4, **marker_style(hue))
    sheet.mark(dots, [p.ref for p, _ in points], series=sweep.framework)


def _oom_lanes(
    sheet: Sheet, panels: Sequence[Panel], lanes: Sequence[tuple[SweepLine, int]], look: Look, sizes: Sequence[int]
) -> None:
    """Above the panels one lane per framework that ran out: hatched from the first batch that did not fit."""
    top = panels[0]
    low, high = top.get_xlim()
    edge = sheet.pixel(top, high, 0)[0]
    for place, (sweep, first) in enumerate(lanes):
        fitting = [size for size in sizes if size < first]
        begin = math.sqrt(fitting[-1] * first) if fitting else low
        x, y = sheet.pixel(top, begin, 0)[0], 40 + 20 * place
        lane = sheet.panel(x, y, edge, y + 14, foot=False)
        lane.set(xlim=(0, 1), ylim=(0, 1))
        field(lane, [(0, 0, 1, 1)], "cell-bad", hatch="rule")
        outlines(lane, [(0, 0, 1, 1)], colour="rule", width=0.8)
        lane.plot([0], [0.5], zorder=4, **marker_style(look.hue(sweep.framework)))
        sheet.write((x + edge) / 2, y + 7, "OOM", anchor="center", colour="ink", style="halo")
        for panel in panels:
            panel.axvline(begin, color=ROLES[look.hue(sweep.framework).name], linewidth=1.1, dashes=(1.5, 3))

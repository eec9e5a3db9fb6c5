"""Batch sizes: throughput and device memory against the batch size per device, and where memory ran out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evalsuite.report.figures import ticks
from evalsuite.report.figures.cache import drawn
from evalsuite.report.figures.data import Axis, Figure, LegendEntry, Table
from evalsuite.report.figures.scaling import entry, positive, scale_columns
from evalsuite.report.figures.shapes import field, outlines
from evalsuite.report.figures.sheet import WIDTH, Panel, Sheet, dashes, marker_style
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

    name: str
    framework: str
    points: tuple[SweepPoint, ...]

    @property
    def oom_from(self) -> int | None:
        """The smallest batch that did not fit."""
        return min((p.batch_per_device for p in self.points if p.oom), default=None)


def batch_sweep(
    sweeps: Sequence[SweepLine], look: Look, *, id: str, unit: str, capacity_bytes: float | None = None
) -> Figure:
    """Throughput and, below it, device memory against batch size on one log2 axis, with where memory ran out."""
    sweeps = tuple(sweep for sweep in sweeps if sweep.points)
    pairs = [(sweep, point) for sweep in sweeps for point in sweep.points]
    drawable_points = any(positive(p.items_per_s) or p.oom for _, p in pairs)
    oom = any(p.oom for _, p in pairs)
    return Figure(
        id=id,
        svg=drawn(_batch_sweep, id, look, sweeps, unit, capacity_bytes) if drawable_points else None,
        table=Table(
            columns=("series", "batch_per_device", "items_per_s", "low", "high", "memory", "oom"),
            units=("", "", unit, unit, unit, "bytes", ""),
            rows=tuple(
                (s.name, p.batch_per_device, p.items_per_s, p.low, p.high, p.memory_bytes, p.oom) for s, p in pairs
            ),
            refs=tuple(p.ref for _, p in pairs),
        ),
        legend=(
            *(entry(sweep.name, sweep.framework, look) for sweep in sweeps),
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


def _batch_sweep(id: str, look: Look, sweeps: Sequence[SweepLine], unit: str, capacity: float | None) -> str:
    sizes = sorted({p.batch_per_device for s in sweeps for p in s.points})
    lanes = [(sweep, size) for sweep in sweeps if (size := sweep.oom_from) is not None]
    memory = any(positive(p.memory_bytes) for s in sweeps for p in s.points)
    top = 30 + 20 * len(lanes)
    height = top + 220 + (150 if memory else 0) + 30
    sheet = Sheet(id, height=height)
    left, right = 78, WIDTH - 24
    above = sheet.panel(left, top, right, top + 220)
    _sweep_panel(sheet, above, sweeps, look, sizes, "items_per_s", None)
    sheet.write(left - 6, 12, unit, anchor="right")
    panels = [above]
    if memory:
        below = sheet.panel(left, top + 250, right, top + 370)
        _sweep_panel(sheet, below, sweeps, look, sizes, "memory_bytes", capacity)
        above.tick_params(axis="x", labelbottom=False)
        sheet.write(left - 6, top + 238, "GB", anchor="right")
        panels.append(below)
    _oom_lanes(sheet, panels, lanes, look, sizes)
    return sheet.svg()


def _sweep_panel(
    sheet: Sheet,
    panel: Panel,
    sweeps: Sequence[SweepLine],
    look: Look,
    sizes: Sequence[int],
    field_name: str,
    capacity: float | None,
) -> None:
    scale = 1e9 if field_name == "memory_bytes" else 1.0
    found = [[(p, getattr(p, field_name)) for p in s.points if positive(getattr(p, field_name))] for s in sweeps]
    values = [v for points in found for _, v in points] + ([capacity] if capacity else [])
    top = 1.08 * max([*values, *(p.high for s in sweeps for p in s.points if positive(p.high) and scale == 1)] or [1])
    scale_columns(sheet, panel, sizes)
    panel.set_ylim(0, top / scale)
    ticks.label_rows(sheet, panel, ticks.linear(0, top / scale, 5 if scale == 1 else 3))
    if capacity:
        panel.axhline(capacity / scale, color=ROLES["ink"], linewidth=1.2, dashes=(6, 3))
    first = 0
    for sweep, points in zip(sweeps, found, strict=True):
        rows = {p: first + i for i, p in enumerate(sweep.points)}
        first += len(sweep.points)
        points = sorted(points, key=lambda pair: pair[0].batch_per_device)
        _sweep_line(sheet, panel, sweep, points, look.hue(sweep.framework), rows, scale)


def _sweep_line(
    sheet: Sheet,
    panel: Panel,
    sweep: SweepLine,
    points: Sequence[tuple[SweepPoint, float]],
    hue: Hue,
    rows: dict[SweepPoint, int],
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
    sheet.mark(dots, [(p.ref, rows[p]) for p, _ in points], series=sweep.framework)


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
        x, y = sheet.pixel(top, begin, 0)[0], 30 + 20 * place
        lane = sheet.panel(x, y, edge, y + 14)
        lane.spines["bottom"].set_visible(False)
        lane.set(xlim=(0, 1), ylim=(0, 1))
        field(lane, [(0, 0, 1, 1)], "cell-bad", hatch="rule")
        outlines(lane, [(0, 0, 1, 1)], colour="rule", width=0.8)
        lane.plot([0], [0.5], zorder=4, **marker_style(look.hue(sweep.framework)))
        sheet.write((x + edge) / 2, y + 7, "OOM", anchor="center", colour="ink", style="halo")
        for panel in panels:
            panel.axvline(begin, color=ROLES[look.hue(sweep.framework).name], linewidth=1.1, dashes=(1.5, 3))

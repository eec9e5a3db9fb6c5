"""Rates over time (file system, network): stacked panels over one time axis."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from evalsuite.report.figures import ticks
from evalsuite.report.figures.data import Axis, Figure, LegendEntry, Table
from evalsuite.report.figures.shapes import Box, field
from evalsuite.report.figures.sheet import WIDTH, Panel, Sheet, dashes, draw, spread
from evalsuite.report.figures.style import ROLES, Look, note_swatch

Span = tuple[float, float]  # seconds since the run began


@dataclass(frozen=True, kw_only=True)
class TimeLine:
    """One rate over time. *key* is worded by the page ("disk_read")."""

    key: str
    samples: tuple[tuple[float, float | None], ...]  # (seconds since the run began, value)


@dataclass(frozen=True, kw_only=True)
class TimePanel:
    """Lines of one unit: a second unit is a second panel, never a second axis."""

    unit: str  # "bytes/s", "1/s"
    lines: tuple[TimeLine, ...]


def time_panels(
    panels: Sequence[TimePanel], look: Look, *, id: str, window: Span | None = None, ref: str = ""
) -> Figure:
    """Rates over time (file-system bandwidth and operations), stacked panels over one time axis.

    The mean over *window* (seconds) is drawn where the window lies, and what lies outside is shaded.
    """
    panels = tuple(p for p in panels if any(_known(line) for line in p.lines))
    rows = [(p, line) for p in panels for line in p.lines]
    return Figure(
        id=id,
        svg=draw(_time_panels, id, look, panels, window, ref) if panels else None,
        table=Table(
            columns=("resource", "unit", "mean", "samples"),
            rows=tuple((line.key, p.unit, _window_mean(line, window), len(_known(line))) for p, line in rows),
            refs=(ref,) * len(rows),
        ),
        legend=(
            *(
                LegendEntry(key=line.key, swatch=note_swatch(f"line_{min(i, 3)}"))
                for panel in panels
                for i, line in enumerate(panel.lines)
            ),
            LegendEntry(key="window_mean" if window else "mean", swatch=note_swatch("mean")),
            *((LegendEntry(key="warmup", swatch=note_swatch("warmup")),) if window else ()),
        ),
        axes=(Axis(key="at_s", unit="s"), *(Axis(key="rate", unit=panel.unit) for panel in panels)),
    )


_LINE_COLOURS = ("ink", "rule", "muted", "hue-other")
_LINE_DASHES = ((), (5, 2), (1.5, 2), (7, 2, 2, 2))


def _known(line: TimeLine) -> list[tuple[float, float]]:
    return [(at, value) for at, value in line.samples if value is not None and math.isfinite(value)]


def _window_mean(line: TimeLine, window: Span | None) -> float | None:
    """The time-weighted mean: each sample counts for the time since the one before it."""
    begin, end = window or (-math.inf, math.inf)
    known = _known(line)
    spans = [(max(a[0], begin), min(b[0], end), b[1]) for a, b in pairwise(known) if b[0] > begin]
    spans = [(a, b, value) for a, b, value in spans if b > a]
    total = sum(b - a for a, b, _ in spans)
    return sum((b - a) * value for a, b, value in spans) / total if total > 0 else None


def _extremes(points: list[tuple[float, float]], most: int = 400) -> list[tuple[float, float]]:
    """At most *most* points that keep every bucket's minimum and maximum (docs/report.md#size)."""
    if len(points) <= most:
        return points
    size = math.ceil(len(points) / (most // 2))
    kept = []
    for i in range(0, len(points), size):
        bucket = points[i : i + size]
        ends = {min(bucket, key=lambda p: p[1]), max(bucket, key=lambda p: p[1])}
        kept += sorted(ends)
    return kept


def _time_panels(id: str, look: Look, panels: Sequence[TimePanel], window: Span | None, ref: str) -> str:
    high, left, right = 140, 84, WIDTH - 120
    sheet = Sheet(id, height=len(panels) * (high + 34) + 34)
    times = [at for p in panels for line in p.lines for at, _ in _known(line)]
    span = (min(0.0, *times), max(*times, 1e-3))
    for place, part in enumerate(panels):
        top = 30 + (high + 34) * place
        panel = sheet.panel(left, top, right, top + high)
        panel.set_xlim(*span)
        factor, unit = _panel_unit(part)
        peak = max(value for line in part.lines for _, value in _known(line)) / factor
        panel.set_ylim(0, max(peak * 1.08, 1e-9))
        ticks.label_rows(sheet, panel, ticks.linear(0, max(peak * 1.08, 1e-9), 4))
        ticks.label_columns(sheet, panel, ticks.linear(*span, 7), labelled=place == len(panels) - 1)
        sheet.write(left - 6, top - 16, unit, anchor="right")
        _outside(panel, window, span, panel.get_ylim()[1])
        for i, line in enumerate(part.lines):
            _time_line(sheet, panel, line, min(i, 3), factor)
        _means(sheet, panel, part, window or span, factor, right)
    sheet.write(right + 8, sheet.height - 20, "s")
    return sheet.svg()


def _panel_unit(panel: TimePanel) -> tuple[float, str]:
    """One decimal multiple of bytes for the whole panel: (divisor, unit)."""
    if not panel.unit.startswith("bytes"):
        return 1.0, panel.unit
    peak = max(value for line in panel.lines for _, value in _known(line))
    power = min(int(math.log10(peak) // 3), 4) if peak >= 1 else 0
    return 1000.0**power, f"{('', 'k', 'M', 'G', 'T')[power]}B{panel.unit.removeprefix('bytes')}"


def _outside(panel: Panel, window: Span | None, span: Span, top: float) -> None:
    if window:
        parts: list[Box] = [(span[0], 0, window[0] - span[0], top), (window[1], 0, span[1] - window[1], top)]
        boxes = [box for box in parts if box[2] > 0]
        if boxes:
            field(panel, boxes, "shade", zorder=0.5)


def _time_line(sheet: Sheet, panel: Panel, line: TimeLine, style: int, factor: float) -> None:
    points = _extremes(_known(line))
    if points:
        xs, ys = zip(*points, strict=True)
        colour = ROLES[_LINE_COLOURS[style]]
        (curve,) = panel.plot(
            xs, [y / factor for y in ys], color=colour, linewidth=1.1, zorder=3, **dashes(_LINE_DASHES[style])
        )
        sheet.belongs(curve, line.key)


def _means(sheet: Sheet, panel: Panel, part: TimePanel, window: Span, factor: float, right: float) -> None:
    found = [(i, _window_mean(line, window)) for i, line in enumerate(part.lines)]
    means = [(i, mean / factor) for i, mean in found if mean is not None]
    heights = [sheet.pixel(panel, window[0], mean)[1] for _, mean in means]
    places = spread(heights, 16, min(heights, default=0) - 40, max(heights, default=0) + 8)
    for (i, mean), place in zip(means, places, strict=True):
        panel.hlines(mean, *window, color=ROLES[_LINE_COLOURS[min(i, 3)]], linewidth=2.4, zorder=4)
        sheet.write(right + 8, place, ticks.quantity(mean * factor, part.unit), colour="ink")

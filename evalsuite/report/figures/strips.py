"""Utilisation over time: a strip for each resource."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from evalsuite.report.figures import ticks
from evalsuite.report.figures.data import Axis, Figure, Label, LegendEntry, finite, note_entry, plain
from evalsuite.report.figures.shapes import Box, field, outlines
from evalsuite.report.figures.sheet import SMALL, TEXT, WIDTH, Panel, Sheet, draw, shorten, text_width
from evalsuite.report.figures.style import LEVELS, ROLES, scale_swatch

TOP = 6  # pixels above the first strip
HEAD = 24  # of the name of a group
_CELLS = 160  # cells of a strip: about 3 pixels each, narrower ones cannot be distinguished
_GAP = 2.5  # sampling intervals without a sample that count as missing

Span = tuple[float, float]  # seconds since the run began


@dataclass(frozen=True, kw_only=True)
class Strip:
    """*mean* is the utilisation of the measured window."""

    label: Label
    samples: tuple[tuple[float, float | None], ...]  # (seconds since the run began, value)
    maximum: float = 100.0  # the value of the darkest step: the capacity
    unit: str = "%"
    mean: float | None = None
    ref: str = ""
    group: Label = ""  # strips of one group are below its name: the resource, where several runs are compared
    window: Span | None = None  # the measured part of its run, where the strips are of several


def utilisation(strips: Sequence[Strip], *, id: str) -> Figure:
    """Heat strips over time, hatched where no sample was taken, faded outside a strip's window.

    Percentages are from 0 to 100. Strips in groups share one time axis.
    """
    strips = tuple(strips)
    sampled = [strip for strip in strips if any(finite(v) for _, v in strip.samples)]
    span = _span(sampled)
    missing = any(_cells(s)[1] or _uncovered(s, span) for s in sampled) or len(sampled) < len(strips)
    return Figure(
        id=id,
        svg=draw(_utilisation, id, strips, span) if sampled else None,
        legend=(
            LegendEntry(key="capacity_share", label="0–100%", swatch=scale_swatch()),
            *((note_entry("window"), note_entry("warmup")) if any(s.window for s in strips) else ()),
            *((note_entry("missing"),) if missing else ()),
        ),
        axes=(Axis(key="at_s", unit="s"), Axis(key="resource")),
    )


def _grouped(strips: Sequence[Strip]) -> bool:
    return any(plain(strip.group) for strip in strips)


def _span(strips: Sequence[Strip]) -> Span:
    times = [at for strip in strips for at, _ in strip.samples]
    ends = [strip.window[1] for strip in strips if strip.window]
    return (min(0.0, *times), max(*times, *ends, 1e-3)) if times else (0.0, 1.0)


def _uncovered(strip: Strip, span: Span) -> bool:
    times = [at for at, value in strip.samples if finite(value)]
    interval = _interval(times)
    return times[0] - span[0] > _GAP * interval or span[1] - times[-1] > _GAP * interval


def _interval(times: Sequence[float]) -> float:
    steps = [b - a for a, b in pairwise(times) if b > a]
    return statistics.median(steps) if steps else 1.0


def _cells(strip: Strip) -> tuple[list[tuple[float, float, int]], bool]:
    samples = [(at, value) for at, value in strip.samples if finite(value)]
    interval = _interval([at for at, _ in samples])
    pieces: list[tuple[float, float, float]] = []
    before: float | None = None
    for at, value in samples:
        known = before is not None and at - before <= _GAP * interval
        pieces.append((before if before is not None and known else at - interval, at, value))
        before = at
    gap = any(b[0] - a[1] > 1e-9 for a, b in pairwise(pieces))
    missing = gap or len(samples) < len(strip.samples)
    return _join(_thin(pieces), strip.maximum), missing


def _thin(pieces: list[tuple[float, float, float]]) -> list[tuple[float, float, float]]:
    """At most `_CELLS` time-weighted means. Gaps stay gaps."""
    size = math.ceil(len(pieces) / _CELLS)
    if size < 2:
        return pieces
    runs: list[list[tuple[float, float, float]]] = []
    for place, piece in enumerate(pieces):
        if place % size and piece[0] - runs[-1][-1][1] <= 1e-9:
            runs[-1].append(piece)
        else:
            runs.append([piece])
    return [(run[0][0], run[-1][1], _weighted(run)) for run in runs]


def _weighted(run: list[tuple[float, float, float]]) -> float:
    total = run[-1][1] - run[0][0]
    return sum((b - a) * v for a, b, v in run) / total if total > 0 else run[0][2]


def _join(pieces: list[tuple[float, float, float]], maximum: float) -> list[tuple[float, float, int]]:
    cells: list[tuple[float, float, int]] = []
    for begin, end, value in pieces:
        level = min(max(int(LEVELS * value / maximum), 0), LEVELS - 1) if maximum > 0 else 0
        if cells and cells[-1][2] == level and begin - cells[-1][1] <= 1e-9:
            cells[-1] = (cells[-1][0], end, level)
        else:
            cells.append((begin, end, level))
    return cells


def _utilisation(id: str, strips: Sequence[Strip], span: Span) -> str:
    rows = _rows(strips)
    left = min(max(text_width(s.label, TEXT) for s in strips) + 18, 230)
    means = [ticks.quantity(s.mean, s.unit) if finite(s.mean) else "" for s in strips]
    right = WIDTH - max(text_width(mean, TEXT) for mean in means) - 16
    height = TOP + rows.height + 28
    sheet = Sheet(id, height=height)
    panel = sheet.panel(left, TOP, right, height - 28, foot=False)
    panel.set_xlim(*span)
    panel.set_ylim(rows.height, 0)
    ticks.label_columns(sheet, panel, ticks.linear(*span, 7))
    sheet.write(right + 8, height - 15, "s")
    _strip_fields(sheet, panel, strips, span, rows)
    _own_windows(panel, strips, span, rows)
    for strip, mean, top in zip(strips, means, rows.tops, strict=True):
        y = TOP + top + rows.row / 2
        size = TEXT if rows.row > 20 else SMALL
        sheet.write(left - 8, y, shorten(strip.label, left - 12, size), anchor="right", size=size, colour="ink")
        sheet.write(WIDTH, y, mean, anchor="right", size=size, colour="ink")
    for label, top in rows.heads:
        sheet.write(left, TOP + top + HEAD / 2 + 2, label, size=SMALL, colour="ink", style="strong")
    return sheet.svg()


@dataclass(frozen=True, kw_only=True)
class _Rows:
    row: float
    tops: tuple[float, ...]
    heads: tuple[tuple[Label, float], ...]
    height: float

    def box(self, place: int) -> tuple[float, float]:
        return self.tops[place] + 0.1 * self.row, 0.8 * self.row


def _rows(strips: Sequence[Strip]) -> _Rows:
    row = (26 if len(strips) <= 24 else 16) if not _grouped(strips) else 21
    tops, heads, at, before = [], [], 0.0, ""
    for strip in strips:
        if plain(strip.group) != before:
            before = plain(strip.group)
            heads.append((strip.group, at))
            at += HEAD
        tops.append(at)
        at += row
    return _Rows(row=row, tops=tuple(tops), heads=tuple(heads), height=at)


def _strip_fields(sheet: Sheet, panel: Panel, strips: Sequence[Strip], span: Span, rows: _Rows) -> None:
    whole: list[Box] = []
    levels: dict[int, list[Box]] = {}
    for place, strip in enumerate(strips):
        top, high = rows.box(place)
        for begin, end, level in _cells(strip)[0]:
            begin = max(begin, span[0])
            levels.setdefault(level, []).append((begin, top, end - begin, high))
        whole.append((span[0], top, _lasting(strip, span), high))
    field(panel, whole, "surface", hatch="rule", zorder=1)
    for level in sorted(levels):
        field(panel, levels[level], f"seq-{level}", zorder=2)
    frames = outlines(panel, whole, colour="rule", width=0.8, zorder=4)
    sheet.mark(frames, [strip.ref for strip in strips])


def _lasting(strip: Strip, span: Span) -> float:
    if not plain(strip.group):
        return span[1] - span[0]
    sampled = max((at for at, value in strip.samples if finite(value)), default=span[1])
    return min(max(sampled, strip.window[1] if strip.window else sampled), span[1]) - span[0]


def _own_windows(panel: Panel, strips: Sequence[Strip], span: Span, rows: _Rows) -> None:
    veils, edges = [], []
    for place, strip in enumerate(strips):
        if strip.window is None:
            continue
        top, high = rows.box(place)
        begin, end = (min(max(at, span[0]), span[1]) for at in strip.window)
        last = span[0] + _lasting(strip, span)
        veils += [(a, top, b - a, high) for a, b in ((span[0], begin), (end, last)) if b > a]
        edges += [(at, top, top + high) for at in (begin, end)]
    if veils:
        field(panel, veils, "surface", zorder=3, alpha=0.55)
    if edges:
        panel.vlines(*zip(*edges, strict=True), color=ROLES["ink"], linewidth=1.6, zorder=5)

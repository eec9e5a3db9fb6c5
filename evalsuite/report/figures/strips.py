"""Utilisation over time: a strip for each resource."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from evalsuite.core.model import by_key
from evalsuite.report.figures import ticks
from evalsuite.report.figures.data import Axis, Figure, Label, LegendEntry, finite, note_entry, plain
from evalsuite.report.figures.shapes import Box, field, outlines
from evalsuite.report.figures.sheet import SMALL, TEXT, WIDTH, Panel, Sheet, draw, shorten, text_width
from evalsuite.report.figures.style import LEVELS, ROLES, scale_swatch

TOP = 6  # pixels above the first strip
HEAD, ROW = 24, 23  # of the name of a group, of a strip
_CELLS = 160  # of a strip: about 3 pixels each, narrower ones cannot be distinguished
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

    Percentages are from 0 to 100. All strips share one time axis.
    """
    sampled = [strip for strip in strips if any(finite(v) for _, v in strip.samples)]
    times = [at for strip in sampled for at, _ in strip.samples]
    ends = [strip.window[1] for strip in sampled if strip.window]
    span = (min(0.0, *times), max(*times, *ends, 1e-3)) if times else (0.0, 1.0)
    missing = len(sampled) < len(strips) or any(_has_gaps(strip, span) for strip in sampled)
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


def _interval(strip: Strip) -> float:
    steps = [b - a for (a, _), (b, _) in pairwise(strip.samples) if b > a]
    return statistics.median(steps) if steps else 1.0


def _has_gaps(strip: Strip, span: Span) -> bool:
    cells = _cells(strip, span)
    edges = max(cells[0][0] - span[0], _end(strip, span) - cells[-1][1]) > _GAP * _interval(strip)
    return edges or any(b[0] > a[1] for a, b in pairwise(cells)) or any(not finite(v) for _, v in strip.samples)


def _cells(strip: Strip, span: Span) -> list[tuple[float, float, int]]:
    """(begin, end, level of the mean) of the time that has samples; a sample is of the time before it."""
    interval = _interval(strip)
    width = max((span[1] - span[0]) / _CELLS, interval)
    samples = ((math.ceil((at - span[0]) / width - 1e-9), value) for at, value in strip.samples if finite(value))
    cells: list[tuple[float, float, int]] = []
    for place, values in by_key(samples).items():
        share = statistics.fmean(values) / strip.maximum if strip.maximum > 0 else 0
        level, end = min(max(int(LEVELS * share), 0), LEVELS - 1), min(span[0] + place * width, span[1])
        begin, before = max(end - width, span[0]), cells[-1] if cells else None
        if before and begin - before[1] <= _GAP * interval:
            begin = before[1]
        if before and before[2] == level and begin == before[1]:
            cells[-1] = (before[0], end, level)
        else:
            cells.append((begin, end, level))
    return cells


def _end(strip: Strip, span: Span) -> float:
    """When the run of *strip* ended, as far as it is known."""
    sampled = max((at for at, value in strip.samples if finite(value)), default=span[1])
    return min(max(sampled, strip.window[1] if strip.window else sampled), span[1])


def _utilisation(id: str, strips: Sequence[Strip], span: Span) -> str:
    tops, heads, bottom, before = [], [], 0.0, ""
    for strip in strips:
        if plain(strip.group) != before:
            before = plain(strip.group)
            heads.append((strip.group, bottom))
            bottom += HEAD
        tops.append(bottom)
        bottom += ROW
    left = min(max(text_width(s.label, TEXT) for s in strips) + 18, 230)
    means = [ticks.quantity(s.mean, s.unit) if finite(s.mean) else "" for s in strips]
    right = WIDTH - max(text_width(mean, TEXT) for mean in means) - 16
    height = TOP + bottom + 28
    sheet = Sheet(id, height=height)
    panel = sheet.panel(left, TOP, right, height - 28, foot=False)
    panel.set_xlim(*span)
    panel.set_ylim(bottom, 0)
    ticks.label_columns(sheet, panel, ticks.linear(*span, 7))
    sheet.write(right + 8, height - 15, "s")
    _strip_fields(sheet, panel, strips, span, tops)
    for strip, mean, top in zip(strips, means, tops, strict=True):
        y = TOP + top + ROW / 2
        sheet.write(left - 8, y, shorten(strip.label, left - 12, TEXT), anchor="right", size=TEXT, colour="ink")
        sheet.write(WIDTH, y, mean, anchor="right", size=TEXT, colour="ink")
    for label, top in heads:
        sheet.write(left, TOP + top + HEAD / 2 + 2, label, size=SMALL, colour="ink", style="strong")
    return sheet.svg()


def _strip_fields(sheet: Sheet, panel: Panel, strips: Sequence[Strip], span: Span, tops: Sequence[float]) -> None:
    whole: list[Box] = []
    levels: dict[int, list[Box]] = {}
    veils, edges = [], []
    for strip, above in zip(strips, tops, strict=True):
        top, high, last = above + 0.1 * ROW, 0.8 * ROW, _end(strip, span)
        for begin, end, level in _cells(strip, span):
            levels.setdefault(level, []).append((begin, top, end - begin, high))
        whole.append((span[0], top, last - span[0], high))
        if strip.window:
            first, end = (min(max(at, span[0]), span[1]) for at in strip.window)
            veils += [(a, top, b - a, high) for a, b in ((span[0], first), (end, last)) if b > a]
            edges += [(at, top, top + high) for at in (first, end)]
    field(panel, whole, "surface", hatch="rule", zorder=1)
    for level in sorted(levels):
        field(panel, levels[level], f"seq-{level}", zorder=2)
    if veils:
        field(panel, veils, "surface", zorder=3, alpha=0.55)
    frames = outlines(panel, whole, colour="rule", width=0.8, zorder=4)
    sheet.mark(frames, [strip.ref for strip in strips])
    if edges:
        panel.vlines(*zip(*edges, strict=True), color=ROLES["ink"], linewidth=1.6, zorder=5)

"""Utilisation over time: one strip for each resource of a run."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from evalsuite.report.figures import ticks
from evalsuite.report.figures.cache import drawn
from evalsuite.report.figures.data import (
    Axis,
    Figure,
    Label,
    LegendEntry,
    Table,
    finite,
    note_entry,
    ref_of,
)
from evalsuite.report.figures.shapes import Box, field, outlines
from evalsuite.report.figures.sheet import SMALL, TEXT, WIDTH, Panel, Sheet, shortened, text_width
from evalsuite.report.figures.style import LEVELS, ROLES, Look, scale_swatch

_CELLS = 160  # cells of a strip: about 3 pixels each, narrower none is told from its neighbour
_GAP = 2.5  # sampling intervals without a sample that count as missing

Span = tuple[float, float]  # seconds since the run began


@dataclass(frozen=True, kw_only=True)
class Strip:
    """One resource of one device over time. *mean* is the utilisation of the measured window."""

    label: Label
    samples: tuple[tuple[float, float | None], ...]  # (seconds since the run began, value)
    maximum: float = 100.0  # the value of the darkest step: the capacity
    unit: str = "%"
    mean: float | None = None
    ref: str = ""


def utilisation(
    strips: Sequence[Strip],
    look: Look,
    *,
    id: str,
    window: Span | None = None,
    shaded: Sequence[Span] = (),
) -> Figure:
    """Utilisation over time as heat strips, one row a resource; hatched where no sample was taken.

    *window* is the measured part in seconds: bracketed, everything outside it is faded. *shaded* are further
    parts to fade (evaluation). Values are in `Strip.unit`, percentages from 0 to 100.
    """
    strips = tuple(strips)
    sampled = [strip for strip in strips if any(finite(v) for _, v in strip.samples)]
    span = _span(sampled)
    missing = any(_cells(s)[1] or _uncovered(s, span) for s in sampled) or len(sampled) < len(strips)
    return Figure(
        id=id,
        svg=drawn(_utilisation, id, look, strips, window, tuple(shaded), span) if sampled else None,
        table=Table(
            columns=("resource", "mean", "unit", "capacity", "samples"),
            rows=tuple((ref_of(s.label), s.mean, s.unit, s.maximum, _count(s)) for s in strips),
            refs=tuple(s.ref for s in strips),
        ),
        legend=(
            LegendEntry(key="capacity_share", label="0–100%", swatch=scale_swatch()),
            *((note_entry("window"), note_entry("warmup")) if window else ()),
            *((note_entry("missing"),) if missing else ()),
        ),
        axes=(Axis(key="at_s", unit="s"), Axis(key="resource")),
        notes=("missing",) if missing else (),
    )


def _count(strip: Strip) -> int:
    return sum(finite(value) for _, value in strip.samples)


def _span(strips: Sequence[Strip]) -> Span:
    times = [at for strip in strips for at, _ in strip.samples]
    return (min(0.0, *times), max(*times, 1e-3)) if times else (0.0, 1.0)


def _uncovered(strip: Strip, span: Span) -> bool:
    """Whether the run went on while this strip's sensor was silent."""
    times = [at for at, value in strip.samples if finite(value)]
    interval = _interval(times)
    return times[0] - span[0] > _GAP * interval or span[1] - times[-1] > _GAP * interval


def _interval(times: Sequence[float]) -> float:
    steps = [b - a for a, b in pairwise(times) if b > a]
    return statistics.median(steps) if steps else 1.0


def _cells(strip: Strip) -> tuple[list[tuple[float, float, int]], bool]:
    """The strip as (from, to, level) with equal neighbours joined, and whether something was missing."""
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
    return _joined(_thinned(pieces), strip.maximum), missing


def _thinned(pieces: list[tuple[float, float, float]]) -> list[tuple[float, float, float]]:
    """At most `_CELLS` pieces: neighbours become their time-weighted mean. Gaps stay gaps."""
    size = math.ceil(len(pieces) / _CELLS)
    if size < 2:
        return pieces
    return [mean for i in range(0, len(pieces), size) for mean in _means(pieces[i : i + size])]


def _means(pieces: list[tuple[float, float, float]]) -> list[tuple[float, float, float]]:
    runs: list[list[tuple[float, float, float]]] = []
    for piece in pieces:
        if runs and piece[0] - runs[-1][-1][1] <= 1e-9:
            runs[-1].append(piece)
        else:
            runs.append([piece])
    return [(run[0][0], run[-1][1], _weighted(run)) for run in runs]


def _weighted(run: list[tuple[float, float, float]]) -> float:
    total = run[-1][1] - run[0][0]
    return sum((b - a) * v for a, b, v in run) / total if total > 0 else run[0][2]


def _joined(pieces: list[tuple[float, float, float]], maximum: float) -> list[tuple[float, float, int]]:
    cells: list[tuple[float, float, int]] = []
    for begin, end, value in pieces:
        level = min(max(int(LEVELS * value / maximum), 0), LEVELS - 1) if maximum > 0 else 0
        if cells and cells[-1][2] == level and begin - cells[-1][1] <= 1e-9:
            cells[-1] = (cells[-1][0], end, level)
        else:
            cells.append((begin, end, level))
    return cells


def _utilisation(
    id: str, look: Look, strips: Sequence[Strip], window: Span | None, shaded: Sequence[Span], span: Span
) -> str:
    row = 26 if len(strips) <= 24 else 16
    left = min(max(text_width(s.label, TEXT) for s in strips) + 18, 230)
    means = [
        ticks.quantity(s.mean / 100 if s.unit == "%" else s.mean, s.unit) if finite(s.mean) else "" for s in strips
    ]
    right = WIDTH - max(text_width(mean, TEXT) for mean in means) - 16
    height = 40 + row * len(strips) + 28
    sheet = Sheet(id, height=height)
    panel = sheet.panel(left, 40, right, height - 28)
    panel.set_xlim(*span)
    panel.set_ylim(len(strips) - 0.5, -0.5)
    panel.spines["bottom"].set_visible(False)
    ticks.label_columns(sheet, panel, ticks.linear(*span, 7))
    sheet.write(right + 8, height - 15, "s")
    _strip_fields(sheet, panel, strips, span)
    _fade(sheet, panel, window, shaded, span, len(strips))
    for place, (strip, mean) in enumerate(zip(strips, means, strict=True)):
        y = 40 + row * (place + 0.5)
        size = TEXT if row > 20 else SMALL
        sheet.write(left - 8, y, shortened(strip.label, left - 12, size), anchor="right", size=size, colour="ink")
        sheet.write(WIDTH, y, mean, anchor="right", size=size, colour="ink")
    return sheet.svg()


def _strip_fields(sheet: Sheet, panel: Panel, strips: Sequence[Strip], span: Span) -> None:
    levels: dict[int, list[Box]] = {}
    for place, strip in enumerate(strips):
        for begin, end, level in _cells(strip)[0]:
            begin = max(begin, span[0])
            levels.setdefault(level, []).append((begin, place - 0.4, end - begin, 0.8))
    whole = [(span[0], place - 0.4, span[1] - span[0], 0.8) for place in range(len(strips))]
    field(panel, whole, "surface", hatch="rule", zorder=1)
    for level in sorted(levels):
        field(panel, levels[level], f"seq-{level}", zorder=2)
    frames = outlines(panel, whole, colour="rule", width=0.8, zorder=4)
    sheet.mark(frames, [(strip.ref, place) for place, strip in enumerate(strips)])


def _fade(sheet: Sheet, panel: Panel, window: Span | None, shaded: Sequence[Span], span: Span, rows: int) -> None:
    """Veils what lies outside the measured window and brackets what lies inside."""
    outside = [(max(a, span[0]), min(b, span[1])) for a, b in shaded]
    if window:
        begin, end = max(window[0], span[0]), min(window[1], span[1])
        outside += [(span[0], begin), (end, span[1])]
        _bracket(sheet, panel, begin, end, rows)
    boxes = [(a, -0.5, b - a, rows) for a, b in outside if b > a]
    if boxes:
        field(panel, boxes, "surface", zorder=3, alpha=0.55)


def _bracket(sheet: Sheet, panel: Panel, begin: float, end: float, rows: int) -> None:
    top = sheet.pixel(panel, begin, -0.5)[1]
    unit = 1 / max(sheet.pixel(panel, 0, 1)[1] - sheet.pixel(panel, 0, 0)[1], 1e-9)  # rows per pixel
    lid = -0.5 - 9 * unit
    xs, ys = (begin, begin, end, end), (-0.5, lid, lid, -0.5)
    panel.plot(xs, ys, color=ROLES["ink"], linewidth=1.4, clip_on=False, zorder=5)
    panel.vlines((begin, end), -0.5, rows - 0.5, color=ROLES["ink"], linewidth=1, zorder=5)
    middle = (sheet.pixel(panel, begin, 0)[0] + sheet.pixel(panel, end, 0)[0]) / 2
    text = f"{ticks.number(round(begin, 1))}–{ticks.number(round(end, 1))} s"
    sheet.write(middle, top - 20, text, anchor="center", colour="ink", style="halo")

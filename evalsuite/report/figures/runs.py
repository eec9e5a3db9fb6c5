"""Figures of runs and cases: utilisation over time, repeats, coverage of the plan, criteria."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from evalsuite.model import Origin
from evalsuite.report.figures import ticks
from evalsuite.report.figures.cache import drawn
from evalsuite.report.figures.data import FLAG, SIGNS, TEXT_FORM, Axis, Figure, Label, LegendEntry, Table, Words
from evalsuite.report.figures.shapes import Box, field, outlines, tiles, whiskers
from evalsuite.report.figures.sheet import SMALL, TEXT, WIDTH, Sheet, marker_style, shortened, text_width
from evalsuite.report.figures.style import ROLES, Look, note_swatch, scale_swatch

_LEVELS = 10  # steps of the sequential scale
_CELLS = 160  # cells of a strip: about 3 pixels each, narrower none is told from its neighbour
_GAP = 2.5  # sampling intervals without a sample that count as missing

# --- utilisation over time ---------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Strip:
    """One resource of one device over time. *mean* is the utilisation of the measured window."""

    label: Label
    samples: tuple[tuple[float, float | None], ...]  # (seconds since the run began, value)
    maximum: float = 100.0  # what the darkest step stands for: the capacity
    unit: str = "%"
    mean: float | None = None
    ref: str = ""


def utilisation(
    strips: Sequence[Strip],
    look: Look,
    *,
    id: str,
    window: tuple[float, float] | None = None,
    shaded: Sequence[tuple[float, float]] = (),
) -> Figure:
    """Utilisation over time as heat strips, one row a resource; hatched where no sample was taken.

    *window* is the measured part in seconds: bracketed, everything outside it is faded. *shaded* are further
    parts to fade (evaluation). Values are in `Strip.unit`, percentages from 0 to 100.
    """
    strips = tuple(strips)
    sampled = [strip for strip in strips if any(_finite(v) for _, v in strip.samples)]
    span = _span(sampled)
    missing = any(_cells(s)[1] or _uncovered(s, span) for s in sampled) or len(sampled) < len(strips)
    return Figure(
        id=id,
        svg=drawn(_utilisation, id, look, strips, window, tuple(shaded), span) if sampled else None,
        table=Table(
            columns=("resource", "mean", "unit", "capacity", "samples"),
            rows=tuple((_key(s.label), s.mean, s.unit, s.maximum, _count(s)) for s in strips),
            refs=tuple(s.ref for s in strips),
        ),
        legend=(
            LegendEntry(key="capacity_share", label="0–100%", swatch=scale_swatch()),
            *((_note("window"), _note("warmup")) if window else ()),
            *((_note("missing"),) if missing else ()),
        ),
        axes=(Axis(key="at_s", unit="s"), Axis(key="resource")),
        notes=("missing",) if missing else (),
    )


def _note(key: str) -> LegendEntry:
    return LegendEntry(key=key, swatch=note_swatch(key))


def _key(label: Label) -> str:
    return label.en if isinstance(label, Words) else label


def _finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _count(strip: Strip) -> int:
    return sum(_finite(value) for _, value in strip.samples)


def _span(strips: Sequence[Strip]) -> tuple[float, float]:
    times = [at for strip in strips for at, _ in strip.samples]
    return (min(0.0, *times), max(*times, 1e-3)) if times else (0.0, 1.0)


def _uncovered(strip: Strip, span: tuple[float, float]) -> bool:
    """Whether the run went on while this strip's sensor was silent."""
    times = [at for at, value in strip.samples if _finite(value)]
    interval = _interval(times)
    return times[0] - span[0] > _GAP * interval or span[1] - times[-1] > _GAP * interval


def _interval(times: Sequence[float]) -> float:
    steps = [b - a for a, b in pairwise(times) if b > a]
    return statistics.median(steps) if steps else 1.0


def _cells(strip: Strip) -> tuple[list[tuple[float, float, int]], bool]:
    """The strip as (from, to, level) with equal neighbours joined, and whether something was missing."""
    samples = [(at, value) for at, value in strip.samples if _finite(value)]
    interval = _interval([at for at, _ in samples])
    pieces, before = [], None
    for at, value in samples:
        known = before is not None and at - before <= _GAP * interval
        pieces.append((before if known else at - interval, at, value))
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
        level = min(max(int(_LEVELS * value / maximum), 0), _LEVELS - 1) if maximum > 0 else 0
        if cells and cells[-1][2] == level and begin - cells[-1][1] <= 1e-9:
            cells[-1] = (cells[-1][0], end, level)
        else:
            cells.append((begin, end, level))
    return cells


def _utilisation(id: str, look: Look, strips, window, shaded, span) -> str:
    row = 26 if len(strips) <= 24 else 16
    left = min(max(text_width(s.label, TEXT) for s in strips) + 18, 230)
    means = [
        ticks.quantity(s.mean / 100 if s.unit == "%" else s.mean, s.unit) if _finite(s.mean) else "" for s in strips
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


def _strip_fields(sheet: Sheet, panel, strips: Sequence[Strip], span: tuple[float, float]) -> None:
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


def _fade(sheet: Sheet, panel, window, shaded, span: tuple[float, float], rows: int) -> None:
    """Veils what lies outside the measured window and brackets what lies inside."""
    outside = [(max(a, span[0]), min(b, span[1])) for a, b in shaded]
    if window:
        begin, end = max(window[0], span[0]), min(window[1], span[1])
        outside += [(span[0], begin), (end, span[1])]
        _bracket(sheet, panel, begin, end, rows)
    boxes = [(a, -0.5, b - a, rows) for a, b in outside if b > a]
    if boxes:
        field(panel, boxes, "surface", zorder=3, alpha=0.55)


def _bracket(sheet: Sheet, panel, begin: float, end: float, rows: int) -> None:
    top = sheet.pixel(panel, begin, -0.5)[1]
    unit = 1 / max(sheet.pixel(panel, 0, 1)[1] - sheet.pixel(panel, 0, 0)[1], 1e-9)  # rows per pixel
    lid = -0.5 - 9 * unit
    line = {"color": ROLES["ink"], "linewidth": 1.4, "clip_on": False, "zorder": 5}
    panel.plot((begin, begin, end, end), (-0.5, lid, lid, -0.5), **line)
    panel.vlines((begin, end), -0.5, rows - 0.5, color=ROLES["ink"], linewidth=1, zorder=5)
    middle = (sheet.pixel(panel, begin, 0)[0] + sheet.pixel(panel, end, 0)[0]) / 2
    text = f"{ticks.number(round(begin, 1))}–{ticks.number(round(end, 1))} s"
    sheet.write(middle, top - 20, text, anchor="center", colour="ink", style="halo")


# --- repeats -----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Repeats:
    """All runs of one case."""

    label: Label
    framework: str
    values: tuple[float, ...]  # valid runs, in the order of the repeats
    unit: str
    excluded: tuple[float, ...] = ()  # runs whose value does not count: drawn hollow, not in the median
    ref: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def cv(self) -> float | None:
        """Standard deviation ÷ mean; None for one run."""
        return statistics.stdev(self.values) / statistics.fmean(self.values) if len(self.values) > 1 else None


def repeats(rows: Sequence[Repeats], look: Look, *, id: str) -> Figure:
    """Every run of every case as its distance from the case's median in per cent, with median and CV."""
    rows = tuple(rows)
    shown = tuple(row for row in rows if row.values and all(map(_finite, row.values)) and row.median > 0)
    ordered = (*shown, *(row for row in rows if row not in shown))
    return Figure(
        id=id,
        svg=drawn(_repeats, id, look, shown) if shown else None,
        table=Table(
            columns=("case", "run", "value", "unit", "excluded"),
            rows=tuple(
                (_key(row.label), i, value, row.unit, i >= len(row.values))
                for row in ordered
                for i, value in enumerate((*row.values, *row.excluded))
            ),
            refs=tuple(row.ref for row in ordered for _ in (*row.values, *row.excluded)),
        ),
        legend=(_note("median"),),
        axes=(Axis(key="distance_from_median", unit="%"), Axis(key="case")),
        notes=("excluded",) if any(row.excluded for row in shown) else (),
    )


def _repeats(id: str, look: Look, rows: Sequence[Repeats]) -> str:
    high = 30
    left = min(max(text_width(r.label, TEXT) for r in rows) + 18, 300)
    notes = [_repeat_note(row) for row in rows]
    right = WIDTH - max(text_width(note) for note in notes) - 22
    height = 8 + high * len(rows) + 30
    sheet = Sheet(id, height=height)
    panel = sheet.panel(left, 8, right, height - 30)
    reach = max(0.01, *(abs(v / r.median - 1) for r in rows for v in (*r.values, *r.excluded))) * 1.12
    panel.set_xlim(-reach, reach)
    panel.set_ylim(len(rows) - 0.5, -0.5)
    ticks.label_columns(sheet, panel, ticks.linear(-reach, reach, 7), _signed)
    panel.grid(axis="x", color=ROLES["grid"], linewidth=1)
    panel.hlines(range(len(rows)), -reach, reach, color=ROLES["grid"], linewidth=1)
    first = 0
    for place, (row, note) in enumerate(zip(rows, notes, strict=True)):
        y = 8 + high * (place + 0.5)
        panel.plot((0, 0), (place - 0.4, place + 0.4), color=ROLES["ink"], linewidth=2, zorder=3)
        _dots(sheet, panel, row, look, place, first)
        sheet.write(left - 8, y, shortened(row.label, left - 12, TEXT), anchor="right", size=TEXT, colour="ink")
        sheet.write(WIDTH, y, note, anchor="right", colour="ink")
        first += len(row.values) + len(row.excluded)
    return sheet.svg()


def _repeat_note(row: Repeats) -> str:
    cv = "" if row.cv is None else f" · CV {ticks.percent_value(row.cv)}"
    return f"{ticks.quantity(row.median, row.unit)}{cv}"


def _signed(share: float) -> str:
    return "0" if abs(share) < 1e-12 else f"{'+' if share > 0 else '−'}{ticks.percent(abs(share))}"


def _dots(sheet: Sheet, panel, row: Repeats, look: Look, place: int, first: int) -> None:
    hue = look.hue(row.framework)
    values = (*row.values, *row.excluded)
    xs = [value / row.median - 1 for value in values]
    lifts = _swarm([sheet.pixel(panel, x, place)[0] for x in xs])
    for hollow, begin, end in ((False, 0, len(row.values)), (True, len(row.values), len(values))):
        if begin < end:
            ys = [place + lift / 30 for lift in lifts[begin:end]]
            (dots,) = panel.plot(xs[begin:end], ys, zorder=4, **marker_style(hue, hollow=hollow))
            sheet.mark(dots, [(row.ref, first + i) for i in range(begin, end)], series=row.framework)


def _swarm(pixels: Sequence[float]) -> list[float]:
    """How far up or down each dot moves so that none hides another (pixels)."""
    placed: list[tuple[float, float]] = []
    for x in pixels:
        slots = (0.0, -5.0, 5.0, -10.0, 10.0)
        crowd = [lift for other, lift in placed if abs(other - x) < 7]
        placed.append((x, next((slot for slot in slots if all(abs(slot - c) >= 5 for c in crowd)), 0.0)))
    return [lift for _, lift in placed]


# --- coverage of the plan ----------------------------------------------------------------------------

CellStatus = Literal[
    "ok", "partial", "flagged", "failed", "oom", "timed_out", "invalid", "unsupported", "planned", "not_planned"
]
_LETTERS = {
    "ok": "",
    "partial": "◐",
    "flagged": FLAG,
    "failed": "✗",
    "oom": "OOM",
    "timed_out": f"⌛{TEXT_FORM}",
    "invalid": "⊘",
    "unsupported": "N/S",
    "planned": "·",
    "not_planned": "—",
}
_FILLS = {
    **dict.fromkeys(("ok",), "cell-ok"),
    **dict.fromkeys(("partial", "flagged"), "cell-partial"),
    **dict.fromkeys(("failed", "oom", "timed_out", "invalid"), "cell-bad"),
    **dict.fromkeys(("unsupported", "not_planned"), "cell-none"),
}


@dataclass(frozen=True, kw_only=True)
class CoverageCell:
    """The state of one case: its status (REPORT.md §5) and how many valid repeats it has."""

    row: Label
    column: str  # "1x8"
    status: CellStatus
    n: int | None = None
    ref: str = ""


def coverage(cells: Sequence[CoverageCell], look: Look, *, id: str) -> Figure:
    """The test matrix: rows as first met, columns as first met, lettered and coloured by status.

    A place that no cell names is "not planned": none is left empty.
    """
    cells = tuple(cells)
    present = {cell.status for cell in cells}
    return Figure(
        id=id,
        svg=drawn(_coverage, id, look, cells) if cells else None,
        table=Table(
            columns=("case", "scale", "status", "n"),
            rows=tuple((_key(cell.row), cell.column, cell.status, cell.n) for cell in cells),
            refs=tuple(cell.ref for cell in cells),
        ),
        legend=tuple(LegendEntry(key=key, label=letter or "5") for key, letter in _LETTERS.items() if key in present),
        axes=(Axis(key="scale"), Axis(key="case")),
        notes=tuple(key for key in _LETTERS if key in present),
    )


def _coverage(id: str, look: Look, cells: Sequence[CoverageCell]) -> str:
    rows = list(dict.fromkeys(cell.row for cell in cells))
    columns = list(dict.fromkeys(cell.column for cell in cells))
    left = min(max(text_width(row, TEXT) for row in rows) + 18, 330)
    across = min((WIDTH - left) / len(columns), 84)
    height = 30 + 28 * len(rows) + 4
    sheet = Sheet(id, height=height)
    panel = sheet.panel(left, 30, left + across * len(columns), height - 4)
    panel.set_xlim(0, len(columns))
    panel.set_ylim(len(rows), 0)
    panel.spines["bottom"].set_visible(False)
    for i, column in enumerate(columns):
        sheet.write(left + across * (i + 0.5), 16, shortened(column, across + 4), anchor="center", colour="ink")
    for i, row in enumerate(rows):
        text = shortened(row, left - 12, TEXT)
        sheet.write(left - 8, 30 + 28 * (i + 0.5), text, anchor="right", size=TEXT, colour="ink")
    _matrix(sheet, panel, cells, rows, columns, left, across)
    return sheet.svg()


def _matrix(sheet: Sheet, panel, cells, rows: list, columns: list, left: float, across: float) -> None:
    named = {(cell.row, cell.column): (i, cell) for i, cell in enumerate(cells)}
    empty = (-1, CoverageCell(row="", column="", status="not_planned"))
    groups: dict[str, list[tuple[Box, int, CoverageCell]]] = {}
    for y, row in enumerate(rows):
        for x, column in enumerate(columns):
            number, cell = named.get((row, column), empty)
            groups.setdefault(cell.status, []).append(((x + 0.03, y + 0.05, 0.94, 0.9), number, cell))
            middle = (left + across * (x + 0.5), 30 + 28 * (y + 0.5))
            sheet.write(*middle, _cell_text(cell), anchor="center", size=SMALL, colour="ink")
    for status, group in groups.items():
        boxes = [box for box, *_ in group]
        shapes = outlines(panel, boxes, colour="rule", width=0.8) if status == "planned" else None
        shapes = shapes or tiles(panel, boxes, _FILLS[status])
        sheet.mark(shapes, [(cell.ref, number) if number >= 0 else None for _, number, cell in group])


def _cell_text(cell: CoverageCell) -> str:
    counted = cell.status in ("ok", "partial", "flagged") and cell.n is not None
    return f"{_LETTERS[cell.status]} {cell.n if counted else ''}".strip()


# --- criteria ----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Bullet:
    """One acceptance criterion as a number. Shares are 0..1 with unit "%"."""

    label: Label
    value: float | None
    threshold: float | None
    low: float | None = None
    high: float | None = None
    unit: str = "%"
    origin: Origin | Literal["extrapolated"] = "measured"
    ref: str = ""

    @property
    def reach(self) -> float:
        """The end of its track."""
        known = [v for v in (self.value, self.high, self.threshold) if _finite(v)]
        return max(1.0 if self.unit == "%" else 0.0, *known, 0.0) * (1.0 if self.unit == "%" else 1.15) or 1.0


def bullets(rows: Sequence[Bullet], look: Look, *, id: str, width: float = WIDTH) -> Figure:
    """A bullet chart: per criterion the value as a bar, its interval, and the threshold as a tick.

    Each row has a track of its own from 0. A criterion without a value has a hatched track. For a verdict
    card give one row and a smaller *width*.
    """
    rows = tuple(rows)
    return Figure(
        id=id,
        svg=drawn(_bullets, id, look, rows, width) if rows else None,
        table=Table(
            columns=("criterion", "value", "low", "high", "threshold", "unit", "origin"),
            rows=tuple((_key(r.label), r.value, r.low, r.high, r.threshold, r.unit, r.origin) for r in rows),
            refs=tuple(row.ref for row in rows),
        ),
        legend=(_note("threshold"),) if any(_finite(row.threshold) for row in rows) else (),
        axes=(Axis(key="value"),),
        notes=tuple(dict.fromkeys(row.origin for row in rows if row.origin in SIGNS)),
    )


def _bullets(id: str, look: Look, rows: Sequence[Bullet], width: float) -> str:
    high = 40
    left = min(max(text_width(row.label, TEXT) for row in rows) + 14, width / 3)
    texts = [_bullet_text(row) for row in rows]
    right = width - max(text_width(text, TEXT) for text in texts) - 18
    sheet = Sheet(id, height=high * len(rows) + 4, width=width)
    for place, (row, text) in enumerate(zip(rows, texts, strict=True)):
        top = high * place + 4
        panel = sheet.panel(left, top + 6, right, top + high - 8)
        _track(sheet, panel, row, place)
        sheet.write(left - 10, top + high / 2 - 1, row.label, anchor="right", size=TEXT, colour="ink", style="strong")
        sheet.write(width, top + high / 2 - 1, text, anchor="right", size=TEXT, colour="ink")
    return sheet.svg()


def _bullet_text(row: Bullet) -> str:
    sign = SIGNS.get(row.origin, "")
    value = f"{sign}{ticks.quantity(row.value, row.unit)}" if _finite(row.value) else "—"
    return value + (f" / ≥ {_plain(row.threshold, row.unit)}" if _finite(row.threshold) else "")


def _plain(value: float, unit: str) -> str:
    return ticks.percent(value) if unit == "%" else f"{ticks.number(value)}{unit}"


def _track(sheet: Sheet, panel, row: Bullet, place: int) -> None:
    panel.spines["bottom"].set_visible(False)
    panel.set_xlim(0, row.reach)
    panel.set_ylim(-1, 1)
    known = _finite(row.value)
    field(panel, [(0, -0.75, row.reach, 1.5)], "shade", hatch="" if known else "rule")
    if known:
        box, guessed = (0, -0.32, max(row.value, 0), 0.64), row.origin in SIGNS
        bar = field(panel, [box], "surface" if guessed else "muted", hatch="muted" if guessed else "", zorder=2)
        outlines(panel, [box], colour="muted")
        sheet.mark(bar, [(row.ref, place)])
    if _finite(row.low) and _finite(row.high):
        whiskers(panel, [(0, row.low, row.high)], across=True)
    if _finite(row.threshold):
        panel.plot((row.threshold,) * 2, (-1, 1), color=ROLES["surface"], linewidth=5.5, zorder=4)
        panel.plot((row.threshold,) * 2, (-1, 1), color=ROLES["ink"], linewidth=3, zorder=5)

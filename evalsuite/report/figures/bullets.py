"""A measured value beside what was asked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evalsuite.model import Origin
from evalsuite.report.figures import ticks
from evalsuite.report.figures.data import SIGNS, Axis, Figure, Label, Table, finite, note_entry, ref_of
from evalsuite.report.figures.shapes import field, outlines, whiskers
from evalsuite.report.figures.sheet import TEXT, WIDTH, Panel, Sheet, draw, text_width
from evalsuite.report.figures.style import ROLES, Look


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
        known = [value for value in (self.value, self.high, self.threshold) if finite(value)]
        return max(1.0 if self.unit == "%" else 0.0, *known, 0.0) * (1.0 if self.unit == "%" else 1.15) or 1.0


def bullets(rows: Sequence[Bullet], look: Look, *, id: str, width: float = WIDTH) -> Figure:
    """A bullet chart: per criterion the value as a bar, its interval, and the threshold as a tick.

    Each row has a track of its own from 0. A criterion without a value has a hatched track. For a verdict
    card give one row and a smaller *width*.
    """
    rows = tuple(rows)
    return Figure(
        id=id,
        svg=draw(_bullets, id, look, rows, width) if rows else None,
        table=Table(
            columns=("criterion", "value", "low", "high", "threshold", "unit", "origin"),
            rows=tuple((ref_of(r.label), r.value, r.low, r.high, r.threshold, r.unit, r.origin) for r in rows),
            refs=tuple(row.ref for row in rows),
        ),
        legend=(note_entry("threshold"),) if any(finite(row.threshold) for row in rows) else (),
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
        panel = sheet.panel(left, top + 6, right, top + high - 8, foot=False)
        _track(sheet, panel, row)
        sheet.write(left - 10, top + high / 2 - 1, row.label, anchor="right", size=TEXT, colour="ink", style="strong")
        sheet.write(width, top + high / 2 - 1, text, anchor="right", size=TEXT, colour="ink")
    return sheet.svg()


def _bullet_text(row: Bullet) -> str:
    sign = SIGNS.get(row.origin, "")
    value = f"{sign}{ticks.quantity(row.value, row.unit)}" if finite(row.value) else "—"
    return value + (f" / ≥ {_plain(row.threshold, row.unit)}" if finite(row.threshold) else "")


def _plain(value: float, unit: str) -> str:
    return ticks.percent(value) if unit == "%" else f"{ticks.number(value)}{unit}"


def _track(sheet: Sheet, panel: Panel, row: Bullet) -> None:
    panel.set_xlim(0, row.reach)
    panel.set_ylim(-1, 1)
    field(panel, [(0, -0.75, row.reach, 1.5)], "shade", hatch="" if finite(row.value) else "rule")
    if finite(row.value):
        box, guessed = (0, -0.32, max(row.value, 0), 0.64), row.origin in SIGNS
        bar = field(panel, [box], "surface" if guessed else "muted", hatch="muted" if guessed else "", zorder=2)
        outlines(panel, [box], colour="muted")
        sheet.mark(bar, [row.ref])
    if finite(row.low) and finite(row.high):
        whiskers(panel, [(0, row.low, row.high)], across=True)
    if finite(row.threshold):
        panel.plot((row.threshold,) * 2, (-1, 1), color=ROLES["surface"], linewidth=5.5, zorder=4)
        panel.plot((row.threshold,) * 2, (-1, 1), color=ROLES["ink"], linewidth=3, zorder=5)

"""Every run of every case, as its distance from the case's median."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from evalsuite.report.figures import ticks
from evalsuite.report.figures.data import Axis, Figure, Label, Table, finite, note_entry, plain
from evalsuite.report.figures.shapes import row_chart
from evalsuite.report.figures.sheet import SMALL, WIDTH, Panel, Sheet, draw, text_width
from evalsuite.report.figures.style import ROLES, Look


@dataclass(frozen=True, kw_only=True)
class Repeats:
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
        return statistics.stdev(self.values) / statistics.fmean(self.values) if len(self.values) > 1 else None


def repeats(rows: Sequence[Repeats], look: Look, *, id: str) -> Figure:
    rows = tuple(rows)
    shown = tuple(row for row in rows if row.values and all(map(finite, row.values)) and row.median > 0)
    ordered = (*shown, *(row for row in rows if row not in shown))
    return Figure(
        id=id,
        svg=draw(_repeats, id, look, shown) if shown else None,
        table=Table(
            columns=("case", "run", "value", "unit", "excluded"),
            rows=tuple(
                (plain(row.label), i, value, row.unit, i >= len(row.values))
                for row in ordered
                for i, value in enumerate((*row.values, *row.excluded))
            ),
            refs=tuple(row.ref for row in ordered for _ in (*row.values, *row.excluded)),
        ),
        legend=(note_entry("median"),),
        axes=(Axis(key="distance_from_median", unit="%"), Axis(key="case")),
        notes=("excluded",) if any(row.excluded for row in shown) else (),
    )


def _repeats(id: str, look: Look, rows: Sequence[Repeats]) -> str:
    cvs = ["" if row.cv is None else f" · CV {ticks.percent_value(row.cv)}" for row in rows]
    notes = [f"{ticks.quantity(row.median, row.unit)}{cv}" for row, cv in zip(rows, cvs, strict=True)]
    right = WIDTH - max(text_width(note) for note in notes) - 22
    sheet, panel = row_chart(
        id, [row.label for row in rows], row=30, top=8, foot=30, right=right, widest=300, values=notes, size=SMALL
    )
    reach = max(0.01, *(abs(v / r.median - 1) for r in rows for v in (*r.values, *r.excluded))) * 1.12
    panel.set_xlim(-reach, reach)
    ticks.label_columns(sheet, panel, ticks.linear(-reach, reach, 7), ticks.signed_percent, grid=True)
    places = range(len(rows))
    panel.hlines(places, -reach, reach, color=ROLES["grid"], linewidth=1)
    ends = ([place - 0.4 for place in places], [place + 0.4 for place in places])
    panel.vlines([0] * len(rows), *ends, color=ROLES["ink"], linewidth=2, capstyle="projecting", zorder=3)
    for place, row in enumerate(rows):
        _dots(sheet, panel, row, look, place)
    return sheet.svg()


def _dots(sheet: Sheet, panel: Panel, row: Repeats, look: Look, place: int) -> None:
    hue = look.hue(row.framework)
    values = (*row.values, *row.excluded)
    xs = [value / row.median - 1 for value in values]
    lifts = _swarm([sheet.pixel(panel, x, place)[0] for x in xs])
    for hollow, begin, end in ((False, 0, len(row.values)), (True, len(row.values), len(values))):
        if begin < end:
            ys = [place + lift / 30 for lift in lifts[begin:end]]
            refs = [row.ref] * (end - begin)
            sheet.dots(panel, xs[begin:end], ys, hue, refs, row.framework, hollow=hollow)


def _swarm(pixels: Sequence[float]) -> list[float]:
    placed: list[tuple[float, float]] = []
    for x in pixels:
        slots = (0.0, -5.0, 5.0, -10.0, 10.0)
        crowd = [lift for other, lift in placed if abs(other - x) < 7]
        placed.append((x, next((slot for slot in slots if all(abs(slot - c) >= 5 for c in crowd)), 0.0)))
    return [lift for _, lift in placed]

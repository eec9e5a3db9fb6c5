"""Many models: efficiency in small multiples on the same axes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evalsuite.report.figures import ticks
from evalsuite.report.figures.cache import drawn
from evalsuite.report.figures.data import Axis, Figure, Label, ScaleSeries, Table, plain, point_notes, point_table
from evalsuite.report.figures.scaling import (
    counts_of,
    draw_ideal,
    draw_series,
    drawable,
    legend,
    positive,
    scale_columns,
)
from evalsuite.report.figures.sheet import TEXT, WIDTH, Sheet, shortened
from evalsuite.report.figures.style import ROLES, Look


@dataclass(frozen=True, kw_only=True)
class Multiple:
    """One panel: a model in one precision, say "BERT-base · AMP"."""

    label: Label
    series: tuple[ScaleSeries, ...]


def small_multiples(panels: Sequence[Multiple], look: Look, *, id: str, threshold: float | None = 0.8) -> Figure:
    """Efficiency against devices, one panel a model, the same axes in all of them."""
    visible = tuple(Multiple(label=p.label, series=drawable(p.series)) for p in panels)
    visible = tuple(panel for panel in visible if panel.series)
    every = [each for panel in visible for each in panel.series]
    tables = [(panel, point_table(panel.series, "efficiency")) for panel in visible]
    notes = ("ideal", "threshold") if threshold else ("ideal",)
    return Figure(
        id=id,
        svg=drawn(_small_multiples, id, look, visible, threshold) if visible else None,
        table=Table(
            columns=("panel", *point_table((), "efficiency").columns),
            rows=tuple((plain(panel.label), *row) for panel, table in tables for row in table.rows),
            refs=tuple(ref for _, table in tables for ref in table.refs),
        ),
        legend=legend(_once(every), look, notes),
        axes=(Axis(key="devices", logarithmic=True), Axis(key="efficiency", unit="%")),
        notes=point_notes(every),
    )


def _once(every: Sequence[ScaleSeries]) -> list[ScaleSeries]:
    """The first series of each name: a legend names it once, however many panels it stands in."""
    found: dict[tuple[str, Label], ScaleSeries] = {}
    for each in every:
        found.setdefault((each.framework, each.name), each)
    return list(found.values())


def _small_multiples(id: str, look: Look, panels: Sequence[Multiple], threshold: float | None) -> str:
    columns = min(len(panels), 3)
    rows = math.ceil(len(panels) / columns)
    left, gap, high = 48, 18, 150
    wide = (WIDTH - left - gap * (columns - 1) - 6) / columns
    sheet = Sheet(id, height=rows * (high + 36) + 28)
    every = [each for panel in panels for each in panel.series]
    counts = counts_of(every)
    top = max(1.05, 1.06 * max(v for s in every for p in s.points for v in (p.value, p.high) if positive(v)))
    first = 0
    for place, multiple in enumerate(panels):
        x, y = left + (wide + gap) * (place % columns), 28 + (high + 36) * (place // columns)
        panel = sheet.panel(x, y, x + wide, y + high)
        scale_columns(sheet, panel, counts)
        panel.set_ylim(0, top)
        ticks.label_rows(sheet, panel, ticks.linear(0, top, 6), ticks.percent)
        last_row = place + columns >= len(panels)
        panel.tick_params(axis="y", labelleft=place % columns == 0)
        panel.tick_params(axis="x", labelbottom=last_row)
        draw_ideal(sheet, panel, (), look, "one", counts)
        if threshold:
            panel.axhline(threshold, color=ROLES["ink"], linewidth=1.1, dashes=(6, 3), zorder=1.5)
        for each in multiple.series:
            draw_series(sheet, panel, each, look, first)
            first += len(each.points)
        sheet.write(x, y - 14, shortened(multiple.label, wide, TEXT), size=TEXT, colour="ink", style="strong")
    return sheet.svg()

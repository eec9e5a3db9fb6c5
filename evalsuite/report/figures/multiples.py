"""Efficiency of many models in small multiples on the same axes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from evalsuite.report.figures import data, ticks
from evalsuite.report.figures.scaling import counts_of, drawable, scale_columns
from evalsuite.report.figures.sheet import SMALL, TEXT, WIDTH, Panel, Sheet, draw, marker_style, shorten, text_width
from evalsuite.report.figures.style import ROLES, Look

COLUMNS, GAP, LEFT = 3, 22, 46
HEAD, HIGH, FOOT = 56, 150, 30  # of a panel: its names and that of its highest line, the drawing, numbers of devices


@dataclass(frozen=True, kw_only=True)
class Multiple:
    label: data.Label
    series: tuple[data.ScaleSeries, ...]
    detail: data.Label = ""


def small_multiples(panels: Sequence[Multiple], look: Look, *, id: str, threshold: float | None = None) -> data.Figure:
    visible = tuple(replace(panel, series=drawn) for panel in panels if (drawn := drawable(panel.series)))
    every = [each for panel in visible for each in panel.series]
    others = any(len(panel.series) > len(_extremes(panel.series)) for panel in visible)  # neither highest nor lowest

    def name(panel: Multiple) -> str:
        return " · ".join(filter(None, (data.plain(panel.label), data.plain(panel.detail))))

    tables = [(panel, data.point_table(panel.series, "efficiency")) for panel in visible]
    return data.Figure(
        id=id,
        svg=draw(_small_multiples, id, look, visible, threshold) if visible else None,
        table=data.Table(
            columns=("panel", *data.point_table((), "efficiency").columns),
            rows=tuple((name(panel), *row) for panel, table in tables for row in table.rows),
            refs=tuple(ref for _, table in tables for ref in table.refs),
        ),
        legend=(
            *((data.note_entry("others"),) if others else ()),
            data.note_entry("ideal"),
            *((data.note_entry("threshold"),) if threshold else ()),
        ),
        axes=(data.Axis(key="devices", logarithmic=True), data.Axis(key="efficiency", unit="%")),
        notes=tuple(key for key in data.point_notes(every) if "partial" not in key),  # no mark of a panel is hollow
    )


def _extremes(series: Sequence[data.ScaleSeries]) -> tuple[data.ScaleSeries, ...]:
    reach = max(each.points[-1].devices for each in series)
    ends = sorted((each for each in series if each.points[-1].devices == reach), key=lambda s: s.points[-1].shown)
    return (ends[0], ends[-1]) if len(ends) > 1 else (ends[0],)


def _small_multiples(id: str, look: Look, panels: Sequence[Multiple], threshold: float | None) -> str:
    columns = min(len(panels), COLUMNS)
    wide = (WIDTH - LEFT - GAP * (columns - 1) - 6) / columns
    sheet = Sheet(id, height=math.ceil(len(panels) / columns) * (HEAD + HIGH + FOOT))
    every = [each for panel in panels for each in panel.series]
    counts = counts_of(every)
    top = max(1.05, 1.06 * max(p.shown for s in every for p in s.points))  # no interval is drawn
    for place, multiple in enumerate(panels):
        x, y = LEFT + (wide + GAP) * (place % columns), HEAD + (HEAD + HIGH + FOOT) * (place // columns)
        panel = sheet.panel(x, y, x + wide, y + HIGH)
        scale_columns(sheet, panel, counts)
        panel.set_ylim(0, top)
        ticks.label_rows(sheet, panel, ticks.linear(0, top, 6), ticks.percent, labelled=place % columns == 0)
        panel.axhline(1, color=ROLES["rule"], linewidth=1.2, dashes=(2, 3), zorder=1.4)
        if threshold:
            panel.axhline(threshold, color=ROLES["ink"], linewidth=1.1, dashes=(6, 3), zorder=1.5)
        _panel_lines(sheet, panel, multiple.series, look, wide, threshold)
        sheet.write(x, y - 45, shorten(multiple.label, wide, TEXT), size=TEXT, colour="ink", style="strong")
        sheet.write(x, y - 28, shorten(multiple.detail, wide, SMALL))
    return sheet.svg()


def _panel_lines(
    sheet: Sheet, panel: Panel, series: Sequence[data.ScaleSeries], look: Look, wide: float, threshold: float | None
) -> None:
    reach = max(each.points[-1].devices for each in series)
    ends = _extremes(series)
    for each in series:
        named = any(each is series for series in ends)
        hue = look.hue(each.framework)
        colour = ROLES[hue.name if named else "rule"]
        xs, ys = [p.devices for p in each.points], [p.shown for p in each.points]
        (line,) = panel.plot(xs, ys, color=colour, linewidth=2.2 if named else 1, zorder=3 if named else 2)
        sheet.belongs(line, each.framework)
        style = marker_style(hue)
        style["markersize"] *= 0.8 if named else 0.4
        style |= {} if named else {"markerfacecolor": colour, "markeredgecolor": colour}
        (dots,) = panel.plot(xs, ys, zorder=4 if named else 2.5, **style)
        sheet.mark(dots, [p.ref for p in each.points], series=each.framework)
    for each, below in ((ends[-1], False), *(((ends[0], True),) if len(ends) > 1 else ())):
        x, y = sheet.pixel(panel, reach, each.points[-1].shown if below else panel.get_ylim()[1])
        value = f" {ticks.percent_value(each.points[-1].shown, threshold)}"
        text = data.plain(shorten(each.name, wide - text_width(value))) + value
        floor = sheet.pixel(panel, reach, 0.0)[1] - 5
        sheet.write(x, min(y + 16, floor) if below else y - 9, text, anchor="right", colour="ink", style="halo")

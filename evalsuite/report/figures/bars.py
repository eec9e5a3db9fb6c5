"""One value of each: horizontal bars, the longest first."""

from collections.abc import Sequence

from evalsuite.report.figures import ticks
from evalsuite.report.figures.data import Axis, Figure, Line, as_drawn, drawable, point_notes, point_table, positive
from evalsuite.report.figures.shapes import Box, cores, row_chart, whiskers
from evalsuite.report.figures.shapes import bars as draw_boxes
from evalsuite.report.figures.sheet import WIDTH, Panel, Sheet, draw
from evalsuite.report.figures.style import Hue, Look

_ROW, _FOOT = 30, 34


def bars(series: Sequence[Line], look: Look, *, id: str, value: str, unit: str) -> Figure:
    visible = tuple(sorted(drawable(series), key=lambda line: -line.points[0].shown))
    return Figure(
        id=id,
        svg=draw(_draw, id, look, as_drawn(visible), unit) if visible else None,
        table=point_table([("", unit, series, visible)], "devices", value),
        axes=(Axis(key=value, unit=unit),),
        notes=point_notes(visible),
    )


def _draw(id: str, look: Look, series: Sequence[Line], unit: str) -> str:
    names = [line.name for line in series]
    sheet, panel = row_chart(
        id, names, row=_ROW + 10 / len(names), top=8, foot=_FOOT, right=WIDTH - 84, widest=240, gap=20
    )
    top = max(v for s in series for p in s.points for v in (p.value, p.high) if positive(v))
    panel.set_xlim(0, top * 1.02)
    ticks.label_columns(sheet, panel, ticks.linear(0, panel.get_xlim()[1], 5), grid=True)
    sheet.write(sheet.pixel(panel, 0, 0)[0] - 10, sheet.height - _FOOT + 12, unit, anchor="right")
    for row, line in enumerate(series):
        _bar_row(sheet, panel, line, look.hue(line.framework), row)
    return sheet.svg()


def _bar_row(sheet: Sheet, panel: Panel, series: Line, hue: Hue, row: int) -> None:
    point = series.points[0]
    box: Box = (0, row - 0.3, point.shown, 0.6)
    draw_boxes(sheet, panel, [(box, point)], hue, series.framework)
    cores(panel, [] if point.hollow else [box], series.variant)
    if point.interval:
        whiskers(panel, [(row, *point.interval)])
    end, y = sheet.pixel(panel, max(point.shown, point.high or 0), row)
    sheet.write(end + 7, y, ticks.throughput(point.shown), colour="ink")

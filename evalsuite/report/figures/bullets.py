"""A measured share next to what was asked for."""

from evalsuite.report.figures import ticks
from evalsuite.report.figures.data import Axis, Figure, Table, finite, note_entry
from evalsuite.report.figures.shapes import field, outlines, whiskers
from evalsuite.report.figures.sheet import TEXT, Sheet, draw, text_width
from evalsuite.report.figures.style import ROLES

HEIGHT = 44


def bullet(
    value: float, threshold: float, interval: tuple[float | None, float | None], *, id: str, width: float, ref: str = ""
) -> Figure:
    return Figure(
        id=id,
        svg=draw(_bullet, id, value, threshold, interval, width, ref),
        table=Table(columns=("value", "low", "high", "threshold"), rows=((value, *interval, threshold),), refs=(ref,)),
        legend=(note_entry("threshold"),),
        axes=(Axis(key="value"),),
    )


def _bullet(
    id: str, value: float, threshold: float, interval: tuple[float | None, float | None], width: float, ref: str
) -> str:
    low, high = interval
    text = f"{ticks.percent_value(value, threshold)} / ≥ {ticks.percent(threshold)}"
    sheet = Sheet(id, height=HEIGHT, width=width)
    panel = sheet.panel(14, 10, width - text_width(text, TEXT) - 18, HEIGHT - 8, foot=False)
    reach = max(1.0, value, threshold, high if finite(high) else 0.0)
    panel.set_xlim(0, reach)
    panel.set_ylim(-1, 1)
    field(panel, [(0, -0.75, reach, 1.5)], "shade")
    box = (0, -0.32, max(value, 0), 0.64)
    sheet.mark(field(panel, [box], "muted", zorder=2), [ref])
    outlines(panel, [box], colour="muted")
    if finite(low) and finite(high):
        whiskers(panel, [(0, low, high)])
    for colour, thick, zorder in (("surface", 5.5, 4), ("ink", 3, 5)):
        panel.plot((threshold, threshold), (-1, 1), color=ROLES[colour], linewidth=thick, zorder=zorder)
    sheet.write(width, HEIGHT / 2 + 1, text, anchor="right", size=TEXT, colour="ink")
    return sheet.svg()

"""Bandwidth of an all-reduce by its size, a line for each scale."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalsuite.report.figures import ticks
from evalsuite.report.figures.data import Axis, Figure, Label, Table, plain
from evalsuite.report.figures.scaling import positive
from evalsuite.report.figures.sheet import SMALL, Panel, Sheet, draw, shorten, spread, text_width
from evalsuite.report.figures.style import Look

_TOP, _BOTTOM, _HEIGHT = 34, 34, 320


@dataclass(frozen=True, kw_only=True)
class BandwidthLine:
    name: Label
    key: str
    points: tuple[tuple[int, float], ...]  # (bytes reduced, bytes/s)
    ref: str = ""


def bandwidth(lines: Sequence[BandwidthLine], look: Look, *, id: str) -> Figure:
    visible = tuple(line for line in lines if any(positive(rate) for _, rate in line.points))
    rows = [(line, size, rate) for line in visible for size, rate in line.points]
    return Figure(
        id=id,
        svg=draw(_lines, id, look, visible) if visible else None,
        table=Table(
            columns=("series", "message", "bandwidth"),
            rows=tuple((plain(line.name), float(size), rate) for line, size, rate in rows),
            refs=tuple(line.ref for line, *_ in rows),
        ),
        axes=(Axis(key="message", logarithmic=True), Axis(key="bandwidth", logarithmic=True)),
    )


def _lines(id: str, look: Look, lines: Sequence[BandwidthLine]) -> str:
    sizes = sorted({size for line in lines for size, _ in line.points})
    rates = [rate for line in lines for _, rate in line.points if positive(rate)]
    limits = (min(rates) / 1.4, max(rates) * 1.4)
    marked = ticks.logarithmic(*limits)
    room = min(max(text_width(line.name, SMALL) for line in lines) + 30, 230)
    sheet = Sheet(id, height=_HEIGHT, ends=True)
    panel = sheet.panel(ticks.margin(marked, _rate), _TOP, sheet.width - room, _HEIGHT - _BOTTOM)
    _axes(sheet, panel, sizes, limits, marked)
    ends = []
    for line in lines:
        hue, points = look.hue(line.key), [(size, rate) for size, rate in line.points if positive(rate)]
        xs, ys = zip(*points, strict=True)
        sheet.join(panel, xs, ys, hue, line.key)
        sheet.dots(panel, xs, ys, hue, [line.ref] * len(points), line.key)
        ends.append(sheet.pixel(panel, *points[-1])[1])
    for line, place in zip(lines, spread(ends, 16, _TOP, _HEIGHT - _BOTTOM), strict=True):
        sheet.write(sheet.width - room + 12, place, shorten(line.name, room - 14), colour="ink")
    return sheet.svg()


def _axes(sheet: Sheet, panel: Panel, sizes: Sequence[int], limits: tuple[float, float], marked: list[float]) -> None:
    panel.set_xscale("log", base=2)
    panel.set_xlim(sizes[0] / 1.6, sizes[-1] * 1.6)
    ticks.label_columns(sheet, panel, sizes, _size)
    panel.set_yscale("log")
    panel.set_ylim(*limits)
    ticks.label_rows(sheet, panel, marked, _rate)


def _size(size: float) -> str:
    power = next(power for power in (3, 2, 1, 0) if size >= 1024**power or not power)
    return f"{ticks.number(round(size / 1024**power, 3))} {('B', 'KiB', 'MiB', 'GiB')[power]}"


def _rate(rate: float) -> str:
    return ticks.quantity(rate, "bytes/s").replace(".00 ", " ").replace(".0 ", " ")

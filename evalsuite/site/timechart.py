"""A model's history: a panel for each case, all on one axis of time and one of change in per cent.

Without matplotlib: a site has hundreds of panels with a dozen marks each. Words are in the page around them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from evalsuite.report.data.finished import instant
from evalsuite.report.text import numbers
from evalsuite.report.text.names import day
from evalsuite.site.history import HistoryLine, HistoryPoint

WIDTH, HEIGHT = 320, 150
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 16, 26
NARROWEST = 0.10  # the axis spans at least ±10 %, so that noise does not look like change
ROOM = 1.08  # of the furthest value
SIGNS = {"slower": "▼", "faster": "▲"}


@dataclass(frozen=True, kw_only=True)
class Frame:
    """Shared by the panels of a page: change against each case's first measurement, and time."""

    low: float
    high: float
    begin: str  # the stamps of the first and the last measurement
    end: str

    def x(self, stamp: str | None) -> float:
        begin, end = instant(self.begin).timestamp(), instant(self.end).timestamp()
        at = instant(stamp or self.begin).timestamp()
        share = (at - begin) / (end - begin) if end > begin else 0.5
        return LEFT + 8 + (WIDTH - LEFT - RIGHT - 16) * share

    def y(self, change: float) -> float:
        return TOP + (self.high - change) / (self.high - self.low) * (HEIGHT - TOP - BOTTOM)


def frame(lines: Sequence[HistoryLine]) -> Frame:
    changes = [change for line in lines for point in line.points for change in _ends(point, line)]
    stamps = [point.started_at for line in lines for point in line.points if point.started_at]
    return Frame(
        low=max(-1.0, min(-NARROWEST, *changes) * ROOM),
        high=max(NARROWEST, *changes) * ROOM,
        begin=min(stamps, key=instant),
        end=max(stamps, key=instant),
    )


def worst_first(lines: Sequence[HistoryLine]) -> list[HistoryLine]:
    return sorted(lines, key=lambda line: (not line.regressed, _below_best(line)))


def _below_best(line: HistoryLine) -> float:
    return line.last.summary.items_per_s.value / max(point.summary.items_per_s.value for point in line.points)


def svg(line: HistoryLine, axes: Frame) -> str:
    """Colours are the page's own variables. The page labels it."""
    places = [(axes.x(point.started_at), point) for point in line.points]
    parts = [_grid(axes), _path(places, line, axes)]
    parts += [_mark(x, point, line, axes) for x, point in places]
    parts += [_dates(axes)]
    return f'<svg class="time" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" {{label}}>{"".join(parts)}</svg>'


def _change(value: float, line: HistoryLine) -> float:
    return value / line.points[0].summary.items_per_s.value - 1


def _ends(point: HistoryPoint, line: HistoryLine) -> tuple[float, float, float]:
    found = point.summary.items_per_s
    ends = (found.value if end is None else end for end in (found.low, found.high))
    low, high = (_change(end, line) for end in ends)
    return low, _change(found.value, line), high


def _grid(axes: Frame) -> str:
    rows = []
    for change in (axes.low / ROOM, 0.0, axes.high / ROOM):
        text = "0%" if change == 0 else numbers.change(round(change, 2)).text.replace("-", "−").replace(".0%", "%")
        rows.append(
            f'<path class="grid{" zero" if change == 0 else ""}" d="M{LEFT} {axes.y(change):.1f}H{WIDTH - RIGHT}"/>'
            f'<text class="tick" x="{LEFT - 8}" y="{axes.y(change) + 4:.1f}" text-anchor="end">{text}</text>'
        )
    return "".join(rows)


def _path(places: Sequence[tuple[float, HistoryPoint]], line: HistoryLine, axes: Frame) -> str:
    corners = " ".join(f"{x:.1f},{axes.y(_ends(point, line)[1]):.1f}" for x, point in places)
    return f'<polyline class="trend" points="{corners}"/>' if len(places) > 1 else ""


def _mark(x: float, point: HistoryPoint, line: HistoryLine, axes: Frame) -> str:
    low, value, high = _ends(point, line)
    whisker = f'<path class="range" d="M{x:.1f} {axes.y(low):.1f}V{axes.y(high):.1f}"/>' if high > low else ""
    outcome = point.change.outcome if point.change else "first"
    hollow = " hollow" if point.summary.partial else ""
    dot = f'<circle class="dot {outcome}{hollow}" cx="{x:.1f}" cy="{axes.y(value):.1f}" r="4"/>'
    sign = SIGNS.get(outcome)
    above = max(axes.y(high) - 7, 10.0)
    return whisker + dot + (f'<text class="sign-{outcome}" x="{x:.1f}" y="{above:.1f}">{sign}</text>' if sign else "")


def _dates(axes: Frame) -> str:
    first, last = day(axes.begin), day(axes.end)
    ends = [(LEFT, "start", first)] if first == last else [(LEFT, "start", first), (WIDTH - RIGHT, "end", last)]
    return "".join(
        f'<text class="tick" x="{x}" y="{HEIGHT - 8}" text-anchor="{anchor}">{escape(text)}</text>'
        for x, anchor, text in ends
    )

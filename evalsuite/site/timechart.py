"""A model's history: a panel for each case, all on one axis of time and one of change in per cent. Words are in the
page around them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalsuite.finished.finished import instant
from evalsuite.finished.history import HistoryLine, HistoryPoint
from evalsuite.report.page import templates
from evalsuite.report.text import numbers
from evalsuite.report.text.names import day

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
    best = {id(line): max(point.summary.items_per_s.value for point in line.points) for line in lines}
    return sorted(lines, key=lambda line: (line.slowed is None, line.last.summary.items_per_s.value / best[id(line)]))


def svg(line: HistoryLine, axes: Frame) -> str:
    first, last = day(axes.begin), day(axes.end)
    dates = [(LEFT, "start", first), (WIDTH - RIGHT, "end", last)][: 1 if first == last else 2]
    changes = (axes.low / ROOM, 0.0, axes.high / ROOM)
    percents = [numbers.change(round(each, 2)).text.replace("-", "−").replace(".0%", "%") for each in changes]
    return templates.drawing(
        "timechart.svg.j2",
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
        right=WIDTH - RIGHT,
        rows=list(zip(map(axes.y, changes), percents, strict=True)),
        points=[_point(point, line, axes) for point in line.points],
        dates=dates,
        signs=SIGNS,
    )


def _point(point: HistoryPoint, line: HistoryLine, axes: Frame) -> Mapping[str, object]:
    low, value, high = map(axes.y, _ends(point, line))
    outcome = point.change.outcome if point.change else "first"
    place = {"x": axes.x(point.started_at), "low": low, "y": value, "high": high}
    return {**place, "outcome": outcome, "hollow": point.summary.partial}


def _ends(point: HistoryPoint, line: HistoryLine) -> tuple[float, float, float]:
    interval, first = point.summary.items_per_s, line.points[0].summary.items_per_s.value
    low, high = (interval.value if end is None else end for end in (interval.low, interval.high))
    return low / first - 1, interval.value / first - 1, high / first - 1

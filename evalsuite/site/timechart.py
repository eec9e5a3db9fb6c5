"""The small chart of one line of history: a dot for each measurement, its range, and where it changed.

Written by hand, not by matplotlib: a site has hundreds of them, and they hold a dozen marks each. Inside stand
numbers, dates and versions only; the words are in the page around it (docs/report.md#words).
"""

from collections.abc import Callable, Sequence
from html import escape

from evalsuite.report.text import names, numbers
from evalsuite.report.text.names import day
from evalsuite.site.history import HistoryLine, HistoryPoint

WIDTH, HEIGHT = 760, 210
LEFT, RIGHT, TOP, BOTTOM = 84, 24, 26, 46
NARROWEST = 0.10  # the axis spans at least ±10 % around the values, so that noise does not look like change
MOST_LABELS = 8
Scale = Callable[[float], float]  # value → its place from the top
SIGNS = {"slower": "▼", "faster": "▲"}


def svg(line: HistoryLine) -> str:
    """The chart as SVG text; its colours are the page's own variables. Its words are labelled by the page."""
    low, high = _limits(line.points)
    places = [(_x(k, len(line.points)), point) for k, point in enumerate(line.points)]

    def y(value: float) -> float:
        return TOP + (high - value) / (high - low) * (HEIGHT - TOP - BOTTOM)

    parts = [_grid(low, high, y), _path(places, y)]
    parts += [_mark(x, point, y) for x, point in places]
    parts += [_label(x, point) for x, point in _labelled(places)]
    return f'<svg class="time" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" {{label}}>{"".join(parts)}</svg>'


def _limits(points: Sequence[HistoryPoint]) -> tuple[float, float]:
    found = [point.summary.items_per_s for point in points]
    low = min(one.value if one.low is None else one.low for one in found)
    high = max(one.value if one.high is None else one.high for one in found)
    middle, half = (low + high) / 2, (high - low) / 2
    half = max(half * 1.1, middle * NARROWEST)
    return max(0.0, middle - half), middle + half


def _x(place: int, count: int) -> float:
    span = WIDTH - LEFT - RIGHT
    return LEFT + span / 2 if count == 1 else LEFT + 16 + (span - 32) * place / (count - 1)


def _grid(low: float, high: float, y: Scale) -> str:
    rows = []
    for share in (0, 0.5, 1):
        value = low + (high - low) * share
        rows.append(
            f'<path class="grid" d="M{LEFT} {y(value):.1f}H{WIDTH - RIGHT}"/>'
            f'<text class="tick" x="{LEFT - 10}" y="{y(value) + 4:.1f}" text-anchor="end">'
            f"{numbers.significant(value).text}</text>"
        )
    return "".join(rows)


def _path(places: Sequence[tuple[float, HistoryPoint]], y: Scale) -> str:
    corners = " ".join(f"{x:.1f},{y(point.summary.items_per_s.value):.1f}" for x, point in places)
    return f'<polyline class="trend" points="{corners}"/>' if len(places) > 1 else ""


def _mark(x: float, point: HistoryPoint, y: Scale) -> str:
    found = point.summary.items_per_s
    whisker = ""
    if found.low is not None and found.high is not None:
        whisker = f'<path class="range" d="M{x:.1f} {y(found.low):.1f}V{y(found.high):.1f}"/>'
    outcome = point.change.outcome if point.change else "first"
    hollow = " hollow" if point.summary.partial else ""
    dot = f'<circle class="dot {outcome}{hollow}" cx="{x:.1f}" cy="{y(found.value):.1f}" r="5"/>'
    top = y(found.value if found.high is None else found.high) - 8
    sign = SIGNS.get(outcome)
    return whisker + dot + (f'<text class="sign-{outcome}" x="{x:.1f}" y="{top:.1f}">{sign}</text>' if sign else "")


def _labelled(places: Sequence[tuple[float, HistoryPoint]]) -> list[tuple[float, HistoryPoint]]:
    """The first, the last and a few between them."""
    step = -(-len(places) // MOST_LABELS)
    kept = [one for k, one in enumerate(places) if (len(places) - 1 - k) % step == 0]
    return kept


def _label(x: float, point: HistoryPoint) -> str:
    versions = ", ".join(names.visible(version) for version in point.versions)
    lines = (
        (HEIGHT - BOTTOM + 20, day(point.started_at) if point.started_at else ""),
        (HEIGHT - BOTTOM + 36, versions),
    )
    return "".join(
        f'<text class="tick" x="{x:.1f}" y="{y}" text-anchor="middle">{escape(text)}</text>'
        for y, text in lines
        if text
    )

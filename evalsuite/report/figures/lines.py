"""Lines over what grows: the devices, a batch size, an option, or the time of a training."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from evalsuite.core.model import by_key
from evalsuite.report.figures import ticks
from evalsuite.report.figures.data import (
    Axis,
    Bilingual,
    Figure,
    Label,
    LegendEntry,
    Line,
    as_drawn,
    drawable,
    point_notes,
)
from evalsuite.report.figures.sheet import SMALL, TEXT, WIDTH, Panel, Sheet, draw, shorten, spread, text_width
from evalsuite.report.figures.style import ROLES, Hue, Look, note_swatch
from evalsuite.report.text import numbers

_TOP, _BOTTOM = 34, 34  # room for the unit above and the numbers below a panel, in pixels
_LABEL = 20  # what stands above the unit
_LONGEST, _BETWEEN, _END = 205, 14, 60  # pixels: of a name by two panels, between panels, from a line to its name
_MARKS = 12  # on a curve of many points: enough to tell it by shape
MOST_NAMED = 3  # of lines with one label
ALIKE = 0.01  # lines whose shares end within it have one label
FLAT = 0.4  # of the highest value: the axis of curves that span less does not begin at 0


@dataclass(frozen=True, kw_only=True)
class LinePanel:
    lines: tuple[Line, ...]
    unit: str = ""
    label: Label = ""
    target: float | None = None
    share: bool = False  # 1.0 is 100 %, which has a line
    valued: bool = False  # names carry the last value
    counted: bool = True  # x is one of a few counts, not a time

    @property
    def xs(self) -> list[float]:
        return sorted({point.x for line in self.lines for point in line.points})

    @property
    def broken(self) -> bool:
        ys = [point.shown for line in self.lines for point in line.points]
        return not self.counted and min(ys) > 0 and max(ys) - min(ys) < FLAT * max(ys)

    def written(self, value: float) -> str:
        return numbers.beside(self.target)(value).text if self.share else ticks.throughput(value)


def lines(
    panels: Sequence[LinePanel],
    look: Look,
    *,
    id: str,
    value: str,
    x: str = "devices",
    x_unit: str = "",
) -> Figure:
    """*value* and *x* are the keys by which the page words the axes."""
    visible = [replace(panel, lines=drawable(panel.lines)) for panel in panels]
    visible = [panel for panel in visible if panel.lines]
    every = [line for panel in visible for line in panel.lines]
    drawn = [replace(panel, lines=as_drawn(panel.lines)) for panel in visible]
    units = {panel.unit for panel in visible}
    aimed = any(panel.target is not None for panel in drawn)
    return Figure(
        id=id,
        svg=draw(_draw, id, look, drawn) if drawn else None,
        legend=(LegendEntry(key="target", swatch=note_swatch("threshold")),) if aimed else (),
        axes=(
            Axis(key=x, unit=x_unit, logarithmic=any(panel.counted for panel in visible)),
            Axis(key=value, unit=units.pop()) if len(units) == 1 else Axis(key="value_by_panel"),
        ),
        notes=point_notes(every),
    )


def dashed(hue: Hue, variant: int) -> Hue:
    """A further line of one framework: the dash changes, colour and marker stay."""
    return replace(hue, dash=((), (2, 2), (7, 2, 2, 2), (1, 3))[min(variant, 3)]) if variant else hue


def _draw(id: str, look: Look, panels: Sequence[LinePanel]) -> str:
    columns = min(len(panels), 2)
    named = [_endings(panel, _LONGEST * (1.6 if columns == 1 else 1)) for panel in panels]
    alike = columns == len(panels) == 2 and [str(name) for name in named[0]] == [str(name) for name in named[1]]
    room = max((text_width(name, SMALL) for names in named for name in names), default=-30) + 30
    room = min(room, WIDTH / columns / (2 if columns == 1 or alike else 2.6))
    forms = [(ticks.linear(*_limits(panel), 5), ticks.percent if panel.share else ticks.number) for panel in panels]
    lefts = max(46, *(ticks.margin(*form) for form in forms))
    rooms = room if alike else room * columns
    wide = (WIDTH - rooms - columns * lefts - (columns - 1) * _BETWEEN) / columns
    head = _TOP + (_LABEL if any(panel.label for panel in panels) else 0)
    most = max(len(panel.lines) for panel in panels)
    high = max(300 - 70 * (len(panels) > 1), 17 * most + 22)
    each = head + high + _BOTTOM
    sheet = Sheet(id, height=math.ceil(len(panels) / columns) * each)
    top = max((_limits(panel)[1] for panel in panels if panel.share), default=0.0)
    for place, (panel, names) in enumerate(zip(panels, named, strict=True)):
        column, down = place % columns, place // columns * each
        left = lefts + column * (wide + lefts + _BETWEEN + (0 if alike else room))
        axes = _axes(sheet, (left, down + head, left + wide, down + head + high), panel, look, top)
        if not (alike and column == 0):
            _name_ends(sheet, axes, panel, names, left + wide + 16, down + head, high)
        sheet.write(left, down + 12, shorten(panel.label, wide, TEXT), size=TEXT, colour="ink", style="strong")
    return sheet.svg()


def _endings(panel: LinePanel, longest: float) -> list[Label]:
    """The names at the ends of lines; of shares that end within one percent the first has the names, and how many
    more there are."""
    names = [_ending(line, panel, longest) for line in panel.lines]
    if not panel.share:
        return names
    ends = [line.points[-1] for line in panel.lines]
    bundles: list[list[int]] = []
    for place in sorted(range(len(names)), key=lambda place: -ends[place].shown):
        first = bundles[-1][0] if bundles else place
        if not bundles or ends[first].x != ends[place].x or ends[first].shown - ends[place].shown > ALIKE:
            bundles.append([])
        bundles[-1].append(place)
    for first, *others in bundles:
        if others:
            shown = [names[first], *(panel.lines[place].name for place in others[: MOST_NAMED - 1])]
            names[first] = _joined(shown, max(0, len(others) + 1 - MOST_NAMED))
            for place in others:
                names[place] = ""
    return names


def _joined(labels: Sequence[Label], more: int) -> Label:
    each = [label if isinstance(label, Bilingual) else Bilingual(zh=label, en=label) for label in labels]
    end = f" +{more}" if more else ""
    joined = Bilingual(zh="、".join(of.zh for of in each) + end, en=", ".join(of.en for of in each) + end)
    return joined if Bilingual in map(type, labels) else joined.en


def _ending(line: Line, panel: LinePanel, longest: float) -> Label:
    value = f"  {panel.written(line.points[-1].shown)}" if panel.valued else ""
    name = shorten(line.name, longest - text_width(value + line.end, SMALL))
    if isinstance(name, Bilingual):
        return Bilingual(zh=f"{name.zh}{value}{line.end}", en=f"{name.en}{value}{line.end}")
    return f"{name}{value}{line.end}"


def _limits(panel: LinePanel) -> tuple[float, float]:
    points = [point for line in panel.lines for point in line.points]
    values = [p.value for p in points if p.value is not None and math.isfinite(p.value)]
    values += [panel.target] if panel.target is not None else []
    values += [1.0] if panel.share else []
    pad = (max(values) - min(values)) * 0.06 or abs(max(values)) * 0.1 or 1
    low = min(values) - pad if panel.broken or min(values) < 0 else 0.0
    return low, max(values) + (max(values) * 0.06 if low == 0 and max(values) > 0 else pad)


def _axes(sheet: Sheet, box: tuple[float, float, float, float], panel: LinePanel, look: Look, top: float) -> Panel:
    axes, xs = sheet.panel(*box), panel.xs
    if not panel.counted:
        low = min(0.0, xs[0])
        axes.set_xlim(low, max(xs[-1], low + 1e-9))
    else:
        pad = (xs[-1] / xs[0]) ** 0.04 if xs[-1] > xs[0] else 1.3
        axes.set_xscale("log", base=2)
        axes.set_xlim(xs[0] / pad, xs[-1] * pad)
    limits = (0.0, top) if panel.share else _limits(panel)
    axes.set_ylim(*limits)
    ticks.label_columns(sheet, axes, xs if panel.counted else ticks.linear(*axes.get_xlim(), 5))
    ticks.label_rows(sheet, axes, ticks.linear(*limits, 5), ticks.percent if panel.share else ticks.number)
    left = box[0]
    sheet.write(left - 6, box[1] - 20, panel.unit, anchor="right" if text_width(panel.unit) < left - 6 else "left")
    _draw_marks(sheet, axes, panel)
    for line in panel.lines:
        _draw_line(sheet, axes, line, look, panel.counted)
    return axes


def _draw_marks(sheet: Sheet, axes: Panel, panel: LinePanel) -> None:
    if panel.share:
        axes.axhline(1, color=ROLES["rule"], linewidth=1.2, dashes=(2, 3), zorder=1.4)
    if panel.target is not None:
        axes.axhline(panel.target, color=ROLES["ink"], linewidth=1.2, dashes=(6, 3), zorder=1.5)


def _draw_line(sheet: Sheet, axes: Panel, line: Line, look: Look, counted: bool) -> None:
    hue = dashed(look.hue(line.framework), line.variant)
    if len(line.points) > 1:
        xs, ys = [p.x for p in line.points], [p.shown for p in line.points]
        sheet.join(axes, xs, ys, hue, line.framework, width=2 if counted else 1.6)
    marked = line.points if counted else line.points[:: math.ceil(len(line.points) / _MARKS)]
    for hollow in (False, True):
        if group := [p for p in marked if p.partial == hollow]:
            dots_x, dots_y, refs = zip(*((p.x, p.shown, p.ref) for p in group), strict=True)
            sheet.dots(axes, dots_x, dots_y, hue, refs, line.framework, hollow=hollow)


def _name_ends(
    sheet: Sheet, axes: Panel, panel: LinePanel, names: Sequence[Label], left: float, top: float, high: float
) -> None:
    ends = [sheet.pixel(axes, line.points[-1].x, line.points[-1].shown) for line in panel.lines]
    named = ((name, x, y) for name, (x, y) in zip(names, ends, strict=True) if name)
    groups = by_key((0.0 if left - x <= _END else x, (name, x, y)) for name, x, y in named)
    for early, members in groups.items():
        places = spread([y for *_, y in members], 16, top, top + high - 2)
        for (name, x, y), place in zip(members, places, strict=True):
            if early:  # it is named where it ends: a lead across the panel looks like a line
                sheet.write(x + 9, place + 14, name, colour="ink", style="halo")
                continue
            if abs(place - y) > 3:
                sheet.line([(x + 7, y), (left - 10, place), (left - 3, place)], width=0.7)
            sheet.write(left, place, name, colour="ink")

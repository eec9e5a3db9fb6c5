"""Accuracy and loss by epoch: panels for training and validation."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from evalsuite.report.figures import ticks
from evalsuite.report.figures.data import Axis, Figure, Label, LegendEntry, Table, note_entry, plain
from evalsuite.report.figures.scaling import entry
from evalsuite.report.figures.sheet import TEXT, WIDTH, Panel, Sheet, draw, shorten, spread
from evalsuite.report.figures.style import ROLES, Hue, Look, note_swatch


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One run. *key* chooses the hue (a global batch size, a variant)."""

    name: Label
    key: str
    points: tuple[tuple[float, float], ...]
    ref: str = ""


@dataclass(frozen=True, kw_only=True)
class CurvePanel:
    """Curves of one split: training and validation never share a panel."""

    label: Label
    curves: tuple[Curve, ...]
    unit: str = ""
    target: float | None = None


def convergence(panels: Sequence[CurvePanel], look: Look, *, id: str, x_key: str = "epoch", x_unit: str = "") -> Figure:
    panels = tuple(replace(panel, curves=tuple(map(_finite_curve, panel.curves))) for panel in panels)
    visible = tuple(panel for panel in panels if any(curve.points for curve in panel.curves))
    rows = [(p, c, point) for p in visible for c in p.curves for point in c.points]
    curves = {c.key: c for p in visible for c in p.curves}
    target = any(panel.target is not None for panel in visible)
    return Figure(
        id=id,
        svg=draw(_convergence, id, look, visible) if visible else None,
        table=Table(
            columns=("panel", "series", x_key, "value", "unit"),
            rows=tuple((plain(p.label), plain(c.name), *point, p.unit) for p, c, point in rows),
            refs=tuple(c.ref for _, c, _ in rows),
        ),
        legend=(
            *(entry(curve.name, curve.key, look.hue(curve.key)) for curve in curves.values()),
            *((LegendEntry(key="target", swatch=note_swatch("threshold")),) if target else ()),
            *((note_entry("axis_break"),) if any(map(_broken, visible)) else ()),
        ),
        axes=(Axis(key=x_key, unit=x_unit), *_value_axis(visible)),
    )


def _value_axis(panels: Sequence[CurvePanel]) -> tuple[Axis, ...]:
    units = sorted({panel.unit for panel in panels})
    if not units:
        return ()
    return (Axis(key="value", unit=units[0]) if len(units) == 1 else Axis(key="value_by_panel"),)


FLAT = 0.4  # of the highest value: lines that span less have an axis with a marked break
_CURVE_MARKS = 12  # markers on a curve: enough to tell it by shape


def _finite_curve(curve: Curve) -> Curve:
    return replace(curve, points=tuple((x, y) for x, y in curve.points if math.isfinite(x) and math.isfinite(y)))


def _convergence(id: str, look: Look, panels: Sequence[CurvePanel]) -> str:
    columns = min(len(panels), 2)
    rows = math.ceil(len(panels) / columns)
    gap, high, names = 66, 230, 84
    wide = (WIDTH - gap * columns - (names * columns)) / columns + (0 if columns == 2 else 30)
    sheet = Sheet(id, height=rows * (high + 66) + 4)
    for place, curves in enumerate(panels):
        x = gap + (wide + names + gap) * (place % columns)
        y = 36 + (high + 66) * (place // columns)
        panel = sheet.panel(x, y, x + wide, y + high)
        _curve_axes(sheet, panel, curves)
        sheet.write(x, y - 20, shorten(curves.label, wide, TEXT), size=TEXT, colour="ink", style="strong")
        sheet.write(x - 6, y - 20, curves.unit, anchor="right")
        for curve in curves.curves:
            _curve(sheet, panel, curve, look.hue(curve.key))
        _curve_names(sheet, panel, [c for c in curves.curves if c.points], x + wide + 8, y, high, names - 8)
    return sheet.svg()


def _curve_axes(sheet: Sheet, panel: Panel, curves: CurvePanel) -> None:
    xs = [x for curve in curves.curves for x, _ in curve.points]
    ys = [y for curve in curves.curves for _, y in curve.points]
    ys += [curves.target] if curves.target is not None else []
    pad = (max(ys) - min(ys)) * 0.06 or abs(max(ys)) * 0.1 or 1
    low = min(ys) - pad if _broken(curves) else min(0.0, min(ys) - pad if min(ys) < 0 else 0.0)
    panel.set_xlim(min(0, *xs, 0), max(*xs, min(0, *xs, 0) + 1e-9))
    panel.set_ylim(low, max(ys) + pad)
    ticks.label_columns(sheet, panel, ticks.linear(*panel.get_xlim(), 5))
    ticks.label_rows(sheet, panel, ticks.linear(*panel.get_ylim(), 5))
    if _broken(curves):
        _break(sheet, panel)
    if curves.target is not None:
        panel.axhline(curves.target, color=ROLES["ink"], linewidth=1.2, dashes=(6, 3), zorder=1.5)


def _broken(panel: CurvePanel) -> bool:
    ys = [y for curve in panel.curves for _, y in curve.points]
    return bool(ys) and min(ys) > 0 and max(ys) - min(ys) < FLAT * max(ys)


def _break(sheet: Sheet, panel: Panel) -> None:
    left, bottom = panel.get_xlim()[0], panel.get_ylim()[0]
    x, y = sheet.pixel(panel, left, bottom)
    for up in (6, 11):
        ends = [
            panel.transData.inverted().transform((x + dx, sheet.height - (y - up - dy)))
            for dx, dy in ((-6, -3), (6, 3))
        ]
        panel.plot(*zip(*ends, strict=True), color=ROLES["ink"], linewidth=1.4, clip_on=False, zorder=5)


def _curve(sheet: Sheet, panel: Panel, curve: Curve, hue: Hue) -> None:
    if not curve.points:
        return
    xs, ys = zip(*curve.points, strict=True)
    sheet.join(panel, xs, ys, hue, curve.key, width=1.6)
    marked = range(0, len(xs), math.ceil(len(xs) / _CURVE_MARKS))  # the line goes through every point
    refs = [curve.ref] * len(marked)
    sheet.dots(panel, [xs[i] for i in marked], [ys[i] for i in marked], hue, refs, curve.key)


def _curve_names(
    sheet: Sheet, panel: Panel, curves: Sequence[Curve], x: float, top: float, high: float, room: float
) -> None:
    wanted = [sheet.pixel(panel, *curve.points[-1])[1] for curve in curves]
    for curve, place in zip(curves, spread(wanted, 15, top, top + high - 4), strict=True):
        sheet.write(x, place, shorten(curve.name, room), colour="ink")

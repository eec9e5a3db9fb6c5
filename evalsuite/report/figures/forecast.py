"""Measured points, the curve of a model, and its prediction interval up to a target."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalsuite.report.figures import ticks
from evalsuite.report.figures.data import Axis, Figure, LegendEntry, ScaleSeries, Table, plain, point_notes, point_table
from evalsuite.report.figures.scaling import draw_series, drawable, legend, positive, scale_columns
from evalsuite.report.figures.sheet import TEXT, WIDTH, Panel, Sheet, draw, marker_style, text_width
from evalsuite.report.figures.style import ROLES, Look, note_swatch


@dataclass(frozen=True, kw_only=True)
class ExpectedPoint:
    """What a model expects at one scale, with its prediction interval."""

    devices: int
    value: float
    low: float
    high: float


def extrapolation(
    measured: ScaleSeries,
    forecast: Sequence[ExpectedPoint],
    look: Look,
    *,
    id: str,
    unit: str = "%",
    threshold: float | None = None,
) -> Figure:
    """Measured points, the model's dashed curve, its prediction interval as a hatched band, ≈ at the target.

    Shares (unit "%", an efficiency) have a linear y axis from 0, anything else a logarithmic one. The last
    forecast is the target.
    """
    visible = drawable((measured,))
    forecast = tuple(sorted((f for f in forecast if positive(f.value)), key=lambda f: f.devices))
    table = point_table(visible, "efficiency" if unit == "%" else "items_per_s", "" if unit == "%" else unit)
    name = plain(measured.name)
    expected = tuple((name, f.devices, f.value, f.low, f.high, None, "extrapolated", False) for f in forecast)
    drawn_well = bool(visible and forecast)
    return Figure(
        id=id,
        svg=draw(_extrapolation, id, look, visible[0], forecast, unit, threshold) if drawn_well else None,
        table=Table(
            columns=table.columns,
            units=table.units,
            rows=(*table.rows, *expected),
            refs=(*table.refs, *("" for _ in expected)),
        ),
        legend=(
            *legend(visible, look),
            LegendEntry(key="model_curve", swatch=note_swatch("curve")),
            LegendEntry(key="prediction_interval", swatch=note_swatch("band")),
            *((LegendEntry(key="threshold", swatch=note_swatch("threshold")),) if threshold else ()),
        ),
        axes=(
            Axis(key="devices", logarithmic=True),
            Axis(key="efficiency" if unit == "%" else "items_per_s", unit=unit, logarithmic=unit != "%"),
        ),
        notes=("extrapolated", *point_notes(visible)),
    )


def _extrapolation(
    id: str, look: Look, series: ScaleSeries, forecast: Sequence[ExpectedPoint], unit: str, threshold: float | None
) -> str:
    sheet = Sheet(id, height=340)
    hue, target = look.hue(series.framework), forecast[-1]
    panel = sheet.panel(84, 34, WIDTH - 150, 300)
    _forecast_axes(sheet, panel, series, forecast, unit)
    if threshold:
        panel.axhline(threshold, color=ROLES["ink"], linewidth=1.2, dashes=(6, 3), zorder=1.5)
    curve = (_beginning(series), *forecast)
    _band(panel, curve)
    xs, ys = [f.devices for f in curve], [f.value for f in curve]
    panel.plot(xs, ys, color=ROLES[hue.name], linewidth=1.8, dashes=(7, 4), zorder=3)
    draw_series(sheet, panel, series, look, connected=False)
    panel.vlines(target.devices, target.low, target.high, color=ROLES[hue.name], linewidth=1.4, zorder=3.5)
    (dot,) = panel.plot([target.devices], [target.value], zorder=4, **marker_style(hue, hollow=True))
    sheet.mark(dot, [""], series=series.framework)
    x, y = sheet.pixel(panel, target.devices, target.value)
    sheet.write(x + 14, y, f"≈{_quantity(target.value, unit)}", size=TEXT, colour="ink", style="strong")
    interval = f"[{_quantity(target.low, unit)}, {_quantity(target.high, unit)}]"
    sheet.write(x + 14, y + 17, interval, colour="muted")
    sheet.write(78, 12, "" if unit == "%" else unit, anchor="right" if text_width(unit) < 72 else "center")
    return sheet.svg()


def _beginning(series: ScaleSeries) -> ExpectedPoint:
    """The largest measured point, through which the model passes: nothing is uncertain there but noise."""
    last = max(series.points, key=lambda point: point.devices)
    return ExpectedPoint(devices=last.devices, value=last.shown, low=last.shown, high=last.shown)


def _quantity(value: float, unit: str) -> str:
    return ticks.percent_value(value) if unit == "%" else ticks.throughput(value)


def _forecast_axes(
    sheet: Sheet, panel: Panel, series: ScaleSeries, forecast: Sequence[ExpectedPoint], unit: str
) -> None:
    counts = sorted({*(p.devices for p in series.points), forecast[-1].devices})
    scale_columns(sheet, panel, counts)
    values = [v for p in series.points for v in (p.value, p.low, p.high) if positive(v)]
    values += [v for p in forecast for v in (p.value, p.low, p.high) if positive(v)]
    if unit == "%":
        top = max(1.05, max(values) * 1.05)
        panel.set_ylim(0, top)
        ticks.label_rows(sheet, panel, ticks.linear(0, top, 6), ticks.percent)
        panel.axhline(1, color=ROLES["rule"], linewidth=1.2, dashes=(2, 3), zorder=1.4)
        return
    panel.set_yscale("log")
    panel.set_ylim(min(values) / 1.3, max(values) * 1.3)
    ticks.label_rows(sheet, panel, ticks.logarithmic(min(values) / 1.3, max(values) * 1.3))


def _band(panel: Panel, forecast: Sequence[ExpectedPoint]) -> None:
    xs = [f.devices for f in forecast]
    lows = [max(f.low, panel.get_ylim()[0]) for f in forecast]
    highs = [f.high for f in forecast]
    panel.fill_between(
        xs, lows, highs, facecolor=ROLES["shade"], edgecolor=ROLES["rule"], linewidth=0.8, hatch="/////", zorder=1
    )

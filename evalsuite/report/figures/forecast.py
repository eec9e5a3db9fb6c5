"""Measured points, the curve of a model and its prediction interval."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalsuite.report.figures import data, ticks
from evalsuite.report.figures.scaling import draw_series, drawable, legend, positive, scale_columns
from evalsuite.report.figures.sheet import TEXT, WIDTH, Panel, Sheet, draw
from evalsuite.report.figures.style import ROLES, Look, note_swatch


@dataclass(frozen=True, kw_only=True)
class ExpectedPoint:
    devices: int
    value: float
    low: float
    high: float


def extrapolation(
    measured: data.ScaleSeries,
    forecast: Sequence[ExpectedPoint],
    look: Look,
    *,
    id: str,
    threshold: float | None = None,
) -> data.Figure:
    """Efficiencies: measured points, the model's curve, its prediction interval. The last forecast is the target."""
    visible = drawable((measured,))
    forecast = tuple(sorted((f for f in forecast if positive(f.value)), key=lambda f: f.devices))
    table = data.point_table(visible, "efficiency")
    name = data.plain(measured.name)
    expected = tuple((name, f.devices, f.value, f.low, f.high, None, "extrapolated", False) for f in forecast)
    drawn_well = bool(visible and forecast)
    return data.Figure(
        id=id,
        svg=draw(_extrapolation, id, look, visible[0], forecast, threshold) if drawn_well else None,
        table=data.Table(
            columns=table.columns,
            units=table.units,
            rows=(*table.rows, *expected),
            refs=(*table.refs, *("" for _ in expected)),
        ),
        legend=(
            *legend(visible, look),
            data.LegendEntry(key="model_curve", swatch=note_swatch("curve")),
            data.LegendEntry(key="prediction_interval", swatch=note_swatch("band")),
            *((data.note_entry("threshold"),) if threshold else ()),
        ),
        axes=(data.Axis(key="devices", logarithmic=True), data.Axis(key="efficiency", unit="%")),
        notes=("extrapolated", *data.point_notes(visible)),
    )


def _extrapolation(
    id: str, look: Look, series: data.ScaleSeries, forecast: Sequence[ExpectedPoint], threshold: float | None
) -> str:
    sheet = Sheet(id, height=340)
    hue, target = look.hue(series.framework), forecast[-1]
    panel = sheet.panel(84, 34, WIDTH - 150, 300)
    _forecast_axes(sheet, panel, series, forecast)
    if threshold:
        panel.axhline(threshold, color=ROLES["ink"], linewidth=1.2, dashes=(6, 3), zorder=1.5)
    curve = (_beginning(series), *forecast)
    _band(panel, curve)
    xs, ys = [f.devices for f in curve], [f.value for f in curve]
    panel.plot(xs, ys, color=ROLES[hue.name], linewidth=1.8, dashes=(7, 4), zorder=3)
    draw_series(sheet, panel, series, look, connected=False)
    panel.vlines(target.devices, target.low, target.high, color=ROLES[hue.name], linewidth=1.4, zorder=3.5)
    sheet.dots(panel, [target.devices], [target.value], hue, [""], series.framework, hollow=True)
    x, y = sheet.pixel(panel, target.devices, target.value)
    sheet.write(x + 14, y, f"≈{ticks.percent_value(target.value)}", size=TEXT, colour="ink", style="strong")
    interval = f"[{ticks.percent_value(target.low)}, {ticks.percent_value(target.high)}]"
    sheet.write(x + 14, y + 17, interval, colour="muted")
    return sheet.svg()


def _beginning(series: data.ScaleSeries) -> ExpectedPoint:
    last = max(series.points, key=lambda point: point.devices)
    return ExpectedPoint(devices=last.devices, value=last.shown, low=last.shown, high=last.shown)


def _forecast_axes(sheet: Sheet, panel: Panel, series: data.ScaleSeries, forecast: Sequence[ExpectedPoint]) -> None:
    scale_columns(sheet, panel, sorted({*(p.devices for p in series.points), forecast[-1].devices}))
    values = [v for p in series.points for v in (p.value, p.low, p.high) if positive(v)]
    values += [v for p in forecast for v in (p.value, p.low, p.high) if positive(v)]
    top = max(1.05, max(values) * 1.05)
    panel.set_ylim(0, top)
    ticks.label_rows(sheet, panel, ticks.linear(0, top, 6), ticks.percent)
    panel.axhline(1, color=ROLES["rule"], linewidth=1.2, dashes=(2, 3), zorder=1.4)


def _band(panel: Panel, forecast: Sequence[ExpectedPoint]) -> None:
    xs = [f.devices for f in forecast]
    lows = [max(f.low, panel.get_ylim()[0]) for f in forecast]
    highs = [f.high for f in forecast]
    panel.fill_between(
        xs, lows, highs, facecolor=ROLES["shade"], edgecolor=ROLES["rule"], linewidth=0.8, hatch="/////", zorder=1
    )

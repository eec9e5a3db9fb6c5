"""One option off and on: dumbbells with their ratio."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalsuite.report.figures import ticks
from evalsuite.report.figures.cache import drawn
from evalsuite.report.figures.data import Axis, Figure, Label, LegendEntry, Table, plain
from evalsuite.report.figures.scaling import positive
from evalsuite.report.figures.sheet import TEXT, WIDTH, Panel, Sheet, marker, marker_size, shortened, text_width
from evalsuite.report.figures.style import ROLES, Hue, Look, note_swatch


@dataclass(frozen=True, kw_only=True)
class Dumbbell:
    """One case without and with an option (XLA, AMP, double buffering); None where it was not measured."""

    label: Label
    framework: str
    off: float | None
    on: float | None
    off_interval: tuple[float, float] | None = None
    on_interval: tuple[float, float] | None = None
    status: str = ""  # what the row says when a side is missing: "N/S", "OOM"
    off_ref: str = ""
    on_ref: str = ""


def dumbbell(
    pairs: Sequence[Dumbbell], look: Look, *, id: str, unit: str, ends: tuple[str, str] = ("off", "on")
) -> Figure:
    """Option off (hollow circle) → on (a triangle that points the way it went), with the ratio.

    *ends* are the keys by which the page words the two sides.
    """
    pairs = tuple(pairs)
    any_value = any(positive(value) for pair in pairs for value in (pair.off, pair.on))
    return Figure(
        id=id,
        svg=drawn(_dumbbell, id, look, pairs, unit) if any_value else None,
        table=Table(
            columns=("case", *ends, "ratio", "status"),
            units=("", unit, unit, "x", ""),
            rows=tuple((plain(p.label), p.off, p.on, _ratio(p), p.status) for p in pairs),
            refs=tuple(p.on_ref or p.off_ref for p in pairs),
        ),
        legend=(
            LegendEntry(key=f"option_{ends[0]}", swatch=note_swatch("option_off")),
            LegendEntry(key=f"option_{ends[1]}", swatch=note_swatch("option_on")),
        ),
        axes=(Axis(key="items_per_s", unit=unit), Axis(key="case")),
    )


def _ratio(pair: Dumbbell) -> float | None:
    if positive(pair.on) and positive(pair.off):
        return pair.on / pair.off
    return None


def _dumbbell(id: str, look: Look, pairs: Sequence[Dumbbell], unit: str) -> str:
    row = 30
    left = min(max(text_width(p.label, TEXT) for p in pairs) + 18, 280)
    height = 10 + row * len(pairs) + 32
    sheet = Sheet(id, height=height)
    panel = sheet.panel(left, 10, WIDTH - 74, height - 32)
    values = [v for p in pairs for v in (p.off, p.on, *(p.off_interval or ()), *(p.on_interval or ())) if positive(v)]
    _value_columns(sheet, panel, values)
    panel.set_ylim(len(pairs) - 0.5, -0.5)
    panel.grid(axis="x", color=ROLES["grid"], linewidth=1)
    sheet.write(left - 8, height - 20, unit, anchor="right")
    for place, pair in enumerate(pairs):
        y = 10 + row * (place + 0.5)
        ratio = _ratio(pair)
        sheet.write(left - 8, y, shortened(pair.label, left - 12, TEXT), anchor="right", size=TEXT, colour="ink")
        text = pair.status or "—" if ratio is None else ticks.times(ratio)
        sheet.write(WIDTH, y, text, anchor="right", size=TEXT, colour="ink")
        _dumbbell_row(sheet, panel, pair, look.hue(pair.framework), place)
    return sheet.svg()


def _value_columns(sheet: Sheet, panel: Panel, values: Sequence[float]) -> None:
    """An x axis from 0, or logarithmic where the values lie more than 20 × apart."""
    from matplotlib.ticker import NullLocator

    if max(values) / min(values) <= 20:
        panel.set_xlim(0, max(values) * 1.04)
        ticks.label_columns(sheet, panel, ticks.linear(0, max(values) * 1.04, 5))
        return
    panel.set_xscale("log")
    panel.set_xlim(min(values) / 1.3, max(values) * 1.3)
    ticks.label_columns(sheet, panel, ticks.logarithmic(min(values) / 1.3, max(values) * 1.3))
    panel.xaxis.set_minor_locator(NullLocator())


def _dumbbell_row(sheet: Sheet, panel: Panel, pair: Dumbbell, hue: Hue, place: int) -> None:
    colour = ROLES[hue.name]
    for interval in (pair.off_interval, pair.on_interval):
        if interval:
            panel.hlines(place, *interval, color=ROLES["ink"], linewidth=1, zorder=2.5)
    if positive(pair.off) and positive(pair.on):
        panel.plot((pair.off, pair.on), (place, place), color=colour, linewidth=3, zorder=2)
    rises = (pair.on or 0) >= (pair.off or 0)
    for value, shape, face, ref in (
        (pair.off, "circle", "surface", pair.off_ref),
        (pair.on, "right" if rises else "left", hue.name, pair.on_ref),
    ):
        if positive(value):
            (dot,) = panel.plot(
                [value],
                [place],
                linestyle="none",
                marker=marker(shape),
                markersize=marker_size(shape) * 1.25,
                markerfacecolor=ROLES[face],
                markeredgecolor=colour,
                markeredgewidth=1.6,
                zorder=3,
            )
            sheet.mark(dot, [(ref, place)], series=pair.framework)

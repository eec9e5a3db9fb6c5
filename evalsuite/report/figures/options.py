"""One option off and on: how much faster with it."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalsuite.core.model import by_key
from evalsuite.report.figures import ticks
from evalsuite.report.figures.data import Axis, Figure, Label, Table, plain
from evalsuite.report.figures.scaling import positive
from evalsuite.report.figures.shapes import row_chart
from evalsuite.report.figures.sheet import SMALL, WIDTH, Panel, Sheet, draw
from evalsuite.report.figures.style import ROLES, Hue, Look
from evalsuite.report.text import numbers

TOP, ROW = 12, 34


@dataclass(frozen=True, kw_only=True)
class Dumbbell:
    label: Label
    framework: str
    off: float | None
    on: float | None
    ratio_interval: tuple[float, float] | None = None  # of on ÷ off
    devices: int | None = None  # pairs of one label at several scales share a row
    status: str = ""  # what the row says when a side is missing: "N/S", "OOM"
    off_ref: str = ""
    on_ref: str = ""


def dumbbell(
    pairs: Sequence[Dumbbell], look: Look, *, id: str, unit: str, ends: tuple[str, str] = ("off", "on")
) -> Figure:
    """The change from off to on in per cent. *ends*: the keys by which the page words the sides."""
    pairs = tuple(pairs)
    drawable = any(_ratio(pair) is not None for pair in pairs)
    return Figure(
        id=id,
        svg=draw(_changes, id, look, pairs) if drawable else None,
        table=Table(
            columns=("case", *ends, "ratio", "status"),
            units=("", unit, unit, "x", ""),
            rows=tuple((_named(p), p.off, p.on, _ratio(p), p.status) for p in pairs),
            refs=tuple(p.on_ref or p.off_ref for p in pairs),
        ),
        axes=(Axis(key="change", unit="%"),),
    )


def _named(pair: Dumbbell) -> str:
    return plain(pair.label) if pair.devices is None else f"{plain(pair.label)} · {pair.devices}"


def _ratio(pair: Dumbbell) -> float | None:
    if positive(pair.on) and positive(pair.off):
        return pair.on / pair.off
    return None


def _changes(id: str, look: Look, pairs: Sequence[Dumbbell]) -> str:
    rows = by_key((pair.label, pair) for pair in pairs)
    values = [_value(members[-1]) for members in rows.values()]
    right = WIDTH - 92
    sheet, panel = row_chart(id, list(rows), row=ROW, top=TOP, foot=34, right=right, widest=280, values=values)
    ratios = [ratio - 1 for pair in pairs if (ratio := _ratio(pair)) is not None]
    reach = [0.0, *ratios, *(end - 1 for pair in pairs for end in pair.ratio_interval or ())]
    pad = (max(reach) - min(reach)) * 0.06 or 0.01
    panel.set_xlim(min(reach) - pad, max(reach) + pad)
    ticks.label_columns(sheet, panel, ticks.linear(*panel.get_xlim(), 6), ticks.signed_percent, grid=True)
    panel.axvline(0, color=ROLES["ink"], linewidth=1.2, zorder=1.5)
    for place, members in enumerate(rows.values()):
        _row_of_changes(sheet, panel, members, look.hue(members[0].framework), place)
    return sheet.svg()


def _value(pair: Dumbbell) -> str:
    ratio = _ratio(pair)
    return pair.status or "—" if ratio is None else numbers.change(ratio - 1).text


def _row_of_changes(sheet: Sheet, panel: Panel, members: Sequence[Dumbbell], hue: Hue, place: int) -> None:
    taken: list[float] = []
    for pair in reversed(members):
        ratio = _ratio(pair)
        if ratio is None:
            continue
        if pair.ratio_interval:
            low, high = pair.ratio_interval
            panel.hlines(place, low - 1, high - 1, color=ROLES[hue.name], linewidth=1.4, zorder=2.5)
        sheet.dots(panel, [ratio - 1], [place], hue, [pair.on_ref or pair.off_ref], pair.framework, zorder=3)
        x, y = sheet.pixel(panel, ratio - 1, place)
        if pair.devices is not None and len(members) > 1 and all(abs(x - other) > 16 for other in taken):
            taken.append(x)
            sheet.write(x, y - 12, ticks.number(pair.devices), anchor="center", size=SMALL, style="halo")

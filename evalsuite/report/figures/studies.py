"""Figures of studies: an option's effect, phases of a step, many models, batch sizes, convergence, forecast, disks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from . import ticks
from .cache import drawn
from .data import Axis, Figure, Label, LegendEntry, Series, Table, Words, point_notes, point_table
from .scaling import counts_of, draw_ideal, draw_series, drawable, legend, positive, scale_columns
from .shapes import Box, field, outlines
from .sheet import TEXT, WIDTH, Sheet, marker, marker_size, marker_style, shortened, spread, text_width
from .style import ROLES, Hue, Look, note_swatch, phase_swatch, swatch

# --- dumbbell: an option off → on --------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One case without and with an option (XLA, AMP, double buffering); None where it was not measured."""

    label: Label
    framework: str
    off: float | None
    on: float | None
    off_interval: tuple[float, float] | None = None
    on_interval: tuple[float, float] | None = None
    status: str = ""  # what stands in the row when a side is missing: "N/S", "OOM"
    off_ref: str = ""
    on_ref: str = ""


def dumbbell(pairs: Sequence[Pair], look: Look, *, id: str, unit: str) -> Figure:
    """Option off (hollow circle) → on (a triangle that points the way it went), with the ratio."""
    pairs = tuple(pairs)
    any_value = any(positive(value) for pair in pairs for value in (pair.off, pair.on))
    return Figure(
        id=id,
        svg=drawn(_dumbbell, id, look, pairs, unit) if any_value else None,
        table=Table(
            columns=("case", "off", "on", "ratio", "status"),
            units=("", unit, unit, "x", ""),
            rows=tuple((_key(p.label), p.off, p.on, _ratio(p), p.status) for p in pairs),
            refs=tuple(p.on_ref or p.off_ref for p in pairs),
        ),
        legend=(
            LegendEntry(key="option_off", swatch=note_swatch("option_off")),
            LegendEntry(key="option_on", swatch=note_swatch("option_on")),
        ),
        axes=(Axis(key="items_per_s", unit=unit), Axis(key="case")),
    )


def _key(label: Label) -> str:
    return label.en if isinstance(label, Words) else label


def _ratio(pair: Pair) -> float | None:
    return pair.on / pair.off if positive(pair.on) and positive(pair.off) else None


def _dumbbell(id: str, look: Look, pairs: Sequence[Pair], unit: str) -> str:
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


def _value_columns(sheet: Sheet, panel, values: Sequence[float]) -> None:
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


def _dumbbell_row(sheet: Sheet, panel, pair: Pair, hue: Hue, place: int) -> None:
    colour = ROLES[hue.name]
    for interval in (pair.off_interval, pair.on_interval):
        if interval:
            panel.hlines(place, *interval, color=ROLES["ink"], linewidth=1, zorder=2.5)
    if _ratio(pair) is not None:
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


# --- phases of a step --------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Phase:
    """A part of the step time. *key* is worded by the page; None = not recorded, which is not 0."""

    key: str
    value: float | None
    parent: str | None = None  # the phase it lies inside: drawn as a nested part, never stacked twice


@dataclass(frozen=True, kw_only=True)
class Step:
    """The step time of one case, taken apart."""

    label: Label
    total: float
    phases: tuple[Phase, ...]
    communication: float | None = None  # its share of the step time, 0..1, drawn in a panel of its own
    ref: str = ""

    @property
    def parts(self) -> list[tuple[str, float]]:
        """The phases that lie side by side, then what they leave over."""
        known = [(p.key, p.value) for p in self.phases if p.parent is None and p.value is not None and p.value >= 0]
        rest = self.total - sum(value for _, value in known)
        return [*known, ("rest", rest)] if rest > 1e-3 * self.total else known

    @property
    def overlaps(self) -> bool:
        """The phases add up to more than the step takes (D19)."""
        return sum(value for _, value in self.parts) > 1.02 * self.total


_PHASE_HUES = 6  # and "other" in grey


def phases(steps: Sequence[Step], look: Look, *, id: str, unit: str = "ms", share: bool = False) -> Figure:
    """Step time as stacked bars, nested phases as hatched parts inside their parent.

    `share=True` is the 100 % variant. A bar whose phases overlap beyond 2 % is hatched as a whole. The share of
    communication has a panel of its own on the right.
    """
    steps = tuple(step for step in steps if positive(step.total))
    keys = _phase_keys(steps)
    communicating = any(step.communication is not None for step in steps)
    nested = list(dict.fromkeys(p.key for s in steps for p in s.phases if p.parent is not None))
    rows = [(s, p.key, p.value, p.parent) for s in steps for p in s.phases]
    rows += [(s, "rest", dict(s.parts)["rest"], None) for s in steps if "rest" in dict(s.parts)]
    return Figure(
        id=id,
        svg=drawn(_phases, id, look, steps, unit, share) if steps else None,
        table=Table(
            columns=("case", "phase", "time", "share", "parent_phase"),
            units=("", "", unit, "", ""),
            rows=tuple((_key(s.label), k, v, None if v is None else v / s.total, parent) for s, k, v, parent in rows),
            refs=tuple(s.ref for s, *_ in rows),
        ),
        legend=(
            *(LegendEntry(key=key, hue=hue, swatch=phase_swatch(hue)) for key, hue in keys.items()),
            *(LegendEntry(key=key, swatch=note_swatch("nested")) for key in nested),
            *((LegendEntry(key="communication_share", swatch=note_swatch("dot")),) if communicating else ()),
        ),
        axes=(Axis(key="share_of_step" if share else "step_time", unit="%" if share else unit), Axis(key="case")),
        notes=("overlapping",) if any(step.overlaps for step in steps) else (),
    )


def _phase_keys(steps: Sequence[Step]) -> dict[str, int]:
    """Hue per phase by place, 0 (grey) for "rest" and for what comes after the sixth."""
    known = {key for step in steps for key, _ in step.parts}
    names = [key for key in dict.fromkeys(p.key for step in steps for p in step.phases) if key in known]
    hues = {name: i if i <= _PHASE_HUES else 0 for i, name in enumerate(names, 1)}
    return hues | ({"rest": 0} if any(key == "rest" for step in steps for key, _ in step.parts) else {})


def _phases(id: str, look: Look, steps: Sequence[Step], unit: str, share: bool) -> str:
    row = 36
    aside = 150 if any(step.communication is not None for step in steps) else 0
    left = min(max(text_width(step.label, TEXT) for step in steps) + 18, 240)
    totals = ["" if share else ticks.quantity(step.total, unit) for step in steps]
    right = WIDTH - aside - max(text_width(text) for text in totals) - (34 if aside else 16)
    height = 24 + row * len(steps) + 32
    sheet = Sheet(id, height=height)
    panel = sheet.panel(left, 24, right, height - 32)
    top = max(sum(value for _, value in s.parts) / (s.total if share else 1) for s in steps)
    panel.set_xlim(0, top)
    panel.set_ylim(len(steps) - 0.5, -0.5)
    ticks.label_columns(sheet, panel, ticks.linear(0, top, 5), ticks.percent if share else ticks.number)
    panel.grid(axis="x", color=ROLES["grid"], linewidth=1)
    sheet.write(left - 8, height - 20, "" if share else unit, anchor="right")
    keys = _phase_keys(steps)
    for place, (step, total) in enumerate(zip(steps, totals, strict=True)):
        y = 24 + row * (place + 0.5)
        sheet.write(left - 8, y, shortened(step.label, left - 12, TEXT), anchor="right", size=TEXT, colour="ink")
        end = _stack(sheet, panel, step, keys, place, step.total if share else 1.0, _first_row(steps, place))
        sheet.write(sheet.pixel(panel, end, place)[0] + 7, y, total, colour="ink")
    if aside:
        _communication(sheet, steps, row, height)
    return sheet.svg()


def _first_row(steps: Sequence[Step], place: int) -> int:
    return sum(len(step.phases) for step in steps[:place])


def _stack(sheet: Sheet, panel, step: Step, keys: dict[str, int], place: int, scale: float, first: int) -> float:
    """One bar: the parts side by side, the nested ones inside theirs. Gives where it ends."""
    begin, begins = 0.0, {}
    rows = {phase.key: first + i for i, phase in enumerate(step.phases)}
    for key, value in step.parts:
        box = (begin, place - 0.34, value / scale, 0.68)
        begins[key] = begin
        begin += value / scale
        hue = f"hue-{keys[key]}" if keys[key] else "hue-other"
        patch = field(panel, [box], hue, zorder=2)
        patch.set(edgecolor=ROLES["surface"], linewidth=1.2)
        if key in rows:
            sheet.mark(patch, [(step.ref, rows[key])])
    _nested(sheet, panel, step, begins, place, scale, rows)
    if step.overlaps:
        field(panel, [(0, place - 0.34, begin, 0.68)], "none", hatch="surface", zorder=4)
        outlines(panel, [(0, place - 0.34, begin, 0.68)], colour="ink", zorder=4)
    return begin


def _nested(sheet: Sheet, panel, step: Step, begins: dict, place: int, scale: float, rows: dict[str, int]) -> None:
    used: dict[str, float] = {}
    for phase in step.phases:
        if phase.parent in begins and phase.value is not None and phase.value > 0:
            left = begins[phase.parent] + used.get(phase.parent, 0.0)
            used[phase.parent] = used.get(phase.parent, 0.0) + phase.value / scale
            patch = field(panel, [(left, place - 0.02, phase.value / scale, 0.36)], "surface", hatch="rule", zorder=3)
            patch.set(edgecolor=ROLES["ink"], linewidth=1)
            sheet.mark(patch, [(step.ref, rows[phase.key])])


def _communication(sheet: Sheet, steps: Sequence[Step], row: float, height: float) -> None:
    panel = sheet.panel(WIDTH - 130, 24, WIDTH - 40, height - 32)
    panel.set_xlim(0, 1)
    panel.set_ylim(len(steps) - 0.5, -0.5)
    ticks.label_columns(sheet, panel, (0, 0.5, 1), ticks.percent)
    panel.grid(axis="x", color=ROLES["grid"], linewidth=1)
    for place, step in enumerate(steps):
        if step.communication is not None:
            panel.hlines(place, 0, step.communication, color=ROLES["rule"], linewidth=1.4)
            panel.plot([step.communication], [place], marker="o", markersize=8, color=ROLES["ink"], linestyle="none")
            y = 24 + row * (place + 0.5)
            sheet.write(WIDTH, y, ticks.percent_value(step.communication), anchor="right", colour="ink")


# --- many models: small multiples of efficiency ------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Multiple:
    """One panel: a model in one precision, say "BERT-base · AMP"."""

    label: Label
    series: tuple[Series, ...]


def small_multiples(panels: Sequence[Multiple], look: Look, *, id: str, threshold: float | None = 0.8) -> Figure:
    """Efficiency against devices, one panel a model, the same axes in all of them."""
    visible = tuple(Multiple(label=p.label, series=drawable(p.series)) for p in panels)
    visible = tuple(panel for panel in visible if panel.series)
    every = [each for panel in visible for each in panel.series]
    tables = [(panel, point_table(panel.series, "efficiency")) for panel in visible]
    notes = ("ideal", "threshold") if threshold else ("ideal",)
    return Figure(
        id=id,
        svg=drawn(_small_multiples, id, look, visible, threshold) if visible else None,
        table=Table(
            columns=("panel", *point_table((), "efficiency").columns),
            rows=tuple((_key(panel.label), *row) for panel, table in tables for row in table.rows),
            refs=tuple(ref for _, table in tables for ref in table.refs),
        ),
        legend=legend(_once(every), look, notes),
        axes=(Axis(key="devices", logarithmic=True), Axis(key="efficiency", unit="%")),
        notes=point_notes(every),
    )


def _once(every: Sequence[Series]) -> list[Series]:
    """The first series of each name: a legend names it once, however many panels it stands in."""
    found: dict[tuple[str, str], Series] = {}
    for each in every:
        found.setdefault((each.framework, each.name), each)
    return list(found.values())


def _small_multiples(id: str, look: Look, panels: Sequence[Multiple], threshold: float | None) -> str:
    columns = min(len(panels), 3)
    rows = math.ceil(len(panels) / columns)
    left, gap, high = 48, 18, 150
    wide = (WIDTH - left - gap * (columns - 1) - 6) / columns
    sheet = Sheet(id, height=rows * (high + 36) + 28)
    every = [each for panel in panels for each in panel.series]
    counts = counts_of(every)
    top = max(1.05, 1.06 * max(v for s in every for p in s.points for v in (p.value, p.high) if positive(v)))
    first = 0
    for place, multiple in enumerate(panels):
        x, y = left + (wide + gap) * (place % columns), 28 + (high + 36) * (place // columns)
        panel = sheet.panel(x, y, x + wide, y + high)
        scale_columns(sheet, panel, counts)
        panel.set_ylim(0, top)
        ticks.label_rows(sheet, panel, ticks.linear(0, top, 6), ticks.percent)
        last_row = place + columns >= len(panels)
        panel.tick_params(axis="y", labelleft=place % columns == 0)
        panel.tick_params(axis="x", labelbottom=last_row)
        draw_ideal(sheet, panel, (), look, "one", counts)
        if threshold:
            panel.axhline(threshold, color=ROLES["ink"], linewidth=1.1, dashes=(6, 3), zorder=1.5)
        for each in multiple.series:
            draw_series(sheet, panel, each, look, first)
            first += len(each.points)
        sheet.write(x, y - 14, shortened(multiple.label, wide, TEXT), size=TEXT, colour="ink", style="strong")
    return sheet.svg()


# --- batch size --------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SweepPoint:
    """One batch size per device. *oom* where it did not fit."""

    batch_per_device: int
    items_per_s: float | None = None
    low: float | None = None
    high: float | None = None
    memory_bytes: float | None = None  # of the fullest device
    oom: bool = False
    ref: str = ""


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """One framework over batch sizes."""

    name: str
    framework: str
    points: tuple[SweepPoint, ...]

    @property
    def oom_from(self) -> int | None:
        """The smallest batch that did not fit."""
        return min((p.batch_per_device for p in self.points if p.oom), default=None)


def batch_sweep(
    sweeps: Sequence[Sweep], look: Look, *, id: str, unit: str, capacity_bytes: float | None = None
) -> Figure:
    """Throughput and, below it, device memory against batch size on one log2 axis, with where memory ran out."""
    sweeps = tuple(sweep for sweep in sweeps if sweep.points)
    pairs = [(sweep, point) for sweep in sweeps for point in sweep.points]
    drawable_points = any(positive(p.items_per_s) or p.oom for _, p in pairs)
    oom = any(p.oom for _, p in pairs)
    return Figure(
        id=id,
        svg=drawn(_batch_sweep, id, look, sweeps, unit, capacity_bytes) if drawable_points else None,
        table=Table(
            columns=("series", "batch_per_device", "items_per_s", "low", "high", "memory", "oom"),
            units=("", "", unit, unit, unit, "bytes", ""),
            rows=tuple(
                (s.name, p.batch_per_device, p.items_per_s, p.low, p.high, p.memory_bytes, p.oom) for s, p in pairs
            ),
            refs=tuple(p.ref for _, p in pairs),
        ),
        legend=(
            *(_entry(sweep.name, sweep.framework, look) for sweep in sweeps),
            *((LegendEntry(key="oom", swatch=note_swatch("oom")),) if oom else ()),
            *((LegendEntry(key="capacity", swatch=note_swatch("threshold")),) if capacity_bytes else ()),
        ),
        axes=(
            Axis(key="batch_per_device", logarithmic=True),
            Axis(key="items_per_s", unit=unit),
            Axis(key="memory", unit="GB"),
        ),
        notes=("oom",) if oom else (),
    )


def _entry(name: Label, key: str, look: Look) -> LegendEntry:
    hue = look.hue(key)
    return LegendEntry(key=key, label=name, hue=hue.index, marker=hue.marker, swatch=swatch(hue))


def _batch_sweep(id: str, look: Look, sweeps: Sequence[Sweep], unit: str, capacity: float | None) -> str:
    sizes = sorted({p.batch_per_device for s in sweeps for p in s.points})
    lanes = [sweep for sweep in sweeps if sweep.oom_from is not None]
    memory = any(positive(p.memory_bytes) for s in sweeps for p in s.points)
    top = 30 + 20 * len(lanes)
    height = top + 220 + (150 if memory else 0) + 30
    sheet = Sheet(id, height=height)
    left, right = 78, WIDTH - 24
    above = sheet.panel(left, top, right, top + 220)
    _sweep_panel(sheet, above, sweeps, look, sizes, "items_per_s", None)
    sheet.write(left - 6, 12, unit, anchor="right")
    panels = [above]
    if memory:
        below = sheet.panel(left, top + 250, right, top + 370)
        _sweep_panel(sheet, below, sweeps, look, sizes, "memory_bytes", capacity)
        above.tick_params(axis="x", labelbottom=False)
        sheet.write(left - 6, top + 238, "GB", anchor="right")
        panels.append(below)
    _oom_lanes(sheet, panels, lanes, look, sizes)
    return sheet.svg()


def _sweep_panel(sheet: Sheet, panel, sweeps, look: Look, sizes, field_name: str, capacity: float | None) -> None:
    scale = 1e9 if field_name == "memory_bytes" else 1.0
    found = [[(p, getattr(p, field_name)) for p in s.points if positive(getattr(p, field_name))] for s in sweeps]
    values = [v for points in found for _, v in points] + ([capacity] if capacity else [])
    top = 1.08 * max([*values, *(p.high for s in sweeps for p in s.points if positive(p.high) and scale == 1)] or [1])
    scale_columns(sheet, panel, sizes)
    panel.set_ylim(0, top / scale)
    ticks.label_rows(sheet, panel, ticks.linear(0, top / scale, 5 if scale == 1 else 3))
    if capacity:
        panel.axhline(capacity / scale, color=ROLES["ink"], linewidth=1.2, dashes=(6, 3))
    first = 0
    for sweep, points in zip(sweeps, found, strict=True):
        rows = {p: first + i for i, p in enumerate(sweep.points)}
        first += len(sweep.points)
        points = sorted(points, key=lambda pair: pair[0].batch_per_device)
        _sweep_line(sheet, panel, sweep, points, look.hue(sweep.framework), rows, scale)


def _sweep_line(sheet: Sheet, panel, sweep: Sweep, points, hue: Hue, rows: dict, scale: float) -> None:
    if not points:
        return
    xs, ys = [p.batch_per_device for p, _ in points], [v / scale for _, v in points]
    dash = {"dashes": hue.dash} if hue.dash else {}
    (line,) = panel.plot(xs, ys, color=ROLES[hue.name], linewidth=2, zorder=3, **dash)
    sheet.belongs(line, sweep.framework)
    whiskers = [(p.batch_per_device, p.low, p.high) for p, _ in points if positive(p.low) and positive(p.high)]
    if whiskers and scale == 1:
        panel.vlines(*zip(*whiskers, strict=True), color=ROLES[hue.name], linewidth=1.2, zorder=3.5)
    (dots,) = panel.plot(xs, ys, zorder=4, **marker_style(hue))
    sheet.mark(dots, [(p.ref, rows[p]) for p, _ in points], series=sweep.framework)


def _oom_lanes(sheet: Sheet, panels, lanes: Sequence[Sweep], look: Look, sizes: Sequence[int]) -> None:
    """Above the panels one lane per framework that ran out: hatched from the first batch that did not fit."""
    top = panels[0]
    low, high = top.get_xlim()
    edge = sheet.pixel(top, high, 0)[0]
    for place, sweep in enumerate(lanes):
        fitting = [size for size in sizes if size < sweep.oom_from]
        begin = math.sqrt(fitting[-1] * sweep.oom_from) if fitting else low
        x, y = sheet.pixel(top, begin, 0)[0], 30 + 20 * place
        lane = sheet.panel(x, y, edge, y + 14)
        lane.spines["bottom"].set_visible(False)
        lane.set(xlim=(0, 1), ylim=(0, 1))
        field(lane, [(0, 0, 1, 1)], "cell-bad", hatch="rule")
        outlines(lane, [(0, 0, 1, 1)], colour="rule", width=0.8)
        lane.plot([0], [0.5], zorder=4, **marker_style(look.hue(sweep.framework)))
        sheet.write((x + edge) / 2, y + 7, "OOM", anchor="center", colour="ink", style="halo")
        for panel in panels:
            panel.axvline(begin, color=ROLES[look.hue(sweep.framework).name], linewidth=1.1, dashes=(1.5, 3))


# --- convergence -------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One run's accuracy or loss over epochs. *key* chooses the hue (a global batch size, a variant)."""

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
    """Accuracy or loss against epochs (or hours), one line a global batch size, panels side by side."""
    panels = tuple(
        CurvePanel(label=p.label, curves=tuple(map(_finite_curve, p.curves)), unit=p.unit, target=p.target)
        for p in panels
    )
    visible = tuple(panel for panel in panels if any(curve.points for curve in panel.curves))
    rows = [(p, c, at, value) for p in visible for c in p.curves for at, value in c.points]
    curves = {c.key: c for p in visible for c in p.curves}
    target = any(panel.target is not None for panel in visible)
    return Figure(
        id=id,
        svg=drawn(_convergence, id, look, visible) if visible else None,
        table=Table(
            columns=("panel", "series", x_key, "value", "unit"),
            rows=tuple((_key(p.label), _key(c.name), at, value, p.unit) for p, c, at, value in rows),
            refs=tuple(c.ref for _, c, *_ in rows),
        ),
        legend=(
            *(_entry(curve.name, curve.key, look) for curve in curves.values()),
            *((LegendEntry(key="target", swatch=note_swatch("threshold")),) if target else ()),
        ),
        axes=(Axis(key=x_key, unit=x_unit), *dict.fromkeys(Axis(key="value", unit=panel.unit) for panel in visible)),
    )


_CURVE_MARKS = 12  # markers on a curve: enough to tell it by shape


def _finite_curve(curve: Curve) -> Curve:
    points = tuple((x, y) for x, y in curve.points if math.isfinite(x) and math.isfinite(y))
    return Curve(name=curve.name, key=curve.key, points=points, ref=curve.ref)


def _convergence(id: str, look: Look, panels: Sequence[CurvePanel]) -> str:
    columns = min(len(panels), 2)
    rows = math.ceil(len(panels) / columns)
    gap, high, names = 66, 230, 84
    wide = (WIDTH - gap * columns - (names * columns)) / columns + (0 if columns == 2 else 30)
    sheet = Sheet(id, height=rows * (high + 66) + 4)
    first = 0
    for place, curves in enumerate(panels):
        x = gap + (wide + names + gap) * (place % columns)
        y = 36 + (high + 66) * (place // columns)
        panel = sheet.panel(x, y, x + wide, y + high)
        _curve_axes(sheet, panel, curves)
        sheet.write(x, y - 20, shortened(curves.label, wide, TEXT), size=TEXT, colour="ink", style="strong")
        sheet.write(x - 6, y - 20, curves.unit, anchor="right")
        for curve in curves.curves:
            _curve(sheet, panel, curve, look.hue(curve.key), first)
            first += len(curve.points)
        _curve_names(sheet, panel, [c for c in curves.curves if c.points], x + wide + 8, y, high, names - 8)
    return sheet.svg()


def _curve_axes(sheet: Sheet, panel, curves: CurvePanel) -> None:
    xs = [x for curve in curves.curves for x, _ in curve.points]
    ys = [y for curve in curves.curves for _, y in curve.points]
    ys += [curves.target] if curves.target is not None else []
    pad = (max(ys) - min(ys)) * 0.06 or abs(max(ys)) * 0.1 or 1
    panel.set_xlim(min(0, *xs, 0), max(*xs, min(0, *xs, 0) + 1e-9))
    panel.set_ylim(min(ys) - pad, max(ys) + pad)
    ticks.label_columns(sheet, panel, ticks.linear(*panel.get_xlim(), 5))
    ticks.label_rows(sheet, panel, ticks.linear(*panel.get_ylim(), 5))
    if curves.target is not None:
        panel.axhline(curves.target, color=ROLES["ink"], linewidth=1.2, dashes=(6, 3), zorder=1.5)


def _curve(sheet: Sheet, panel, curve: Curve, hue: Hue, first: int) -> None:
    if not curve.points:
        return
    xs, ys = zip(*curve.points, strict=True)
    dash = {"dashes": hue.dash} if hue.dash else {}
    (line,) = panel.plot(xs, ys, color=ROLES[hue.name], linewidth=1.6, zorder=3, **dash)
    sheet.belongs(line, curve.key)
    marked = range(0, len(xs), math.ceil(len(xs) / _CURVE_MARKS))  # the line goes through every point
    (dots,) = panel.plot([xs[i] for i in marked], [ys[i] for i in marked], zorder=4, **marker_style(hue))
    sheet.mark(dots, [(curve.ref, first + i) for i in marked], series=curve.key)


def _curve_names(sheet: Sheet, panel, curves: Sequence[Curve], x: float, top: float, high: float, room: float) -> None:
    wanted = [sheet.pixel(panel, *curve.points[-1])[1] for curve in curves]
    for curve, place in zip(curves, spread(wanted, 15, top, top + high - 4), strict=True):
        sheet.write(x, place, shortened(curve.name, room), colour="ink")


# --- extrapolation -----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What a model expects at one scale, with its prediction interval."""

    devices: int
    value: float
    low: float
    high: float


def extrapolation(
    measured: Series,
    forecast: Sequence[Forecast],
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
    expected = tuple((measured.name, f.devices, f.value, f.low, f.high, None, "extrapolated", False) for f in forecast)
    drawn_well = bool(visible and forecast)
    return Figure(
        id=id,
        svg=drawn(_extrapolation, id, look, visible[0], forecast, unit, threshold) if drawn_well else None,
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
    id: str, look: Look, series: Series, forecast: Sequence[Forecast], unit: str, threshold: float | None
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
    draw_series(sheet, panel, series, look, 0, connected=False)
    panel.vlines(target.devices, target.low, target.high, color=ROLES[hue.name], linewidth=1.4, zorder=3.5)
    (dot,) = panel.plot([target.devices], [target.value], zorder=4, **marker_style(hue, hollow=True))
    sheet.mark(dot, [("", len(series.points) + len(forecast) - 1)], series=series.framework)
    x, y = sheet.pixel(panel, target.devices, target.value)
    sheet.write(x + 14, y, f"≈{_quantity(target.value, unit)}", size=TEXT, colour="ink", style="strong")
    interval = f"[{_quantity(target.low, unit)}, {_quantity(target.high, unit)}]"
    sheet.write(x + 14, y + 17, interval, colour="muted")
    sheet.write(78, 12, "" if unit == "%" else unit, anchor="right" if text_width(unit) < 72 else "center")
    return sheet.svg()


def _beginning(series: Series) -> Forecast:
    """The largest measured point, through which the model passes: nothing is uncertain there but noise."""
    last = max(series.points, key=lambda point: point.devices)
    return Forecast(devices=last.devices, value=last.value, low=last.value, high=last.value)


def _quantity(value: float, unit: str) -> str:
    return ticks.percent_value(value) if unit == "%" else ticks.rounded(value)


def _forecast_axes(sheet: Sheet, panel, series: Series, forecast: Sequence[Forecast], unit: str) -> None:
    from matplotlib.ticker import NullLocator

    counts = sorted({*(p.devices for p in series.points), forecast[-1].devices})
    scale_columns(sheet, panel, counts)
    values = [v for p in (*series.points, *forecast) for v in (p.value, p.low, p.high) if positive(v)]
    if unit == "%":
        top = max(1.05, max(values) * 1.05)
        panel.set_ylim(0, top)
        ticks.label_rows(sheet, panel, ticks.linear(0, top, 6), ticks.percent)
        panel.axhline(1, color=ROLES["rule"], linewidth=1.2, dashes=(2, 3), zorder=1.4)
        return
    panel.set_yscale("log")
    panel.set_ylim(min(values) / 1.3, max(values) * 1.3)
    ticks.label_rows(sheet, panel, ticks.logarithmic(min(values) / 1.3, max(values) * 1.3))
    panel.yaxis.set_minor_locator(NullLocator())


def _band(panel, forecast: Sequence[Forecast]) -> None:
    xs = [f.devices for f in forecast]
    lows = [max(f.low, panel.get_ylim()[0]) for f in forecast]
    highs = [f.high for f in forecast]
    panel.fill_between(
        xs, lows, highs, facecolor=ROLES["shade"], edgecolor=ROLES["rule"], linewidth=0.8, hatch="/////", zorder=1
    )


# --- file system and other rates over time -----------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class TimeLine:
    """One rate over time. *key* is worded by the page ("disk_read")."""

    key: str
    samples: tuple[tuple[float, float | None], ...]  # (seconds since the run began, value)


@dataclass(frozen=True, kw_only=True)
class TimePanel:
    """Lines of one unit: a second unit is a second panel, never a second axis."""

    unit: str  # "bytes/s", "1/s"
    lines: tuple[TimeLine, ...]


def time_panels(
    panels: Sequence[TimePanel], look: Look, *, id: str, window: tuple[float, float] | None = None, ref: str = ""
) -> Figure:
    """Rates over time (file-system bandwidth and operations), stacked panels over one time axis.

    The mean over *window* (seconds) is drawn where the window lies, and what lies outside is shaded.
    """
    panels = tuple(p for p in panels if any(_known(line) for line in p.lines))
    rows = [(p, line) for p in panels for line in p.lines]
    return Figure(
        id=id,
        svg=drawn(_time_panels, id, look, panels, window, ref) if panels else None,
        table=Table(
            columns=("resource", "unit", "mean", "samples"),
            rows=tuple((line.key, p.unit, _window_mean(line, window), len(_known(line))) for p, line in rows),
            refs=(ref,) * len(rows),
        ),
        legend=(
            *(
                LegendEntry(key=line.key, swatch=note_swatch(f"line_{min(i, 3)}"))
                for panel in panels
                for i, line in enumerate(panel.lines)
            ),
            LegendEntry(key="window_mean" if window else "mean", swatch=note_swatch("mean")),
            *((LegendEntry(key="warmup", swatch=note_swatch("warmup")),) if window else ()),
        ),
        axes=(Axis(key="at_s", unit="s"), *(Axis(key="rate", unit=panel.unit) for panel in panels)),
    )


_LINE_COLOURS = ("ink", "rule", "muted", "hue-other")
_LINE_DASHES = ((), (5, 2), (1.5, 2), (7, 2, 2, 2))


def _known(line: TimeLine) -> list[tuple[float, float]]:
    return [(at, value) for at, value in line.samples if value is not None and math.isfinite(value)]


def _window_mean(line: TimeLine, window: tuple[float, float] | None) -> float | None:
    """The time-weighted mean: each sample stands for the time since the one before it."""
    begin, end = window or (-math.inf, math.inf)
    known = _known(line)
    spans = [(max(a[0], begin), min(b[0], end), b[1]) for a, b in pairwise(known) if b[0] > begin]
    spans = [(a, b, value) for a, b, value in spans if b > a]
    total = sum(b - a for a, b, _ in spans)
    return sum((b - a) * value for a, b, value in spans) / total if total > 0 else None


def _extremes(points: list[tuple[float, float]], most: int = 400) -> list[tuple[float, float]]:
    """At most *most* points that keep every bucket's minimum and maximum (REPORT.md §2)."""
    if len(points) <= most:
        return points
    size = math.ceil(len(points) / (most // 2))
    kept = []
    for i in range(0, len(points), size):
        bucket = points[i : i + size]
        ends = {min(bucket, key=lambda p: p[1]), max(bucket, key=lambda p: p[1])}
        kept += sorted(ends)
    return kept


def _time_panels(id: str, look: Look, panels: Sequence[TimePanel], window, ref: str) -> str:
    high, left, right = 140, 84, WIDTH - 120
    sheet = Sheet(id, height=len(panels) * (high + 34) + 34)
    times = [at for p in panels for line in p.lines for at, _ in _known(line)]
    span = (min(0.0, *times), max(*times, 1e-3))
    for place, part in enumerate(panels):
        top = 30 + (high + 34) * place
        panel = sheet.panel(left, top, right, top + high)
        panel.set_xlim(*span)
        factor, unit = _panel_unit(part)
        peak = max(value for line in part.lines for _, value in _known(line)) / factor
        panel.set_ylim(0, max(peak * 1.08, 1e-9))
        ticks.label_rows(sheet, panel, ticks.linear(0, max(peak * 1.08, 1e-9), 4))
        ticks.label_columns(sheet, panel, ticks.linear(*span, 7))
        panel.tick_params(axis="x", labelbottom=place == len(panels) - 1)
        sheet.write(left - 6, top - 16, unit, anchor="right")
        _outside(panel, window, span, panel.get_ylim()[1])
        for i, line in enumerate(part.lines):
            _time_line(sheet, panel, line, min(i, 3), factor)
        _means(sheet, panel, part, window or span, factor, right)
    sheet.write(right + 8, sheet.height - 20, "s")
    return sheet.svg()


def _panel_unit(panel: TimePanel) -> tuple[float, str]:
    """One decimal multiple of bytes for the whole panel: (divisor, unit)."""
    if not panel.unit.startswith("bytes"):
        return 1.0, panel.unit
    peak = max(value for line in panel.lines for _, value in _known(line))
    power = min(int(math.log10(peak) // 3), 4) if peak >= 1 else 0
    return 1000.0**power, f"{('', 'k', 'M', 'G', 'T')[power]}B{panel.unit.removeprefix('bytes')}"


def _outside(panel, window, span: tuple[float, float], top: float) -> None:
    if window:
        parts: list[Box] = [(span[0], 0, window[0] - span[0], top), (window[1], 0, span[1] - window[1], top)]
        boxes = [box for box in parts if box[2] > 0]
        if boxes:
            field(panel, boxes, "shade", zorder=0.5)


def _time_line(sheet: Sheet, panel, line: TimeLine, style: int, factor: float) -> None:
    points = _extremes(_known(line))
    if points:
        xs, ys = zip(*points, strict=True)
        dash = {"dashes": _LINE_DASHES[style]} if _LINE_DASHES[style] else {}
        colour = ROLES[_LINE_COLOURS[style]]
        (curve,) = panel.plot(xs, [y / factor for y in ys], color=colour, linewidth=1.1, zorder=3, **dash)
        sheet.belongs(curve, line.key)


def _means(sheet: Sheet, panel, part: TimePanel, window, factor: float, right: float) -> None:
    means = [(i, _window_mean(line, window)) for i, line in enumerate(part.lines)]
    means = [(i, mean / factor) for i, mean in means if mean is not None]
    heights = [sheet.pixel(panel, window[0], mean)[1] for _, mean in means]
    places = spread(heights, 16, min(heights, default=0) - 40, max(heights, default=0) + 8)
    for (i, mean), place in zip(means, places, strict=True):
        style = {"color": ROLES[_LINE_COLOURS[min(i, 3)]], "linewidth": 2.4, "zorder": 4}
        panel.hlines(mean, *window, **style)
        sheet.write(right + 8, place, ticks.quantity(mean * factor, part.unit), colour="ink")

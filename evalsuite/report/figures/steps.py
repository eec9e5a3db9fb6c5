"""The time of a step, taken apart: stacked bars."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalsuite.report.figures import ticks
from evalsuite.report.figures.data import Axis, Figure, Label, LegendEntry, positive
from evalsuite.report.figures.shapes import field, outlines, row_chart
from evalsuite.report.figures.sheet import WIDTH, Panel, Sheet, draw, text_width
from evalsuite.report.figures.style import ROLES, note_swatch, phase_swatch


@dataclass(frozen=True, kw_only=True)
class PhaseBar:
    """*key* is worded by the page; None = not recorded, which is not 0."""

    key: str
    value: float | None
    parent: str | None = None  # the phase it lies inside: drawn as a nested part, never stacked twice


@dataclass(frozen=True, kw_only=True)
class StepBar:
    label: Label
    total: float
    phases: tuple[PhaseBar, ...]
    ref: str = ""

    @property
    def parts(self) -> list[tuple[str, float]]:
        known = [(p.key, p.value) for p in self.phases if p.parent is None and p.value is not None and p.value >= 0]
        rest = self.total - sum(value for _, value in known)
        return [*known, ("rest", rest)] if rest > 1e-3 * self.total else known

    @property
    def overlaps(self) -> bool:
        return sum(value for _, value in self.parts) > 1.02 * self.total


_PHASE_HUES = 6  # and "other" in grey


def phases(steps: Sequence[StepBar], *, id: str, unit: str = "ms") -> Figure:
    """Step time as stacked bars, nested phases hatched inside their parent.

    A bar whose phases overlap beyond 2 % is hatched as a whole.
    """
    steps = tuple(step for step in steps if positive(step.total))
    keys = _phase_keys(steps)
    nested = list(dict.fromkeys(p.key for s in steps for p in s.phases if p.parent is not None))
    return Figure(
        id=id,
        svg=draw(_phases, id, steps, unit) if steps else None,
        legend=(
            *(LegendEntry(key=key, hue=hue, swatch=phase_swatch(hue)) for key, hue in keys.items()),
            *(LegendEntry(key=key, swatch=note_swatch("nested")) for key in nested),
        ),
        axes=(Axis(key="step_time", unit=unit), Axis(key="case")),
        notes=("overlapping",) if any(step.overlaps for step in steps) else (),
    )


def _phase_keys(steps: Sequence[StepBar]) -> dict[str, int]:
    known = {key for step in steps for key, _ in step.parts}
    names = [key for key in dict.fromkeys(p.key for step in steps for p in step.phases) if key in known]
    hues = {name: i if i <= _PHASE_HUES else 0 for i, name in enumerate(names, 1)}
    return hues | ({"rest": 0} if any(key == "rest" for step in steps for key, _ in step.parts) else {})


def _phases(id: str, steps: Sequence[StepBar], unit: str) -> str:
    totals = [ticks.quantity(step.total, unit) for step in steps]
    right = WIDTH - max(text_width(text) for text in totals) - 16
    sheet, panel = row_chart(id, [s.label for s in steps], row=36, top=24, foot=32, right=right, widest=240)
    top = max(sum(value for _, value in s.parts) for s in steps)
    panel.set_xlim(0, top)
    ticks.label_columns(sheet, panel, ticks.linear(0, top, 5), grid=True)
    sheet.write(sheet.pixel(panel, 0, 0)[0] - 8, sheet.height - 20, unit, anchor="right")
    keys = _phase_keys(steps)
    for place, (step, total) in enumerate(zip(steps, totals, strict=True)):
        end = _stack(sheet, panel, step, keys, place)
        x, y = sheet.pixel(panel, end, place)
        sheet.write(x + 7, y, total, colour="ink")
    return sheet.svg()


def _stack(sheet: Sheet, panel: Panel, step: StepBar, keys: dict[str, int], place: int) -> float:
    begin = 0.0
    begins: dict[str, float] = {}
    for key, value in step.parts:
        box = (begin, place - 0.34, value, 0.68)
        begins[key] = begin
        begin += value
        hue = f"hue-{keys[key]}" if keys[key] else "hue-other"
        patch = field(panel, [box], hue, zorder=2)
        patch.set(edgecolor=ROLES["surface"], linewidth=1.2)
        if key != "rest":
            sheet.mark(patch, [step.ref])
    _nested(sheet, panel, step, begins, place)
    if step.overlaps:
        field(panel, [(0, place - 0.34, begin, 0.68)], "none", hatch="surface", zorder=4)
        outlines(panel, [(0, place - 0.34, begin, 0.68)], colour="ink", zorder=4)
    return begin


def _nested(sheet: Sheet, panel: Panel, step: StepBar, begins: dict[str, float], place: int) -> None:
    used: dict[str, float] = {}
    for phase in step.phases:
        if phase.parent is not None and phase.parent in begins and positive(phase.value):
            left = begins[phase.parent] + used.get(phase.parent, 0.0)
            used[phase.parent] = used.get(phase.parent, 0.0) + phase.value
            patch = field(panel, [(left, place - 0.02, phase.value, 0.36)], "surface", hatch="rule", zorder=3)
            patch.set(edgecolor=ROLES["ink"], linewidth=1)
            sheet.mark(patch, [step.ref])

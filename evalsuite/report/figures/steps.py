"""The time of a step, taken apart: stacked bars."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalsuite.report.figures import ticks
from evalsuite.report.figures.data import Axis, Figure, Label, LegendEntry, positive
from evalsuite.report.figures.shapes import field, outlines
from evalsuite.report.figures.sheet import TEXT, WIDTH, Panel, Sheet, draw, shorten, text_width
from evalsuite.report.figures.style import ROLES, phase_swatch


@dataclass(frozen=True, kw_only=True)
class StepBar:
    label: Label
    total: float
    phases: tuple[tuple[str, float | None], ...]  # a key that the page words; None = not recorded, which is not 0
    ref: str = ""

    @property
    def parts(self) -> list[tuple[str, float]]:
        known = [(key, value) for key, value in self.phases if value is not None and value >= 0]
        rest = self.total - sum(value for _, value in known)
        return [*known, ("rest", rest)] if rest > 1e-3 * self.total else known

    @property
    def overlaps(self) -> bool:
        return sum(value for _, value in self.parts) > 1.02 * self.total


_TOP, _ROW, _FOOT = 24, 36, 32  # pixels: above the bars, of each, and below
_PHASE_HUES = 6  # and "other" in grey


def phases(steps: Sequence[StepBar], *, id: str, unit: str = "ms") -> Figure:
    """Step time as stacked bars. One whose phases overlap beyond 2 % is hatched as a whole."""
    steps = tuple(step for step in steps if positive(step.total))
    keys = _phase_keys(steps)
    return Figure(
        id=id,
        svg=draw(_phases, id, steps, unit) if steps else None,
        legend=tuple(LegendEntry(key=key, hue=hue, swatch=phase_swatch(hue)) for key, hue in keys.items()),
        axes=(Axis(key="step_time", unit=unit), Axis(key="case")),
        notes=("overlapping",) if any(step.overlaps for step in steps) else (),
    )


def _phase_keys(steps: Sequence[StepBar]) -> dict[str, int]:
    known = {key for step in steps for key, _ in step.parts}
    names = [key for key in dict.fromkeys(key for step in steps for key, _ in step.phases) if key in known]
    hues = {name: i if i <= _PHASE_HUES else 0 for i, name in enumerate(names, 1)}
    return hues | ({"rest": 0} if any(key == "rest" for step in steps for key, _ in step.parts) else {})


def _phases(id: str, steps: Sequence[StepBar], unit: str) -> str:
    totals = [ticks.quantity(step.total, unit) for step in steps]
    right = WIDTH - max(text_width(text) for text in totals) - 16
    left = min(max(text_width(step.label, TEXT) for step in steps) + 18, 240)
    sheet = Sheet(id, height=_TOP + _ROW * len(steps) + _FOOT)
    panel = sheet.panel(left, _TOP, right, sheet.height - _FOOT)
    panel.set_ylim(len(steps) - 0.5, -0.5)
    top = max(sum(value for _, value in s.parts) for s in steps)
    panel.set_xlim(0, top)
    ticks.label_columns(sheet, panel, ticks.linear(0, top, 5), grid=True)
    sheet.write(sheet.pixel(panel, 0, 0)[0] - 8, sheet.height - 20, unit, anchor="right")
    keys = _phase_keys(steps)
    for place, (step, total) in enumerate(zip(steps, totals, strict=True)):
        end = _stack(sheet, panel, step, keys, place)
        x, y = sheet.pixel(panel, end, place)
        sheet.write(left - 8, y, shorten(step.label, left - 12, TEXT), anchor="right", size=TEXT, colour="ink")
        sheet.write(x + 7, y, total, colour="ink")
    return sheet.svg()


def _stack(sheet: Sheet, panel: Panel, step: StepBar, keys: dict[str, int], place: int) -> float:
    begin = 0.0
    for key, value in step.parts:
        box = (begin, place - 0.34, value, 0.68)
        begin += value
        hue = f"hue-{keys[key]}" if keys[key] else "hue-other"
        patch = field(panel, [box], hue, zorder=2)
        patch.set(edgecolor=ROLES["surface"], linewidth=1.2)
        if key != "rest":
            sheet.mark(patch, [step.ref])
    if step.overlaps:
        field(panel, [(0, place - 0.34, begin, 0.68)], "none", hatch="surface", zorder=4)
        outlines(panel, [(0, place - 0.34, begin, 0.68)], colour="ink", zorder=4)
    return begin

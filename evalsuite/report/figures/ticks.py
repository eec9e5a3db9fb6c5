"""Ticks of an axis and their numbers (docs/numbers.md#printed-numbers)."""

import math
from collections.abc import Callable, Sequence

from evalsuite.report.figures.sheet import SMALL, Panel, Sheet, text_width
from evalsuite.report.figures.style import ROLES
from evalsuite.report.text import numbers


def number(value: float) -> str:
    digits = 4 if abs(value) >= 1 else 8
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def rounded(value: float) -> str:
    """Four significant digits, or to the unit above 1,000: "12,412", "7.435"."""
    return (numbers.rounded(value) if abs(value) >= 1000 else numbers.significant(value)).text


def throughput(value: float) -> str:
    """Items per second next to a line, below 100 as the tables have it: "387.9", "2.50"."""
    return numbers.throughput(value).text if value < 100 else rounded(value)


def percent(value: float) -> str:
    """A share as a tick writes it: 0.8 → "80%"."""
    return f"{number(round(100 * value, 6))}%"


def quantity(value: float, unit: str) -> str:
    """A value with its unit: "83.4%", "2.50 GB/s", "12,412 images/s"."""
    if unit in ("%", "1/s") or unit.startswith("bytes"):
        return numbers.quantity(value, unit).text.replace(numbers.NARROW_SPACE, " ")
    return f"{rounded(value)} {unit}".rstrip()


def linear(low: float, high: float, wanted: int = 5) -> list[float]:
    span = high - low
    if not span > 0:
        return [low]
    rough = span / max(wanted, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{i * step:.12g}") for i in range(first, last + 1)]


def margin(values: Sequence[float], written: Callable[[float], str] = number) -> float:
    return max((text_width(written(value)) for value in values), default=0) + 16


def uncrowded(places: Sequence[float], texts: Sequence[str], size: float = SMALL) -> list[int]:
    """Which labels fit: the ends first, then from the left."""
    keep: list[int] = []
    for i in dict.fromkeys((0, len(places) - 1, *range(len(places)))):
        room = [
            abs(places[i] - places[k]) - (text_width(texts[i], size) + text_width(texts[k], size)) / 2 for k in keep
        ]
        if all(gap > 7 for gap in room):
            keep.append(i)
    return sorted(keep)


def label_rows(
    sheet: Sheet,
    panel: Panel,
    values: Sequence[float],
    written: Callable[[float], str] = number,
) -> None:
    """Grid lines with their numbers. The limits of both axes must be set."""
    left, right = panel.get_xlim()
    panel.hlines(values, left, right, color=ROLES["grid"], linewidth=1, zorder=0.5)
    for value in values:
        x, y = sheet.pixel(panel, left, value)
        sheet.write(x - 5, y + 1, written(value), anchor="right")


def label_columns(
    sheet: Sheet, panel: Panel, values: Sequence[float], written: Callable[[float], str] = number, *, grid: bool = False
) -> None:
    """Ticks with numbers where they do not touch. The limits of both axes must be set."""
    bottom, top = panel.get_ylim()
    if grid:
        panel.vlines(values, bottom, top, color=ROLES["grid"], linewidth=1, zorder=0.5)
    places = [sheet.pixel(panel, value, bottom) for value in values]
    for x, y in places:
        sheet.line([(x, y), (x, y + 4)], width=0.8)
    texts = [written(value) for value in values]
    for i in uncrowded([x for x, _ in places], texts):
        sheet.write(places[i][0], places[i][1] + 14.5, texts[i], anchor="center")

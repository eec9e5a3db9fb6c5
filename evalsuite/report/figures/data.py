"""What goes into a figure and what comes out."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard


@dataclass(frozen=True, kw_only=True)
class Bilingual:
    """A label that is a word: the SVG has both languages, the page's `lang` rule shows one."""

    zh: str
    en: str


Label = str | Bilingual  # a plain str is a proper name, a number or a unit, the same in both languages


def plain(label: Label) -> str:
    return label.en if isinstance(label, Bilingual) else label


_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def clean(text: str) -> str:
    """*text* without the characters that XML forbids or that turn writing around."""
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)


@dataclass(frozen=True, kw_only=True)
class Point:
    x: float  # the devices, a size, an epoch
    value: float | None
    ref: str = ""  # the anchor a mark leads to
    partial: bool = False

    @property
    def shown(self) -> float:
        if self.value is None:
            raise ValueError(f"{self.ref}: a point without a value is drawn")
        return self.value


@dataclass(frozen=True, kw_only=True)
class Line:
    name: Label
    framework: str
    points: tuple[Point, ...]
    base: float = 1
    signed: bool = False  # zero and less are values too, as of a loss
    end: str = ""  # said behind its name, where the line ends early
    variant: int = 0  # 1, 2, … for further series of the same framework: same hue and marker, other dash


@dataclass(frozen=True, kw_only=True)
class Axis:
    key: str
    unit: str = ""
    logarithmic: bool = False


@dataclass(frozen=True, kw_only=True)
class LegendEntry:
    """*label* is a proper name; where it is empty the page words *key*."""

    key: str
    label: Label = ""
    hue: int | None = None  # 1–6, 0 = grey, None = not a hue
    swatch: str = ""  # a small inline SVG, hidden from assistive technology


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A drawn figure and what the page needs around it. *svg* is None where there is nothing to draw.

    The SVG is `role="img"`. HTML elements `<id>-title` and `<id>-reading` name it: an SVG `<title>` has one language.
    Marks have `class="mark"` and `data-ref` (an anchor), and no tabindex, which a screen reader could not reach there:
    the page's script sets `role="group"` and a roving one.
    """

    id: str
    svg: str | None
    legend: tuple[LegendEntry, ...] = ()
    axes: tuple[Axis, ...] = ()
    notes: tuple[str, ...] = ()  # keys of what must be explained below: "partial", "cited", "ideal", …


def as_drawn(series: Sequence[Line]) -> tuple[Line, ...]:
    """*series* with hollow marks on the exceptions only: what holds of all points is a line below the figure."""
    if all(point.partial for each in series for point in each.points):
        return tuple(replace(each, points=tuple(replace(p, partial=False) for p in each.points)) for each in series)
    return tuple(series)


def point_notes(series: Sequence[Line]) -> tuple[str, ...]:
    partial = [point.partial for each in series for point in each.points if point.value is not None]
    return ("all_partial",) if partial and all(partial) else ("partial",) if any(partial) else ()


def drawable(series: Sequence[Line]) -> tuple[Line, ...]:
    """*series* with their finite points, sorted; none is empty. Of counts only what is positive is drawn."""
    kept = []
    for line in series:
        points = [p for p in line.points if finite(p.value) and math.isfinite(p.x) and (p.value > 0 or line.signed)]
        if points:
            kept.append(replace(line, points=tuple(sorted(points, key=lambda p: p.x))))
    return tuple(kept)


def positive(value: float | None) -> TypeGuard[float]:
    return finite(value) and value > 0


def finite(value: float | None) -> TypeGuard[float]:
    return value is not None and math.isfinite(value)

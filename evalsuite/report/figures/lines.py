"""The chart of a page: lines over the devices, or over the epochs of a training, placed in pixels.

`templates/chart.html.j2` draws it: with real text nodes, in the page's colours and languages.
"""

import math
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from evalsuite.core.model import by_key
from evalsuite.report.figures.style import Hue, Look
from evalsuite.report.text import numbers
from evalsuite.report.text.words import Rendered, Text, Words

LEFT, TOP, PLOT, HIGH, BELOW = 52, 12, 440, 328, 24  # pixels: of the plot, and of the numbers below it
NARROWEST = 760  # the text column of the report
SIZE, GAP = 11.5, 15  # of a name; from one to the next
MOST_NAMED, ALIKE = 3, 0.01  # lines whose shares end within one percent have one label, of so many names
MOST_MARKS = 12  # on a curve of many points: enough to tell it by shape
FLAT = 0.4  # of the highest value: the axis of curves that span less does not begin at 0
LONGEST = 96  # characters of a name
DASHES = ("", "2 2", "7 2 2 2", "1 3")  # of further series of one framework


@dataclass(frozen=True, kw_only=True)
class Point:
    x: float  # the devices, or an epoch
    value: float
    ref: str = ""  # the case that its mark leads to
    hollow: bool = False


Mark = tuple[float, float, Point]  # x, y and what stands there


@dataclass(frozen=True, kw_only=True)
class Line:
    name: Rendered
    framework: str
    points: tuple[Point, ...]


@dataclass(frozen=True, kw_only=True)
class DrawnLine:
    line: Line
    hue: Hue
    dash: str
    path: str
    marks: tuple[tuple[str, str, Point], ...]


@dataclass(frozen=True, kw_only=True)
class Name:
    """What stands at the ends of lines, and the path that leads to it where it had to move."""

    texts: tuple[tuple[str, str], ...]  # (language, text)
    x: str
    y: str
    lead: str = ""


@dataclass(frozen=True, kw_only=True)
class Chart:
    id: str
    title: Text
    reading: tuple[Text, ...]
    width: int
    rows: tuple[tuple[str, str], ...]  # (y, number)
    columns: tuple[tuple[str, str], ...]
    aim: str | None  # y of the target, or of 100 %
    lines: tuple[DrawnLine, ...]
    names: tuple[Name, ...]


def chart(
    lines: Sequence[Line],
    look: Look,
    words: Words,
    *,
    id: str,
    title: Text,
    reading: Sequence[Text] = (),
    share: bool = True,
    target: float | None = None,
) -> Chart:
    """*share*: of efficiencies over devices, from 0 %, by doublings; else of a score by epochs."""
    xs = sorted({point.x for line in lines for point in line.points})
    ends = _limits([point.value for line in lines for point in line.points], 1.0 if share else target, share)
    across = _scale(*((math.log2(xs[0]), math.log2(xs[-1])) if share else (min(0.0, xs[0]), xs[-1])), LEFT + 12, PLOT)
    up = _scale(*ends, TOP + HIGH, -HIGH)

    def place(point: Point) -> tuple[float, float]:
        return across(math.log2(point.x) if share else point.x), up(point.value)

    marks: dict[int, list[Mark]] = {
        number: [(*place(point), point) for point in line.points] for number, line in enumerate(lines)
    }
    names = _names(lines, [place(line.points[-1]) for line in lines], words, share)
    room = max((_width(text) for name in names for _, text in name.texts), default=0)
    ticks = xs if share else linear(min(0.0, xs[0]), xs[-1])
    shown = _uncrowded([(across(math.log2(x) if share else x), numbers.plain(x).text) for x in ticks])
    aim = 1.0 if share else target
    return Chart(
        id=id,
        title=title,
        reading=tuple(reading),
        width=max(NARROWEST, round(LEFT + PLOT + 40 + room)),
        rows=tuple((_px(up(at)), f"{100 * at:.4g}%" if share else numbers.plain(at).text) for at in linear(*ends)),
        columns=tuple((_px(x), text) for x, text in shown),
        aim=None if aim is None else _px(up(aim)),
        lines=tuple(_draw_line(number, lines, marks[number], look) for number in marks),
        names=names,
    )


def _draw_line(
    number: int, lines: Sequence[Line], marks: Sequence[tuple[float, float, Point]], look: Look
) -> DrawnLine:
    line = lines[number]
    alone, own = len({each.framework for each in lines}) == 1, look.hue(line.framework)
    others = [(each.framework, look.hue(each.framework)) for each in lines[:number]]
    shares = (name == line.framework or (hue.index == own.index and not hue.dash + own.dash) for name, hue in others)
    before, hue = sum(shares), look.hue(line.framework, number * alone)
    shown = marks[:: math.ceil(len(marks) / MOST_MARKS)]
    return DrawnLine(
        line=line,
        hue=hue,
        dash=DASHES[min(before, 3)] or hue.dash,
        path="M" + "L".join(f"{_px(x)} {_px(y)}" for x, y, _ in marks) if len(marks) > 1 else "",
        marks=tuple((_px(x), _px(y), point) for x, y, point in shown),
    )


def _names(lines: Sequence[Line], ends: Sequence[tuple[float, float]], words: Words, share: bool) -> tuple[Name, ...]:
    """At the right, moved apart; of a line that ends early at its end, since a lead across looks like a line."""
    right = max((x for x, _ in ends), default=0.0)
    labels = _labels(lines, words, share)
    groups = by_key((x == right, (label, x, y)) for label, (x, y) in zip(labels, ends, strict=True) if label)
    names = []
    for at_right, members in groups.items():
        places = spread([y for *_, y in members], GAP, TOP + 4, TOP + HIGH) if at_right else _beside(members)
        for (label, x, y), place in zip(members, places, strict=True):
            name = Name(texts=_texts(label), x=_px(x + (24 if at_right else 9)), y=_px(place + SIZE / 3))
            moved = at_right and abs(place - y) > 3
            lead = f"M{_px(x + 7)} {_px(y)}L{_px(x + 14)} {_px(place)}H{_px(x + 21)}" if moved else ""
            names.append(replace(name, lead=lead))
    return tuple(names)


def _beside(members: Sequence[tuple[Rendered, float, float]]) -> list[float]:
    """Below the mark of each, or as near as neither a name nor a mark stands already."""
    places: list[float] = []
    wide = [max(_width(text) for _, text in _texts(label)) for label, *_ in members]
    for at, (_, x, y) in enumerate(members):
        taken = [place for of, place in enumerate(places) if -wide[of] < members[of][1] - x < wide[at]]
        taken += [other for _, left, other in members if 0 < left - x < wide[at] + 9]
        tries = (y + off for off in (12, 0, 24, -12, 36, -24))
        places.append(next((y for y in tries if all(abs(y - other) >= GAP - 3 for other in taken)), y + 12))
    return places


def _labels(lines: Sequence[Line], words: Words, share: bool) -> list[Rendered | None]:
    """The name and the last value of each line; of shares that end alike the first has the names."""
    last = [line.points[-1] for line in lines]
    if not share:
        return [line.name for line in lines]
    labels: list[Rendered | None] = [None] * len(lines)
    bundles: list[list[int]] = []
    for place in sorted(range(len(lines)), key=lambda place: -last[place].value):
        first = last[bundles[-1][0]] if bundles else None
        if first is None or first.x != last[place].x or first.value - last[place].value > ALIKE:
            bundles.append([])
        bundles[-1].append(place)
    for bundle in bundles:
        value = numbers.least_and_most([last[place].value for place in bundle], numbers.percent).text
        more = len(bundle) - MOST_NAMED
        named = words.listed(lines[place].name for place in bundle[:MOST_NAMED])
        labels[bundle[0]] = replace(words.listed([named, *[f"+{more}"] * (more > 0), value]), separators=" ")
    return labels


def _texts(label: Rendered) -> tuple[tuple[str, str], ...]:
    texts = {language: _cut(label.plain(language)) for language in label.words.languages}
    return tuple(texts.items()) if len({*texts.values()}) > 1 else (("", next(iter(texts.values()))),)


def _cut(text: str) -> str:
    """*text* with "…" in its middle: long names often differ at their ends alone. The table has the whole."""
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST // 2].rpartition(' ')[0]}…{text[-LONGEST // 2 :].partition(' ')[2]}"


def _limits(values: Sequence[float], aim: float | None, share: bool) -> tuple[float, float]:
    every = [*values, *([aim] if aim is not None else [])]
    low, high = min(every), max(every)
    pad = (high - low) * 0.06 or abs(high) * 0.1 or 1.0
    if share:
        return min(0.0, low), high * 1.06
    return (low - pad if low < 0 or 0 < high - low < FLAT * high else 0.0), high + pad


def _scale(low: float, high: float, begin: float, length: float) -> Callable[[float], float]:
    return lambda value: begin + (length * (value - low) / (high - low) if high > low else 0.0)


def linear(low: float, high: float) -> list[float]:
    """About five round numbers from *low* to *high*."""
    if not high > low:
        return [low]
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{i * step:.12g}") for i in range(first, last + 1)]


def _uncrowded(ticks: Sequence[tuple[float, str]]) -> list[tuple[float, str]]:
    """Those whose numbers do not touch: the ends first, then from the left."""
    kept: list[tuple[float, str]] = []
    for x, text in dict.fromkeys((*ticks[:1], *ticks[-1:], *ticks)):
        if all(abs(x - other) > (_width(text) + _width(beside)) / 2 + 7 for other, beside in kept):
            kept.append((x, text))
    return kept


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """The places nearest to *wanted*, in the same order, at least *gap* apart, from *low* to *high* if they fit.
    Least squares under an order constraint: pool adjacent violators, en.wikipedia.org/wiki/Isotonic_regression."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    pools: list[tuple[float, int]] = []  # (sum, count) of neighbours that share one offset
    for rank, i in enumerate(order):
        pools.append((wanted[i] - rank * gap, 1))
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] >= pools[-1][0] / pools[-1][1]:
            last, before = pools.pop(), pools.pop()
            pools.append((last[0] + before[0], last[1] + before[1]))
    offsets = [total / count for total, count in pools for _ in range(count)]
    ceiling = max(low, high - gap * (len(wanted) - 1))
    places = {i: min(max(o, low), ceiling) + rank * gap for rank, (i, o) in enumerate(zip(order, offsets, strict=True))}
    return [places[i] for i in range(len(wanted))]


def _width(text: str) -> float:
    """A guess in pixels: the page's font is not known."""
    return SIZE * sum(1.0 if unicodedata.east_asian_width(letter) in "WF" else 0.58 for letter in text)


def _px(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")

"""Numbers as they are printed, alike in every language (docs/numbers.md#printed-numbers).
A `Number` is made once from the raw value. Rounding is half-even on the exact binary value and happens only here."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_EVEN, Decimal

from markupsafe import Markup, escape

from evalsuite.core.model import Interval

NARROW_SPACE = "\u202f"  # between a number and its unit: no line break, half a blank wide
RANGE = "–"
MINUS = "\N{MINUS SIGN}"  # as wide as +, and no hyphen at which a line may break
FINE_BELOW = 1  # below, a throughput is printed with three digits that are not zeros, as from 1 to 10: 0.787, 0.00421
FINEST = 6  # decimals of a share of which fewer would tell the wrong side of a threshold
WHOLE_FROM = 100_000  # from here on a throughput is printed without decimals
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
BINARY = ("B", "KiB", "MiB", "GiB", "TiB")
PREFIXES = ("", "k", "M", "G", "T")


@dataclass(frozen=True, kw_only=True)
class Number:
    """*text* for the reader, *raw* for sorting and files, *ref* the anchor of its receipt."""

    text: str
    raw: float
    ref: str | None = None

    def to(self, ref: str | None) -> "Number":
        return replace(self, ref=ref)

    def __str__(self) -> str:
        return self.text

    def __html__(self) -> Markup:
        if self.ref is None:
            return escape(self.text)
        return Markup('<a class="num" href="#{}">{}</a>').format(self.ref, self.text)

    @property
    def exported(self) -> str:
        """Nine digits: more are traces of binary arithmetic."""
        return f"{self.raw:.9g}"


Form = Callable[[float], Number]


def throughput(value: float) -> Number:
    """Items per second in a table: two decimals, none from 100,000 on, below 1 three significant digits.
    A range of one percent is seen at any rate. `logs/formatting.rate` writes the same about a log."""
    if 0 < value < FINE_BELOW:
        return significant(value, 3)
    return _number(value, 0 if abs(value) >= WHOLE_FROM else 2)


def rounded(value: float, beside: float = 0.0) -> Number:
    """Items per second in a sentence: no decimals from 1,000 on, and from 100 on *beside* such a value."""
    whole = abs(value) >= 1000 or (abs(beside) >= 1000 and abs(value) >= 100)
    return _number(value, 0) if whole else throughput(value)


def gain(share: float) -> Number:
    """How much faster: 9.5%, without decimals from double on; what is more than nothing is not 0.0%."""
    text = _number(share * 100, 0 if share >= 1 else 1, "%").text
    return Number(text="<0.1%" if 0 < share < 0.0005 else text, raw=share)


def significant(value: float, digits: int = 4) -> Number:
    if value == 0:
        return _number(value, 0)
    decimals = digits - 1 - int(f"{value:.{digits - 1}e}".partition("e")[2])  # of what it is rounded to: 0.9996 is 1.00
    quantum = Decimal(1).scaleb(-decimals)
    rounded = Decimal(value).quantize(quantum, rounding=ROUND_HALF_EVEN)
    return Number(text=f"{rounded:,.{max(0, decimals)}f}".replace("-", MINUS), raw=value)


def speedup(value: float) -> Number:
    return _number(value, 2, "x")


def percent(share: float) -> Number:
    return Number(text=_number(share * 100, 1, "%").text, raw=share)


def beside(threshold: float | None) -> Form:
    """A share is not rounded to the other side of *threshold*: 79.97%, and no 80.0% that is below 80%."""

    def form(share: float) -> Number:
        limit = math.inf if threshold is None else threshold
        digits = next((n for n in range(1, FINEST) if (round(share, n + 2) < limit) == (share < limit)), FINEST)
        return Number(text=_number(share * 100, digits, "%").text, raw=share)

    return form


def chance(share: float) -> Number:
    """A probability is neither none nor all: <0.1%, >99.9%."""
    text = "<0.1%" if share < 0.0005 else ">99.9%" if share >= 0.9995 else percent(share).text
    return Number(text=text, raw=share)


def limit(share: float) -> Number:
    return Number(text=f"{plain(share * 100).text}%", raw=share)


def change(share: float) -> Number:
    return Number(text=_signed(percent(share).text, share), raw=share)


def points(value: float) -> Number:
    return Number(text=_signed(_number(value, 2).text, value), raw=value)


def count(value: int) -> Number:
    return _number(value, 0)


def seconds(value: float) -> Number:
    return _number(value, 2 if abs(value) < 100 else 1, f"{NARROW_SPACE}s")


def milliseconds(value_s: float) -> Number:
    return Number(text=_number(value_s * 1000, 1, f"{NARROW_SPACE}ms").text, raw=value_s)


def plain(value: float) -> Number:
    text = f"{value:,.3f}".rstrip("0").rstrip(".")
    return Number(text="0" if text == "-0" else text.replace("-", MINUS), raw=value)


def relative(value: float) -> Number:
    """Two digits of what is mostly tiny: 1.8×10⁻⁸."""
    if value == 0:
        return _number(value, 0)
    digits, _, power = f"{value:.1e}".partition("e")
    return Number(text=f"{digits}×10{str(int(power)).translate(RAISED)}", raw=value)


def memory(value_bytes: float) -> Number:
    scaled, position = float(value_bytes), 0
    while abs(scaled) >= 1024 and position < len(BINARY) - 1:
        scaled, position = scaled / 1024, position + 1
    decimals = 0 if position == 0 else 1
    return Number(text=_number(scaled, decimals, f"{NARROW_SPACE}{BINARY[position]}").text, raw=value_bytes)


def quantity(value: float, unit: str) -> Number:
    """A sensor's reading: % with one decimal, amounts moved with three significant digits, others with four.
    Bytes are in decimal multiples, as links and disks are sold."""
    if unit == "%":
        return _number(value, 1, "%")
    if unit.startswith("bytes"):
        power = min(int(math.log10(value) // 3), len(PREFIXES) - 1) if value >= 1 else 0
        behind = f"{PREFIXES[power]}B{unit.removeprefix('bytes')}"
        return Number(text=f"{significant(value / 1000**power, 3).text}{NARROW_SPACE}{behind}", raw=value)
    if unit == "1/s":
        return Number(text=f"{significant(value, 3).text}{NARROW_SPACE}/s", raw=value)
    return Number(text=f"{significant(value).text}{NARROW_SPACE}{unit}".rstrip(), raw=value)


def span(low: float, high: float, form: Form) -> Number:
    """Its unit is written once: 38.12–39.40, 96.1–98.4%."""
    first, last = form(low).text, form(high).text
    unit = _unit(last)
    if unit and _unit(first) == unit:
        first = first.removesuffix(unit)
    return Number(text=f"{first}{RANGE}{last}", raw=low)


def least_and_most(values: Sequence[float], form: Form) -> Number:
    """One value, where both are printed alike."""
    low, high = form(min(values)), form(max(values))
    return low if low.text == high.text else span(low.raw, high.raw, form)


def interval(interval: Interval | None, form: Form) -> Number | None:
    if interval is None or interval.low is None or interval.high is None:
        return None
    return span(interval.low, interval.high, form)


def _number(value: float, decimals: int, suffix: str = "") -> Number:
    if not math.isfinite(value):
        raise ValueError(f"{value} cannot be printed: what was not measured is None")
    text = f"{value:,.{decimals}f}"
    if text.strip("-0.,") == "":
        text = text.lstrip("-")  # no minus before zero
    return Number(text=text.replace("-", MINUS) + suffix, raw=value)


def _signed(text: str, value: float) -> str:
    return f"+{text}" if value > 0 else text


def _unit(text: str) -> str:
    return text.lstrip(f"{MINUS}0123456789.,")

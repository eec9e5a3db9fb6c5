"""How counts and rates are written in a sentence about a log."""

import math


def rate(value: float) -> str:
    """`5868.0` → "5,868.00"; `0.0042` → "0.0042", and never "0.00"."""
    if value == 0 or abs(value) >= 0.1:
        return f"{value:,.2f}"
    return f"{value:.{1 - math.floor(math.log10(abs(value)))}f}"


def counted(number: int, noun: str) -> str:
    """`1, "device"` → "1 device"; `8, "device"` → "8 devices"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"

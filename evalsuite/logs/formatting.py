"""How rates are written in a sentence about a log."""


def rate(value: float) -> str:
    """`5868.0` → "5,868.00"; below 1 three significant digits, `0.0042` → "0.00420", and never "0.00"."""
    if value == 0 or abs(value) >= 1:
        return f"{value:,.2f}"
    power = int(f"{value:.2e}".partition("e")[2])  # of what it is rounded to: 0.9996 is 1.00
    return f"{value:.{2 - power}f}"

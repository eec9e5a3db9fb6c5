"""How rates, their units and lines are written in a sentence about a log."""

import re

from evalsuite.core import paths

SHOWN_CHARACTERS = 300


def rate(value: float) -> str:
    """`5868.0` → "5,868.00"; below 1 three significant digits, `0.0042` → "0.00420", and never "0.00"."""
    if value == 0 or abs(value) >= 1:
        return f"{value:,.2f}"
    power = int(f"{value:.2e}".partition("e")[2])  # of what it is rounded to: 0.9996 is 1.00
    return f"{value:.{2 - power}f}"


def unit_of(model: str | None, printed: str) -> str:
    """Samples are what a model is known to be trained on, images or sequences; any other unit is the log's own word."""
    made_of = paths.read_data("log_words.toml")["models"] if printed == "samples/s" else {}
    name = re.sub("[^a-z0-9]", "", (model or "").lower())
    return next((unit for unit, names in made_of.items() if re.match(names, name)), printed)


def shown(text: bytes) -> str:
    """As a sentence may quote it: no control characters, not too long."""
    plain = "".join(c if c.isprintable() else " " for c in text.decode("utf-8", "replace")).strip()
    return plain if len(plain) <= SHOWN_CHARACTERS else plain[: SHOWN_CHARACTERS - 1] + "…"

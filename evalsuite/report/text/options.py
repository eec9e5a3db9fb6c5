"""Options of training scripts in the reader's words: `gradient_clipping=off` is "gradient clipping: off".

What data/text has no words for (`options`, `option_values`) is shown as it is given.
"""

from collections.abc import Iterable
from dataclasses import replace

from evalsuite.report.text.words import Listed, Rendered, Text, Words

WHOLE = 15  # digits of a number that is printed with separators; what is longer is an identifier


def option(name: str, value: str, words: Words) -> Text:
    return words("models.option", name_text=title(name, words), value=value_of(name, value, words))


def title(name: str, words: Words) -> Rendered:
    known = (key for key in (f"options.{name}", f"values.fact.{name}") if key in words)
    return next(map(words, known), None) or words.same(name)


def value_of(name: str, value: str, words: Words) -> Rendered:
    for key in (f"option_values.{name}.{value}", f"option_values.{value}"):
        if key in words:
            return words(key)
    if value.isascii() and value.isdigit() and len(value) <= WHOLE and not value.startswith("0"):
        return words.same(f"{int(value):,}")
    return words.same(value)


def apart(parts: Iterable[Rendered | str], words: Words) -> Listed:
    return replace(words.listed(parts), separators=" · ")


def together(parts: Iterable[Rendered | str], words: Words) -> Listed:
    return replace(words.listed(parts), separators=" + ")


def side_by_side(parts: Iterable[Rendered | str], words: Words) -> Listed:
    return replace(words.listed(parts), separators=" ")

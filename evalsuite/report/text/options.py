"""Options of training scripts in the reader's words, and how variants that are ranked are called by them.

`gradient_clipping=off` is "gradient clipping: off".

What data/text has no words for (`options`, `option_values`) is shown as it is given.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from evalsuite.core.messages import Message
from evalsuite.report.text import names
from evalsuite.report.text.words import Listed, Rendered, Text, Words
from evalsuite.results.compare.decisions import Candidate, RankingScope

NEUTRAL = ("off", "none", "0", "float32")  # of an option's values the one that the others are compared with
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
        value = f"{int(value):,}"
    unit = f"option_values.{name}.unit"
    return words(unit, value=value) if unit in words else words.same(value)


def precision(of: str, given: Iterable[tuple[str, str]]) -> str | Message:
    """As its source has it, where that leaves open which of ours it is ("BF16", pure or mixed)."""
    return names.precision(dict(given).get("stated_precision", of))


def apart(parts: Iterable[Rendered | str], words: Words, by: Mapping[str, str] | str = " · ") -> Listed:
    return replace(words.listed(parts), separators=by)


def candidate_name(candidate: Candidate, scope: RankingScope, words: Words) -> Rendered:
    """As in a table or next to a mark: "PyTorch", or of a variant "link (Mbit/s): 500 · overlap: on"."""
    if scope.among == "frameworks":
        return words.same(names.framework(candidate.framework))
    script = [words.same(candidate.recipe)] if candidate.recipe else []
    said = [option(name, value, words) for name, value in candidate.options if value is not None]
    return replace(words.listed([*script, *said]), separators=" · ") if script or said else words("variants.default")


def candidate_in_sentence(candidate: Candidate, scope: RankingScope, words: Words) -> Rendered:
    """As in a sentence: a variant between quotation marks, since its name has words and signs of its own."""
    plain = candidate_name(candidate, scope, words)
    return plain if scope.among == "frameworks" else words("answers.variant", name_text=plain)

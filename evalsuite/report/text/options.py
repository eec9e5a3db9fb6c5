"""Options of training scripts in the reader's words, and how variants that are ranked are called by them.

`gradient_clipping=off` is "gradient clipping: off".

What data/text has no words for (`options`, `option_values`) is shown as it is given.
"""

from collections.abc import Iterable
from dataclasses import replace

from evalsuite.report.text import names
from evalsuite.report.text.words import Listed, Rendered, Text, Words
from evalsuite.results.compare.decisions import Candidate, RankingScope

NEUTRAL = ("off", "none", "0", "float32")  # of an option's values the one that the others are compared with
SILENT = ("off", "none")  # what switches nothing on needs no word, where each variant says whether it does
PLAIN = ("variant", "plain")  # the script as it is, among the variants of a spec
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


def candidate_name(candidate: Candidate, scope: RankingScope, words: Words) -> Rendered:
    """As in a table or next to a mark: "PyTorch", or of a variant "link (Mbit/s): 500 + overlap"."""
    if scope.among == "frameworks":
        return words.same(names.framework(candidate.framework))
    said = _options(candidate, scope, words)
    script = [words.same(candidate.recipe)] if candidate.recipe else []
    if not said and not script:
        return words("variants.default")
    return together([*script, *said], words)


def candidate_in_sentence(candidate: Candidate, scope: RankingScope, words: Words) -> Rendered:
    """As in a sentence: a variant between quotation marks, since its name has words and signs of its own."""
    plain = candidate_name(candidate, scope, words)
    return plain if scope.among == "frameworks" else words("answers.variant", name_text=plain)


def option_in_name(name: str, value: str, several: bool, words: Words) -> Rendered:
    if several and value == "on":
        return title(name, words)
    if (key := f"option_spoken.{name}") in words:
        return words(key, value=value_of(name, value, words))
    bare = value not in (*NEUTRAL, "on") and not value.isdigit()
    return value_of(name, value, words) if bare else option(name, value, words)


def _options(candidate: Candidate, scope: RankingScope, words: Words) -> list[Rendered]:
    values = dict(scope.options)
    given = [(name, value) for name, value in candidate.options if value is not None]
    told = [
        (name, value)
        for name, value in given
        if (name, value) != PLAIN
        and (value not in SILENT or None in values[name] or sum(each in SILENT for each in values[name]) != 1)
    ]
    several = len(scope.options) > 1
    return [
        option(name, value, words)
        if any(value in others for other, others in scope.options if other != name) and value != "on"
        else option_in_name(name, value, several, words)
        for name, value in told or given
    ]

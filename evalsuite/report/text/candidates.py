"""How those that are ranked are called: frameworks by their names, variants by what tells them apart."""

from evalsuite.report.text import names, options
from evalsuite.report.text.words import Rendered, Words
from evalsuite.results.compare.decisions import Candidate, RankingScope

NEUTRAL = ("off", "none", "0", "float32")  # of an option's values the one that the others are compared with
SILENT = ("off", "none")  # what switches nothing on needs no word, where each variant says whether it does
PLAIN = ("variant", "plain")  # the script as it is, among the variants of a spec


def name(candidate: Candidate, scope: RankingScope, words: Words) -> Rendered:
    """As in a table or next to a mark: "PyTorch", or of a variant "link (Mbit/s): 500 + overlap"."""
    if scope.among == "frameworks":
        return words.same(names.framework(candidate.framework))
    said = _options(candidate, scope, words)
    script = [words.same(candidate.recipe)] if candidate.recipe else []
    if not said and not script:
        return words("variants.default")
    return options.together([*script, *said], words)


def in_sentence(candidate: Candidate, scope: RankingScope, words: Words) -> Rendered:
    """As in a sentence: a variant between quotation marks, since its name has words and signs of its own."""
    plain = name(candidate, scope, words)
    return plain if scope.among == "frameworks" else words("answers.variant", name_text=plain)


def option_in_name(option: str, value: str, several: bool, words: Words) -> Rendered:
    if several and value == "on":
        return options.title(option, words)
    if (key := f"option_spoken.{option}") in words:
        return words(key, value=options.value_of(option, value, words))
    bare = value not in (*NEUTRAL, "on") and not value.isdigit()
    return options.value_of(option, value, words) if bare else options.option(option, value, words)


def _options(candidate: Candidate, scope: RankingScope, words: Words) -> list[Rendered]:
    values = dict(scope.options)
    given = [(option, value) for option, value in candidate.options if value is not None]
    told = [
        (option, value)
        for option, value in given
        if (option, value) != PLAIN
        and (value not in SILENT or None in values[option] or sum(each in SILENT for each in values[option]) != 1)
    ]
    several = len(scope.options) > 1
    return [
        options.option(option, value, words)
        if any(value in others for other, others in scope.options if other != option) and value != "on"
        else option_in_name(option, value, several, words)
        for option, value in told or given
    ]

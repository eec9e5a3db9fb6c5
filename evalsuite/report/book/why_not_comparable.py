"""Why two results may not be compared, in words."""

from evalsuite.report.text import names
from evalsuite.report.text.options import value_of
from evalsuite.report.text.words import Rendered, Text, Words
from evalsuite.results.compare.fairness import CLOCKS, FACT, Obstacle

OPTION = "options."  # what the condition of a script's own option begins with


def sentence(obstacle: Obstacle, words: Words) -> Text:
    if obstacle.key == CLOCKS:
        return words("unlike.clocks")
    before, after = (_side(obstacle.key, side, words) for side in (obstacle.ours, obstacle.theirs))
    key = f"unlike.{obstacle.key}"
    if key in words:
        return words(key, before=before, after=after)
    return words("unlike.other", name_text=_named(obstacle.key, words), before=before, after=after)


def _side(key: str, value: str | None, words: Words) -> str | Rendered:
    if value in ("on", "off"):
        return words(f"words.{value}")
    if value and key.removeprefix(FACT) == "precision":
        return names.precision(value)
    if not value:
        return words("words.not_recorded")
    bare = key.removeprefix(FACT).removeprefix(OPTION)
    return value_of(bare, value, words) if bare != key else names.visible(value)


def _named(key: str, words: Words) -> Rendered:
    bare = key.removeprefix(FACT).removeprefix(OPTION)
    tables = ("values.fact.",) if key.startswith(FACT) else ("options.", "values.attribute.", "values.fact.")
    known = next((f"{table}{bare}" for table in tables if f"{table}{bare}" in words), None)
    return words(known) if known else words.same(bare)

"""Why two results may not be compared, in words."""

from collections.abc import Iterable

from evalsuite.report.text import names
from evalsuite.report.text.options import apart, value_of
from evalsuite.report.text.words import Rendered, Text, Words
from evalsuite.results.compare.fairness import CLOCKS, FACT, GROUNDS, Obstacle
from evalsuite.results.measure import facts

BY_NAME = (CLOCKS, GROUNDS, "failed_runs")
LONG = ("framework_version", "origin")  # values
OPTION = "options."  # what the condition of a script's own option begins with


def bare(obstacle: Obstacle) -> str:
    return obstacle.key.removeprefix(FACT).removeprefix(OPTION)


def is_unstated(obstacle: Obstacle) -> bool:
    return obstacle.key.startswith(FACT) and not (obstacle.ours and obstacle.theirs)


def sentence(obstacle: Obstacle, words: Words) -> Text:
    if obstacle.key in BY_NAME:
        if obstacle.key == CLOCKS:
            return words("unlike.clocks", cause=_cause(obstacle, words))
        given = {} if obstacle.key == GROUNDS else {"before": obstacle.ours, "after": obstacle.theirs}
        return words(f"unlike.{obstacle.key}", **given)
    if is_unstated(obstacle):
        return _unstated(obstacle, words)
    before, after = (_side(obstacle.key, side, words) for side in (obstacle.ours, obstacle.theirs))
    key = f"unlike.{obstacle.key}"
    if key in words:
        return words(key, before=before, after=after)
    return words("unlike.other", name_text=name(obstacle, words), before=before, after=after)


def _cause(obstacle: Obstacle, words: Words) -> Rendered:
    """The title of the finding; a report that was made before findings had one has only the place."""
    cause = (obstacle.ours or obstacle.theirs or "").partition(" in ")[0]
    code, _, fact = cause.partition(" ")
    if f"rules.{code}.title" not in words:
        return words.same(cause)
    title = words(f"rules.{code}.title")
    return words("models.option", name_text=title, value=words(f"values.fact.{fact}")) if fact else title


def _side(key: str, value: str | None, words: Words) -> str | Rendered:
    if value in ("on", "off"):
        return words(f"option_values.{value}")
    if value and key.removeprefix(FACT) == "precision":
        return names.precision(value)
    if not value:
        return words("variants.default" if key.startswith(OPTION) else "words.not_recorded")
    plain = key.removeprefix(FACT).removeprefix(OPTION)
    of_script = plain != key or f"options.{plain}" in words
    return value_of(plain, value, words) if of_script else names.visible(value)


def name(obstacle: Obstacle, words: Words) -> Rendered:
    if obstacle.key == CLOCKS:
        return _cause(obstacle, words)
    if obstacle.key in BY_NAME:
        return words(f"unlike.of_{obstacle.key}")
    plain = bare(obstacle)
    first = ("values.fact.",) if obstacle.key.startswith(FACT) else ("options.", "values.attribute.", "values.fact.")
    known = next((f"{table}{plain}" for table in first if f"{table}{plain}" in words), None)
    return words(known) if known else words.same(plain)


def brief(obstacle: Obstacle, words: Words) -> Rendered:
    """What the first of the two is: "FP16", "bsz 64", "gradient clipping: off"."""
    if obstacle.key in (*BY_NAME, *LONG):
        by_clock = obstacle.key == GROUNDS and not obstacle.ours  # it is the other that is printed
        return words("unlike.of_clock") if by_clock else name(obstacle, words)
    if not obstacle.ours and not obstacle.key.startswith(OPTION):
        return _unstated(obstacle, words)
    if obstacle.key == "batch_per_device":
        return words.same(f"bsz {int(obstacle.ours or 0):,}")
    if obstacle.key == "protocol":
        return words("models.steps", **dict(zip(("warmup", "measured"), (obstacle.ours or "").split("+"), strict=True)))
    side = _side(obstacle.key, obstacle.ours, words)
    if bare(obstacle) == "precision":
        return words.same(side) if isinstance(side, str) else side
    return words("models.option", name_text=name(obstacle, words), value=side)


def _unstated(obstacle: Obstacle, words: Words) -> Text:
    exact = bare(obstacle) == "precision"  # "bf16" is said, and not whether pure or mixed
    return words("unlike.inexact") if exact else words("unlike.unstated", name_text=name(obstacle, words))


def is_choice(obstacle: Obstacle) -> bool:
    """Does a framework choose it, so that it takes no order from a value?"""
    key = facts.rules().options.get(bare(obstacle), bare(obstacle))
    return any(rule.key == key and rule.kind == "choice" for rule in facts.rules().fact)


def briefly(obstacles: Iterable[Obstacle], words: Words) -> Rendered:
    """What alone bars a value from any rank before what it is merely set apart by."""
    ranks = {key: place for place, key in enumerate(BY_NAME)}
    first = sorted(obstacles, key=lambda each: ranks.get(each.key, len(ranks)))
    return apart((brief(each, words) for each in first), words, {"zh": "；", "en": ", "})

"""Sentences on two campaigns as a whole: disturbances on record, and whether all cases moved together."""

from evalsuite.report.text import numbers
from evalsuite.report.text.words import Text, Words
from evalsuite.results.compare.changes import Together


def disturbances(before: int, after: int, words: Words) -> Text | None:
    if not before and not after:
        return None
    return words("compare.disturbed", before=numbers.count(before), after=numbers.count(after))


def moved_together(together: Together, words: Words) -> Text:
    key = f"compare.together_{together.outcome}"
    return words(key, cases=numbers.count(together.cases), change=span(together))


def span(together: Together) -> str:
    """From the case that changed least to the one that changed most: "42–67%"."""
    ends = dict.fromkeys(f"{100 * share:.0f}" for share in (together.least, together.most))
    return "–".join(ends) + "%"

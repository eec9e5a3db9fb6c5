"""May these two be compared? One room answers, with the reason if not, and gives the ratio if so."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalsuite.errors import EvalsuiteError
from evalsuite.model import Case, Interval, Summary
from evalsuite.results.statistics import differ, ratio_of_medians
from evalsuite.results.summary import values


class ComparisonError(EvalsuiteError):
    """Two summaries that must not be compared."""


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """How many times as fast *faster_or_not* is as *other*, and whether that is more than noise."""

    numerator: Case
    denominator: Case
    ratio: Interval
    significant: bool | None  # None: too few repeats to tell


def relative(a: Summary, b: Summary) -> Ratio:
    """How many times as fast *a* is as *b*, with a bootstrap interval over the runs of both.

    Raises ComparisonError if the two cases differ in more than their framework.
    """
    difference = unfair(a, b)
    if difference:
        raise ComparisonError(f"{a.case.id} and {b.case.id} cannot be compared: {difference}")
    return Ratio(
        numerator=a.case,
        denominator=b.case,
        ratio=ratio_of_medians(values(a), values(b)),
        significant=differ(values(a), values(b)),
    )


def unfair(a: Summary, b: Summary) -> str | None:
    """What besides the framework differs between the two; None if nothing does."""
    fields = (
        "model", "nodes", "devices_per_node", "batch_per_device", "precision", "xla", "device", "protocol", "options",
    )  # fmt: skip
    for name in fields:
        ours, theirs = getattr(a.case, name), getattr(b.case, name)
        if ours != theirs:
            return f"{name} is {ours} and {theirs}"
    if a.unit != b.unit:
        return f"the units are {a.unit} and {b.unit}"
    if environment_of(a) != environment_of(b):
        return f"the environments are {environment_of(a)} and {environment_of(b)}"
    return None


def environment_of(summary: Summary) -> str | None:
    return next((run.environment for run in summary.measurements if run.environment), None)


def fastest(row: Sequence[Summary | None]) -> int | None:
    """The place of the summary that is faster than each other one by more than noise, or None."""
    valid = [(one.items_per_s.value, place) for place, one in enumerate(row) if one is not None]
    if len(valid) < 2:
        return None
    _, best = max(valid)
    others = [row[place] for _, place in valid if place != best]
    return best if all(_faster(row[best], other) for other in others) else None


def _faster(a: Summary, b: Summary) -> bool:
    """Whether *a* may be called faster than *b*: fair pair, full window, enough runs, more than noise."""
    if a.partial or b.partial or unfair(a, b):
        return False
    return differ(values(a), values(b)) is True

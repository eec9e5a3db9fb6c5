"""What a case's runs took, and what they would take with more steps."""

import statistics
from collections.abc import Callable

from evalsuite.model import Measurement, Protocol, Summary

FULL = Protocol()


def median_s(summary: Summary, longer: bool = False) -> float | None:
    """Of the runs of *summary* that count; *longer*: as if each had the steps of the full protocol."""
    seconds_of: Callable[[Measurement], float | None] = lengthened_s if longer else lambda run: run.duration_s
    taken = [each for run in summary.measurements if run.counts and (each := seconds_of(run)) is not None]
    return statistics.median(taken) if taken else None


def lengthened_s(run: Measurement) -> float | None:
    """The steps become more, the rest stays; None if it is not known."""
    case = run.run.case
    if run.duration_s is None or run.value is None:
        return None
    step_s = case.global_batch / run.value
    return max(0.0, run.duration_s - case.protocol.total_steps * step_s) + FULL.total_steps * step_s

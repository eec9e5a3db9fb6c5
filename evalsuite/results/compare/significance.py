"""Whether one case is slower than another, by its runs: the one rule of rankings, bold cells and headlines.

Runs in the same rounds of a campaign are compared within them; else all runs of one must lie below all of the other.
Both are as strict on equal cases (docs/method.md, table 3).
"""

import math
import statistics
from collections.abc import Sequence

from evalsuite.model import Summary
from evalsuite.results.measure.summary import FULL_REPEATS, values

LEAST_GAP = 0.01  # of the medians: less is no difference that anybody should choose by
LEAST_LEAD = 1 / 3  # of the largest lead in a round: with it five rounds err no more often than five runs a side
Pair = tuple[float, float]


def is_behind(one: Summary, first: Summary) -> bool:
    found = pairs(one, first)
    return apart_in_rounds(found) if found else apart(values(one), values(first))


def differ(a: Summary, b: Summary) -> bool:
    return is_behind(a, b) or is_behind(b, a)


def apart(lower: Sequence[float], higher: Sequence[float]) -> bool:
    """Whether all of *lower* is below all of *higher*, and the medians are at least 1 % apart."""
    return max(lower) < min(higher) and _gap(lower, higher) >= LEAST_GAP


def apart_in_rounds(found: Sequence[Pair]) -> bool:
    """Whether the first of each pair is the lower one, nowhere by less than a third of the largest lead, and by 1 %.

    Of equal cases one is below in all of five rounds in 3 % of cases, too often for several frameworks.
    """
    leads = [math.log(higher / lower) for lower, higher in found]
    ratio = statistics.median(lower / higher for lower, higher in found)
    return min(leads) > 0 and min(leads) >= LEAST_LEAD * max(leads) and 1 - ratio >= LEAST_GAP


def pairs(a: Summary, b: Summary) -> list[Pair]:
    """The values of *a* and *b* in each round that both have a run of; empty if these are too few to tell."""
    ours, theirs = by_round(a), by_round(b)
    shared = [each for each in ours if each in theirs]
    return [(ours[each], theirs[each]) for each in shared] if len(shared) >= FULL_REPEATS else []


def by_round(summary: Summary) -> dict[tuple[str, int], float]:
    """(campaign, round) → the value of the run that counts; without runs of an unknown round."""
    return {
        (run.campaign, run.round): run.value
        for run in summary.measurements
        if run.counts and run.value is not None and run.campaign is not None and run.round is not None
    }


def _gap(lower: Sequence[float], higher: Sequence[float]) -> float:
    return 1 - statistics.median(lower) / statistics.median(higher)

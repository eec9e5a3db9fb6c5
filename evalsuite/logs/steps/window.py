"""The window: which steps are measured (docs/numbers.md), and what each clock tells of them."""

import bisect
import itertools
import math
import operator
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from evalsuite.core.findings import ArrivalsBursty, CoarseFigures, PartialBatch, RatesScatter
from evalsuite.core.model import ARRIVALS, RATES, STAMPS, TIMES, Protocol, Step

SCATTER = RatesScatter.limit
FULL_BATCH = PartialBatch.limit
BURST_SHARE = 0.05  # of a step: lines that are closer came in one write
COARSE_STEPS = 100  # logs that print this rarely lose their first report instead of the first 20 steps
COARSE_REPORTS = 5  # "the following hundreds": DLPerf trains 600 steps, prints every 100, drops the first


@dataclass(frozen=True, kw_only=True)
class Span:
    """The reports of a window, and the report before them, whose end is where the window begins."""

    before: Step | None
    reports: tuple[Step, ...]
    complete: bool  # as the protocol asks

    def touches(self, step: Step) -> bool:
        first, last = self.reports[0], self.reports[-1]
        return first.index - first.steps < step.index <= last.index + step.steps


class Timing:
    """What one *method* tells of a *span*: `STAMPS` and `ARRIVALS` are clocks, `TIMES` and `RATES` the script's own.

    *seconds* of each report, None where not printed; a clock leaves out what follows a pause. *step_s*: per step, of
    the script's own also by its rate. *quotients*: (items, seconds) of each that tells both; of rates (steps, steps ÷
    rate). *value*: items per second, None where a part is missing, or more than half of the rates.
    """

    def __init__(self, *, span: Span, method: str) -> None:
        self.span, self.method, reports, at = span, method, span.reports, CLOCKS.get(method)
        printed: list[tuple[Step, float | None]] = [(step, step.seconds) for step in reports]
        if at:
            points = (span.before, *reports) if span.before else reports
            at_s = [at(step) for step in points]
            printed = [
                (step, None if began is None or ended is None else ended - began)
                for step, began, ended in zip(points[1:], at_s, at_s[1:], strict=False)
                if not step.after_pause
            ]
        self.seconds = [
            (
                step,
                step.items / step.items_per_s if told is None and not at and step.items and step.items_per_s else told,
            )
            for step, told in printed
        ]
        self.step_s = [
            (told if told > 0 else 0.0) / step.steps
            if told is not None
            else (1 / step.items_per_s if not at and step.items_per_s else None)
            for step, told in self.seconds
        ]
        self.quotients = (
            [(float(step.steps), step.steps / step.items_per_s) for step in reports if step.items_per_s]
            if method == RATES
            else [(step.items, seconds) for step, seconds in printed if step.items is not None and seconds is not None]
        )
        wanted = {RATES: max(1, len(reports) // 2), TIMES: len(reports)}.get(method, len(self.seconds))
        items, seconds = (math.fsum(each) for each in zip(*self.quotients, strict=True)) if self.quotients else (0, 0)
        self.value = items / seconds if len(self.quotients) >= wanted and items > 0 and seconds > 0 else None


def _arrival(step: Step) -> float | None:
    return step.relay_s if step.arrival_s is None else step.arrival_s


CLOCKS: dict[str, Callable[[Step], float | None]] = {STAMPS: operator.attrgetter("stamp_s"), ARRIVALS: _arrival}
"""method → when a report was made, in seconds; None where the clock does not tell."""


# which steps


def span(steps: Sequence[Step], protocol: Protocol, *, warmed_up: bool = False, epochs: bool = False) -> Span | None:
    """The reports to measure; None if there is none. Warm-up is counted in optimiser steps, not in reports.

    *warmed_up*: the script has thrown its warm-up away. *epochs*: each report is an epoch of unknown length. A log too
    short for the protocol gives what it has after as much warm-up as leaves half of it.
    """
    if not steps:
        return None
    if epochs:
        rated = [step for step in steps[:COARSE_REPORTS] if step.items_per_s]
        most = SCATTER * min((step.items_per_s or 0.0 for step in rated), default=0.0)
        alike = tuple(step for step in rated if (step.items_per_s or 0.0) <= most)
        if len(alike) < len(rated):  # an epoch is sooner cut short than made slow (NCF: 0.01 s)
            return Span(before=None, reports=alike, complete=False)
        behind = 1 if len(steps) > 1 else 0
        reports = tuple(steps[behind : behind + COARSE_REPORTS])
        return Span(before=steps[0] if behind else None, reports=reports, complete=False)
    skip = steps[0].index - steps[0].steps if warmed_up else protocol.warmup_steps
    coarse = statistics.median_low([step.steps for step in steps]) >= COARSE_STEPS
    first = next((i for i, step in enumerate(steps) if step.index - step.steps >= skip), None)
    for begin in () if first is None else (first or 1, first):  # after a report, if enough remain
        totals = enumerate(itertools.accumulate(step.steps for step in steps[begin:]), begin + 1)
        if end := next((end for end, total in totals if total >= protocol.measured_steps), None):
            reports = tuple(steps[begin : max(end, begin + COARSE_REPORTS) if coarse else end])
            return Span(before=steps[begin - 1] if begin else None, reports=reports, complete=True)
    half = len(steps) // 2
    begin = min(first if first is not None else half, half)
    if begin == 0 and len(steps) > 1 and not warmed_up and steps[0].index <= steps[0].steps:
        begin = 1  # start-up is in the first report
    return Span(before=steps[begin - 1] if begin else None, reports=tuple(steps[begin:]), complete=False)


def widened(chosen: Span, steps: Sequence[Step], tick_s: float | None) -> tuple[Span, bool]:
    """(As far as makes the *tick_s* of a coarse clock little of it, or to the last of *steps*; is it that far?)"""
    wanted = (tick_s or 0.0) / CoarseFigures.limit
    inside = bisect.bisect_right(steps, chosen.reports[-1].index, key=operator.attrgetter("index"))
    passed = [*itertools.accumulate(step.seconds or 0.0 for step in (*chosen.reports, *steps[inside:]))]
    count = max(len(chosen.reports), bisect.bisect_left(passed, wanted) + 1)
    reports = (*chosen.reports, *steps[inside:])[:count]
    return replace(chosen, reports=reports), passed[-1] >= wanted


def joined_writes(chosen: Span, following: Step | None) -> tuple[Span | None, int]:
    """The part of the window between two ends of writes, and how many of its lines came together with the next.

    Of a write only the end is known: reports of one are joined, and one in which the window begins or ends is left out.
    Nothing changes where that is less than 2 % of the steps and few lines came together. None: no two ends.
    """
    points = [*([chosen.before] if chosen.before else []), *chosen.reports]
    at_s = [_arrival(step) for step in (*points, *([following] if following else []))]
    gaps = [None if a is None or b is None else b - a for a, b in itertools.pairwise(at_s)]
    trained = [gap for gap, step in zip(gaps, points[1:], strict=False) if gap is not None and not step.after_pause]
    least_s = BURST_SHARE * statistics.fmean(trained) if trained else 0.0
    ends = [place for place in range(len(points)) if place == len(gaps) or (gaps[place] or 0.0) > least_s]
    together = len(points) - len(ends)
    if len(ends) < 2:
        return None, together
    left_out = [*points[1 : ends[0] + 1], *points[ends[-1] + 1 :]]
    moved = sum(step.steps for step in left_out) / sum(step.steps for step in points[1:])
    if moved <= ArrivalsBursty.moved and together <= ArrivalsBursty.limit * (len(points) - 1):
        return chosen, together
    reports = tuple(_joined(points[begin + 1 : end + 1]) for begin, end in itertools.pairwise(ends))
    return replace(chosen, before=points[ends[0]], reports=reports), together


def _joined(written: Sequence[Step]) -> Step:
    items = [step.items for step in written if step.items is not None]
    seconds = [step.seconds for step in written if step.seconds is not None]
    return written[-1]._replace(
        steps=sum(step.steps for step in written),
        items=math.fsum(items) if len(items) == len(written) else None,
        seconds=math.fsum(seconds) if len(seconds) == len(written) else None,
        after_pause=any(step.after_pause for step in written),
    )


def find_partial_batches(steps: Sequence[Step]) -> dict[int, tuple[Step, float]]:
    """Steps at the end of an epoch whose batch was what the data set had left, and their share of a full one.

    Such a step is slow beyond its size: kernels are chosen anew for its shape. Printed rate × time gives its items,
    which are compared with those of the step before.
    """
    partial = {}
    for earlier, before, step, after in zip(steps, steps[1:], steps[2:], (*steps[3:], None), strict=False):
        ends = after is None or after.after_pause
        if not ends or before.after_pause or step.after_pause or not earlier.steps == before.steps == step.steps:
            continue
        items = [
            last.items_per_s * (last.stamp_s - first.stamp_s)
            for first, last in ((earlier, before), (before, step))
            if last.items_per_s is not None and last.stamp_s is not None and first.stamp_s is not None
        ]
        if len(items) == 2 and all(items) and items[1] / items[0] < FULL_BATCH:
            partial[step.index] = (step, items[1] / items[0])
    return partial

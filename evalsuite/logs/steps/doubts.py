"""What the steps of a log alone say against its value: of runs, imports and `parse` alike (docs/method.md).

Steps of two kinds may be empty every other time, and a slow warm-up may hold work of the window.
"""

import itertools
import math
import statistics
from collections.abc import Iterator, Sequence

from evalsuite.core.findings import SlowWarmup, TwoKindsOfSteps
from evalsuite.core.model import Finding, Step, Throughput

FEWEST_WARMUP = 8  # reports: of fewer, compilation of several shapes may be most
FEWEST_STEPS = 20
INSTANT_S = 0.001
NOTED_S = 0.01  # within which an arrival is noted


def of_steps(measured: Throughput, steps: Sequence[Step]) -> Iterator[Finding]:
    window = measured.window
    if window is None:
        return
    # by the times of the later part of the warm-up, most of which must be longer than most of the window
    before = measured.counted.before_s if measured.counted else ()
    warmup = before[math.ceil(SlowWarmup.first * len(before)) :]
    times = [seconds for seconds in measured.step_time_s if seconds > 0]
    if len(before) >= FEWEST_WARMUP and times:
        slower = statistics.median(warmup) / statistics.median(times)
        beyond = (slower - 1) * (window.first_step - 1) / window.steps
        if slower > SlowWarmup.limit and beyond > SlowWarmup.share:
            longer = sum(warm > step for warm in warmup for step in times) / len(warmup) / len(times)
            if longer > SlowWarmup.most:
                yield SlowWarmup(factor=slower, beyond=beyond)
    inside = [step for step in steps if window.first_step <= step.index <= window.last_step]
    if all(step.steps == 1 for step in inside):
        yield from _two_kinds(inside)


def _two_kinds(steps: Sequence[Step]) -> Iterator[Finding]:
    """A gap in the middle of the times of the steps, as they arrived or as printed: two clusters, nothing between."""
    arrived, stamped, printed = (
        [value for step in steps if (value := getattr(step, name)) is not None]
        for name in ("arrival_s", "stamp_s", "seconds")
    )
    arrived, stamped = ([b - a for a, b in itertools.pairwise(times)] for times in (arrived, stamped))
    for seconds, noted_s in ((arrived, NOTED_S), (stamped, 0.0), (printed, 0.0)):
        known = sorted(max(each, INSTANT_S) for each in seconds)
        if len(known) < FEWEST_STEPS:
            continue
        least, most = (round(share * len(known)) for share in (TwoKindsOfSteps.fewest, TwoKindsOfSteps.most))
        place = max(range(least, most), key=lambda at: known[at] / known[at - 1])
        if known[place] <= TwoKindsOfSteps.limit * known[place - 1]:
            continue
        digit_s = min((after - before for before, after in itertools.pairwise(sorted({*seconds}))), default=0.0)
        if known[place] - known[place - 1] > (noted_s or 2 * digit_s):
            fast_s, slow_s = statistics.median(known[:place]), statistics.median(known[place:])
            yield TwoKindsOfSteps(share=place / len(known), fast_s=fast_s, slow_s=slow_s)
            return

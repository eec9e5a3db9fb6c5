"""What the steps of a log alone say against its value: of runs, imports and `parse` alike (docs/method.md).

Steps of two kinds may be empty every other time, a slow warm-up may hold work of the window, and a loss that stays the
same or rises says that nothing is learnt.
"""

import itertools
import math
import statistics
from collections.abc import Iterator, Sequence

from evalsuite.core.findings import LossConstant, LossRises, SlowWarmup, TwoKindsOfSteps
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
    yield from _unlearnt([step.loss for step in inside if step.loss is not None])


def _unlearnt(losses: Sequence[float]) -> Iterator[Finding]:
    """A loss takes many values, is finite and not zero, and does not end above where it began."""
    if len(losses) < LossConstant.fewest:
        return
    finite = [loss for loss in losses if math.isfinite(loss)]
    values = len({*finite})
    nothing = 2 * len(finite) < len(losses) or max(map(abs, finite)) < LossConstant.least
    digits = max((len(f"{loss:.15g}".split("e")[0].replace(".", "").strip("-0")) for loss in finite), default=0)
    few = values < min(LossConstant.values_limit, LossConstant.share * len(losses)) or values == 1
    if nothing or (few and digits >= LossConstant.digits):
        yield LossConstant(steps=len(losses), values=1 if nothing else values, loss=finite[-1] if finite else 0.0)
        return
    first, last = (statistics.fmean(part) for part in (finite[: len(finite) // 4], finite[-(len(finite) // 4) :]))
    scatter = statistics.stdev(after - before for before, after in itertools.pairwise(finite))
    if last - first > max(LossRises.scatters * scatter, LossRises.limit * abs(first)):
        yield LossRises(steps=len(losses), first=first, last=last)


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

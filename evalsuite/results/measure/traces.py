"""Step time, use of devices and loss of a run over time, thinned."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from statistics import fmean

from evalsuite.core.model import Line, Step, Trace, Window
from evalsuite.results.samples import utilisation
from evalsuite.runs.samples import Samples

MOST_POINTS = 120
BUSY = ("gpu", "cpu")


def of_run(steps: Sequence[Step], hosts: Iterable[Samples], window: Window | None) -> Trace:
    ends, host = _ends(steps), next(iter(hosts), None)
    used = ((name, utilisation.over_time(host, name, MOST_POINTS)) for name in BUSY if host)
    busy_of, busy = next((step for step in used if step[1]), ("", ()))
    return Trace(
        step_s=_thinned(_step_times(steps, ends)),
        busy=tuple((at, value) for at, value in busy if math.isfinite(value)),
        busy_of=busy_of,
        loss=_thinned((at, step.loss) for at, step in zip(ends, steps, strict=False) if step.loss is not None),
        window=_bounds(steps, ends, window),
    )


def _ends(steps: Sequence[Step]) -> list[float]:
    for arrived, origin in ((True, 0.0), (False, steps[0].stamp_s if steps else None)):
        known = [step.arrival_s if arrived else step.stamp_s for step in steps]
        ends = [at - origin for at in known if at is not None and origin is not None]
        if ends and len(ends) == len(known):
            return ends
    passed = [seconds for step in steps if (seconds := _seconds(step))]
    return list(accumulate(passed)) if len(passed) == len(steps) else []


def _seconds(step: Step) -> float | None:
    return step.seconds or (step.items / step.items_per_s if step.items and step.items_per_s else None)


def _step_times(steps: Sequence[Step], ends: Sequence[float]) -> Iterator[tuple[float, float]]:
    begins = [None, *ends]
    for step, begin, end in zip(steps, begins, ends, strict=False):
        passed = None if begin is None or step.after_pause else end - begin
        if (seconds := _seconds(step) or passed) and seconds > 0:
            yield end, seconds / step.steps


def _bounds(steps: Sequence[Step], ends: Sequence[float], window: Window | None) -> tuple[float, float] | None:
    if window is None:
        return None
    inside = [end for at, end in zip(steps, ends, strict=False) if window.first_step <= at.index <= window.last_step]
    before = [end for step, end in zip(steps, ends, strict=False) if step.index < window.first_step]
    return (before[-1] if before else 0.0, inside[-1]) if inside else None


def _thinned(points: Iterable[tuple[float, float]]) -> Line:
    whole = [(at, value) for at, value in points if math.isfinite(value)]
    size = -(-len(whole) // MOST_POINTS) or 1
    parts = (whole[place : place + size] for place in range(0, len(whole), size))
    return tuple((part[-1][0], fmean(value for _, value in part)) for part in parts)

"""Whether a run balances: start, warm-up, window and tail, and the work in each (docs/method.md).

Lines may be printed when steps are queued, or the window's work done before it: our clock would then time other things
than steps.
"""

import itertools
import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evalsuite.dialect import Dialect
from evalsuite.findings import (
    MostAfterWindow,
    MostInWarmup,
    MostlyOutside,
    SlowWarmup,
    StepsUnfinished,
    TwoKindsOfSteps,
)
from evalsuite.logs.text.arrivals import read_arrivals
from evalsuite.logs.text.records import matches
from evalsuite.model import Finding, Step, Throughput, Utilisation, Window
from evalsuite.results.samples import utilisation
from evalsuite.results.samples.utilisation import Devices
from evalsuite.runs.samples import Samples
from evalsuite.runs.store import Log

TAIL_BYTES = 1 << 20
FEWEST_WARMUP = 8  # reports: of fewer, compilation of several shapes may be most
FEWEST_STEPS = 20
INSTANT_S = 0.001
EXPLAINED = re.compile(rb"eval|valid|test|checkpoint|\bsav(?:e|ing)|accura|export|writ(?:e|ing|ten)|upload", re.I)


@dataclass(frozen=True, kw_only=True)
class RunTimes:
    throughput: Throughput
    window: Window
    steps: Sequence[Step]  # of the window
    samples: Mapping[str, Samples]
    planned: Devices
    log: Log | None
    dialect: Dialect | None
    ended_s: float | None  # by the agent's clock; None: evalsuite ended the run, or nobody knows

    @property
    def window_s(self) -> float:
        return (self.window.end_s or 0.0) - (self.window.begin_s or 0.0)

    @property
    def step_s(self) -> float:
        return self.window_s / self.window.steps


def findings(run: RunTimes) -> Iterator[Finding]:
    if run.window.begin_s is not None and run.window_s > 0:
        before_s = run.window.begin_s - (run.window.first_step - 1) * run.step_s
        after_s = max(0.0, run.ended_s - (_last_step_s(run) or run.ended_s)) if run.ended_s else 0.0
        if before_s + after_s > run.window_s:
            yield MostlyOutside(before_s=before_s, after_s=after_s, window_s=run.window_s)
        yield from _tail(run, after_s)
        yield from _warmup(run)
    yield from _two_kinds(run.steps)


def _tail(run: RunTimes, after_s: float) -> Iterator[Finding]:
    """What the devices still did after the last step's line, as seconds of training."""
    least_s = max(StepsUnfinished.steps * run.step_s, StepsUnfinished.share * run.window_s, StepsUnfinished.least_s)
    if run.ended_s is None or after_s <= least_s:
        return
    tail_s = after_s * _busy_beside_window(run, run.ended_s - after_s, run.ended_s)
    if tail_s > max(least_s, run.window_s):
        yield MostAfterWindow(tail_s=tail_s, window_s=run.window_s)
    elif tail_s > least_s:
        yield StepsUnfinished(tail_s=tail_s, window_s=run.window_s)


def _last_step_s(run: RunTimes) -> float | None:
    """None where lines behind it say that the run was evaluated or saved."""
    if run.log is None or run.dialect is None:
        return None
    size = run.log.path.stat().st_size
    with open(run.log.path, "rb") as file:
        file.seek(begin := max(0, size - TAIL_BYTES))
        text = file.read()
    ends = [match.end() for match, _ in matches(text, run.dialect.step)]
    arrival = read_arrivals(run.log.arrivals)
    if not ends or arrival is None or EXPLAINED.search(text, text.find(b"\n", max(ends))):
        return None
    return arrival(begin + max(ends))


def _busy_beside_window(run: RunTimes, begin_s: float, end_s: float) -> float:
    """How busy the devices were then, as a share of the measured steps; 1 where nobody knows."""
    resource = "gpu" if run.planned.accelerators else "job_cpu"
    levels = [
        next((used.mean for used in _used(run, *part) if used.resource == resource), None)
        for part in ((begin_s, end_s), (run.window.begin_s or 0.0, run.window.end_s or 0.0))
    ]
    return min(1.0, levels[0] / levels[1]) if levels[0] is not None and levels[1] else 1.0


def _used(run: RunTimes, begin_s: float, end_s: float) -> tuple[Utilisation, ...]:
    part = Window(first_step=0, last_step=0, steps=0, begin_s=begin_s, end_s=end_s)
    return utilisation.of_job(run.samples, part, planned=run.planned)[0]


def _warmup(run: RunTimes) -> Iterator[Finding]:
    warmup = run.throughput.counted.before_s if run.throughput.counted else ()
    steps = [seconds for seconds in run.throughput.step_time_s if seconds > 0]
    if len(warmup) < FEWEST_WARMUP or not steps:
        return
    usual_s, warm_s = statistics.median(steps), statistics.median(warmup)
    beyond_s = (warm_s - usual_s) * (run.window.first_step - 1)
    if warm_s > SlowWarmup.limit * usual_s and beyond_s > StepsUnfinished.share * run.window_s:
        kind = MostInWarmup if beyond_s > run.window_s else SlowWarmup
        yield kind(factor=warm_s / usual_s, beyond_s=beyond_s, window_s=run.window_s)


def _two_kinds(steps: Sequence[Step]) -> Iterator[Finding]:
    """A gap in the middle of the times of the steps, as they arrived or as printed: two clusters, nothing between."""
    arrived = [step.arrival_s for step in steps if step.arrival_s is not None]
    printed = [step.seconds for step in steps if step.seconds is not None]
    for seconds in ([after - before for before, after in itertools.pairwise(arrived)], printed):
        known = sorted(max(each, INSTANT_S) for each in seconds)
        if len(known) < FEWEST_STEPS or any(step.steps > 1 for step in steps):
            continue
        least, most = (round(share * len(known)) for share in (TwoKindsOfSteps.fewest, TwoKindsOfSteps.most))
        place = max(range(least, most), key=lambda at: known[at] / known[at - 1])
        if known[place] > TwoKindsOfSteps.limit * known[place - 1]:
            fast_s, slow_s = statistics.median(known[:place]), statistics.median(known[place:])
            yield TwoKindsOfSteps(share=place / len(known), fast_s=fast_s, slow_s=slow_s)
            return

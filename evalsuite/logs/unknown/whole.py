"""A log without a dialect is measured over all of it: its first steps may be unlike the others."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import replace

from evalsuite.core.model import RATES, TIMES, Step
from evalsuite.logs.steps.merging import merge_records
from evalsuite.logs.steps.numbers import Numbers
from evalsuite.logs.steps.throughput import throughput
from evalsuite.logs.steps.window import CLOCKS, Span, Timing

SMALL_BYTES = 1 << 23  # of larger logs samples are taken
PAUSE_STEPS = 10
HOLE = 20  # times the steps of a report, or the time of one step
STANDSTILL = 0.2  # of all the time of a bar
FEWEST_REPORTS = 10
MOST_PAUSES = 0.25  # of the steps


def over_all(numbers: Numbers) -> Numbers:
    run, measured, earlier = numbers.run, numbers.throughput, numbers.merged
    epochs = run.dialect.epochs_are_steps
    if measured is None or earlier.in_epochs != epochs or len(run.scans) > 1:
        return numbers
    records = [[*scan.records, *scan.rest.records] for scan in run.scans]
    merged = merge_records(records, run.dialect, numbers.facts, arrivals=run.arrivals, scope=earlier.scope)
    each = all(record.step_s is not None for record in run.records)
    steps = _without_pauses(merged.steps, measured.method, of_step=each, at_end=run.dialect.redrawn)
    since = len(steps) > 1 and run.dialect.averaging == "cumulative" and not epochs  # a mean of what is not in the log
    begin = steps[0].index if since else 1  # of a short log all is told
    warmup = run.given.protocol.warmup_steps if numbers.complete and not epochs else begin
    trained = sum(step.steps for step in steps if step.index - step.steps >= warmup)
    protocol = replace(run.given.protocol, warmup_steps=warmup, measured_steps=trained)
    whole, complete = throughput(steps, replace(run.dialect, warmed_up=False), protocol, tick_s=earlier.tick_s)
    same = whole and (whole.method == measured.method or {whole.method, measured.method} == {RATES, TIMES})
    earlier = replace(earlier, findings=merged.findings)
    return replace(numbers, throughput=whole, merged=earlier) if same and complete and whole else numbers


def _without_pauses(steps: Sequence[Step], method: str, *, of_step: bool, at_end: bool) -> list[Step]:
    """A report late by as much as it covers, and by `PAUSE_STEPS`, follows something else.

    *of_step*: what is printed is the time of a step, which covers nothing else. *at_end*: only reports with which the
    log ends so, as a bar does that nobody moves on, and a standstill. Between others it loads data.
    """
    told = Timing(span=Span(before=None, reports=tuple(steps), complete=True), method=method)
    hole = math.inf if at_end else HOLE * statistics.median(step.steps for step in steps)  # lines are missing there
    pairs = zip(told.seconds, told.step_s, strict=True)
    timed = {step.index: each for (step, _), each in pairs if each and step.steps <= hole}
    if method not in CLOCKS and not at_end:
        inside = {step.index: timed[step.index] for step in steps if step.index in timed and not step.after_pause}
        timed = inside if len(inside) >= FEWEST_REPORTS else timed
    usual = statistics.median(timed.values()) if timed else 0.0
    longest = {step.index: 1 + max(1, PAUSE_STEPS / (1 if of_step else step.steps)) for step in steps}
    kept = {index for index, each in timed.items() if each <= usual * longest[index]}
    last = max(kept, default=0)
    if at_end:
        most = STANDSTILL * math.fsum(timed[step.index] * step.steps for step in steps if step.index in timed)
        stands = {step.index for step in steps if timed.get(step.index, 0.0) * step.steps > most}
        stands = {index for index in stands if timed[index] > HOLE * usual}
        kept = {index for index in timed if index <= last} - stands
    trained = [step for step in steps if step.index in timed]
    if sum(step.steps for step in trained if step.index in kept) < (1 - MOST_PAUSES) * sum(s.steps for s in trained):
        return list(steps)
    if method in CLOCKS:
        return [step._replace(after_pause=step.after_pause or step.index not in kept) for step in steps]
    apart = [False, *(before.index not in kept for before in steps)]
    both = zip(apart, steps, strict=False)
    return [step._replace(after_pause=step.after_pause or gap) for gap, step in both if step.index in kept]

"""The window: which steps are measured, and what they make as a number (docs/report.md#definitions).

The value is items ÷ time, by the first clock that tells: stamps with fractions of a second, the arrival of the lines,
the script's own times; else the harmonic mean of its rates. What is not the value is a cross-check.
"""

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from evalsuite.findings import (
    ArrivalsBursty,
    BatchDoubted,
    ClockDisagrees,
    Drift,
    PartialBatch,
    RatesScatter,
    RestDiffers,
)
from evalsuite.logs.steps import quality_checks
from evalsuite.model import ARRIVALS, RATES, STAMPS, TIMES, Counted, Finding, Protocol, Step, Throughput, Window

DISAGREE = ClockDisagrees.limit  # docs/report.md#definitions
DRIFT = Drift.limit
ROUNDED = 1e-9  # of a change: more than what adding up some hundred times loses
SCATTER = RatesScatter.limit
UNLIKE = RestDiffers.limit
FULL_BATCH = PartialBatch.limit
COARSE_STEPS = 100  # logs that print this rarely lose their first report instead of the first 20 steps
COARSE_REPORTS = 5  # "the following hundreds": DLPerf trains 600 steps, prints every 100, drops the first
BURST_SHARE = 0.05  # of a step: lines that are closer came in one write
BURSTY = ArrivalsBursty.limit
WHOLE_S = 5.0  # between reports: then whole seconds tell a factor
REPORTS_AROUND = 20  # drawn on either side of the window


@dataclass(frozen=True, kw_only=True)
class Span:
    """The reports of a window, and the report before them, whose end is where the window begins."""

    before: Step | None
    reports: tuple[Step, ...]
    complete: bool  # as the protocol asks

    @property
    def steps(self) -> int:
        return sum(step.steps for step in self.reports)

    def touches(self, step: Step) -> bool:
        """Within the window, or next after it."""
        first, last = self.reports[0], self.reports[-1]
        return first.index - first.steps < step.index <= last.index + step.steps


@dataclass(frozen=True, kw_only=True)
class Timing:
    """What one *method* tells of a *span*: `STAMPS` and `ARRIVALS` are clocks, `TIMES` and `RATES` the script's own."""

    span: Span
    method: str

    @cached_property
    def seconds(self) -> list[tuple[Step, float | None]]:
        """Of each report, None where not told. A clock leaves out what follows a pause."""
        at = CLOCKS.get(self.method)
        if at is None:
            return [(step, _own_seconds(step)) for step in self.span.reports]
        steps = ((self.span.before,) if self.span.before else ()) + self.span.reports
        at_s = [at(step) for step in steps]
        return [
            (step, None if began is None or ended is None else ended - began)
            for step, began, ended in zip(steps[1:], at_s, at_s[1:], strict=False)
            if not step.after_pause
        ]

    @cached_property
    def step_s(self) -> list[float | None]:
        """Per step of each report; of the script's own also by its rate."""
        found: list[float | None] = []
        for step, seconds in self.seconds:
            if seconds is not None:
                found.append((seconds if seconds > 0.0 else 0.0) / step.steps)
            elif self.method not in CLOCKS and step.items_per_s is not None:
                found.append(1 / step.items_per_s)
            else:
                found.append(None)
        return found

    @property
    def told_step_s(self) -> list[float]:
        """Without what is not told or zero."""
        return [seconds for seconds in self.step_s if seconds]

    @property
    def value(self) -> float | None:
        """Items per second. None where a part is missing."""
        if self.method == RATES:
            return mean_rate(self.span.reports)
        if self.method == TIMES:
            pairs = [(step.items, step.seconds) for step in self.span.reports]
            known = [(items, seconds) for items, seconds in pairs if items is not None and seconds is not None]
            total_s = math.fsum(seconds for _, seconds in known)
            return math.fsum(items for items, _ in known) / total_s if len(known) == len(pairs) else None
        items = seconds = 0.0
        for step, gap in self.seconds:
            if gap is None or step.items is None:
                return None
            items += step.items
            seconds += gap
        return items / seconds if seconds > 0 and items > 0 else None

    @property
    def quotients(self) -> list[tuple[float, float]]:
        """(items, seconds) of each report; of rates (steps, steps ÷ rate)."""
        if self.method == RATES:
            return [
                (float(step.steps), step.steps / step.items_per_s) for step in self.span.reports if step.items_per_s
            ]
        return [(step.items, gap) for step, gap in self.seconds if step.items is not None and gap is not None]


def _arrival(step: Step) -> float | None:
    """A relay's stamp is such a time, too."""
    return step.relay_s if step.arrival_s is None else step.arrival_s


CLOCKS = {STAMPS: lambda step: step.stamp_s, ARRIVALS: _arrival}
"""method → when a report was made, in seconds; None where the clock does not tell."""


def span(steps: Sequence[Step], protocol: Protocol, *, warmed_up: bool = False, epochs: bool = False) -> Span | None:
    """The reports to measure; None if there is none. Warm-up is counted in optimiser steps, not in reports.

    *warmed_up*: the script has thrown its warm-up away. *epochs*: each report is an epoch of unknown length. A log too
    short for the protocol gives what it has after as much warm-up as leaves half of it.
    """
    if not steps:
        return None
    if epochs:
        if _extremes(steps[:COARSE_REPORTS]):
            return Span(before=None, reports=_believable(steps[:COARSE_REPORTS]), complete=False)
        behind = 1 if len(steps) > 1 else 0
        reports = tuple(steps[behind : behind + COARSE_REPORTS])
        return Span(before=steps[0] if behind else None, reports=reports, complete=False)
    origin = steps[0].index - steps[0].steps if warmed_up else 0
    skip = origin if warmed_up else protocol.warmup_steps
    coarse = statistics.median_low([step.steps for step in steps]) >= COARSE_STEPS
    first = next((i for i, step in enumerate(steps) if step.index - step.steps >= skip), None)
    for begin in () if first is None else (first or 1, first):  # after a report, if enough remain
        chosen = _take(steps[begin:], protocol.measured_steps, coarse)
        if sum(step.steps for step in chosen) >= protocol.measured_steps:
            return Span(before=steps[begin - 1] if begin else None, reports=chosen, complete=True)
    return _short(steps, first, warmed_up)


def throughput(
    steps: Sequence[Step],
    *,
    unit: str,
    protocol: Protocol,
    warmed_up: bool = False,
    epochs: bool = False,
    trust_stamps: bool = True,
    tick_s: float | None = None,
) -> tuple[Throughput | None, bool]:
    """(The number, was the window as long as asked). None where no clock and no rate tells it.

    *tick_s*: what the script's own clock counts, where that is coarse.
    """
    findings: list[Finding] = []
    fine = trust_stamps and _are_fine(steps)
    steps, partial = _full_batches(steps, fine=fine)
    chosen = span(steps, protocol, warmed_up=warmed_up, epochs=epochs)
    if chosen is None:
        return None, False
    findings += [PartialBatch(step=step.index, share=share) for step, share in partial.values() if chosen.touches(step)]
    stamped, arrived = Timing(span=chosen, method=STAMPS), Timing(span=chosen, method=ARRIVALS)
    by_stamp = _value_by_stamp(stamped, findings) if fine else None
    by_arrival = _value_by_arrival(arrived, findings)
    clocked = by_stamp is not None or by_arrival is not None
    same = replace(chosen, reports=chosen.reports[1:]) if clocked and chosen.before is None else chosen
    printed, printed_as = _printed(same)  # of the first report a clock knows only the end
    rate = mean_rate(same.reports)
    odd = rate is not None and printed is not None and abs(rate / printed - 1) > DISAGREE
    candidates = ((by_stamp, STAMPS), (by_arrival, ARRIVALS), (printed, printed_as), (rate if odd else None, RATES))
    value, method = next(((value, method) for value, method in candidates if value is not None), (None, ""))
    if value is None:
        return None, chosen.complete
    own = method not in CLOCKS
    rough = quality_checks.rounded([step.seconds for step in chosen.reports if step.seconds], tick_s, alone=own)
    if own and rough and rough.share > quality_checks.HOPELESS:
        return None, chosen.complete
    timing = Timing(span=chosen, method=method) if own else stamped if method == STAMPS else arrived
    findings += [
        _disagreement(value, method, other, name)
        for other, name in candidates
        if other is not None and name != method and abs(other / value - 1) > DISAGREE
    ]
    if own and trust_stamps and not fine:
        findings += _denied_by_seconds(stamped, value, method)
    if not epochs:
        findings += _unsteady(timing, tick_s, rough)
        last = chosen.reports[-1]
        after = Span(before=last, reports=tuple(s for s in steps if s.index > last.index), complete=False)
        findings += _behind(after, chosen, value, method) if chosen.complete else ()
    findings += _drift(timing) or _scatter(steps[:COARSE_REPORTS] if epochs else chosen.reports)
    found = _throughput(timing, value, unit, printed, by_arrival, findings)
    return replace(found, counted=_counted(steps, timing)), chosen.complete


def warmup_alone(steps: Sequence[Step], protocol: Protocol, *, warmed_up: bool = False, since_start: bool) -> bool:
    """Is all that is reported the first steps of a run, in one report? It is start-up, and no window.

    *since_start*: its time counts since the run began, however many steps it covers.
    """
    if len(steps) != 1 or warmed_up or not (since_start or _from_start(steps[0])):
        return False
    return steps[0].index <= max(1, protocol.warmup_steps)


def _full_batches(steps: Sequence[Step], *, fine: bool) -> tuple[Sequence[Step], Mapping[int, tuple[Step, float]]]:
    """(steps with a full batch, the others with their share of one), as far as *fine* stamps tell."""
    partial = _partial_batches(steps) if fine else {}
    return [step for step in steps if step.index not in partial] if partial else steps, partial


def _partial_batches(steps: Sequence[Step]) -> dict[int, tuple[Step, float]]:
    """Steps at the end of an epoch whose batch was what the data set had left, and their share of a full one.

    Such a step is slow beyond its size: kernels are chosen anew for its shape. Printed rate × time gives its items,
    which are compared with those of the step before.
    """
    found = {}
    for number, step in enumerate(steps):
        last = number + 1 == len(steps) or steps[number + 1].after_pause
        share = _share(*steps[number - 2 : number + 1]) if last and number >= 2 else None
        if share is not None and share < FULL_BATCH:
            found[step.index] = (step, share)
    return found


def _share(earlier: Step, before: Step, step: Step) -> float | None:
    """Of the items of the step *before*, by printed rates and stamps."""
    if not earlier.steps == before.steps == step.steps or before.after_pause or step.after_pause:
        return None
    usual, own = _items_by_rate(earlier, before), _items_by_rate(before, step)
    return None if usual is None or own is None else own / usual


def _items_by_rate(before: Step, step: Step) -> float | None:
    if step.items_per_s is None or step.stamp_s is None or before.stamp_s is None:
        return None
    return step.items_per_s * (step.stamp_s - before.stamp_s) or None


def _from_start(step: Step) -> bool:
    """Then start-up is inside it."""
    return step.index - step.steps <= 0


def _take(steps: Sequence[Step], wanted: int, coarse: bool) -> tuple[Step, ...]:
    if coarse:
        return tuple(steps[: max(COARSE_REPORTS, math.ceil(wanted / max(1, steps[0].steps)))]) if steps else ()
    taken, total = [], 0
    for step in steps:
        if total >= wanted:
            break
        taken.append(step)
        total += step.steps
    return tuple(taken)


def _short(steps: Sequence[Step], first: int | None, warmed_up: bool) -> Span:
    """All but the first steps, never less than half of them."""
    half = len(steps) // 2
    begin = min(first if first is not None else half, half)
    if begin == 0 and len(steps) > 1 and not warmed_up and _from_start(steps[0]):
        begin = 1  # start-up is in the first report
    return Span(before=steps[begin - 1] if begin else None, reports=tuple(steps[begin:]), complete=False)


# the clocks


def _value_by_arrival(timing: Timing, findings: list[Finding]) -> float | None:
    """Not by whole seconds, as of a relay, nor where lines came in bursts."""
    reports = timing.span.reports
    fine = any((at := _arrival(step)) is not None and (step.arrival_s is not None or at % 1) for step in reports)
    value = timing.value if fine else None
    if value is None:
        return None
    burst = _burst(timing)
    findings += burst
    return None if burst or len(timing.seconds) < 2 else value  # one gap alone may be anything


def _value_by_stamp(timing: Timing, findings: list[Finding]) -> float | None:
    """Not where the stamps tell when somebody passed the lines on."""
    burst = _burst(timing) if all(_own_seconds(step) for step in timing.span.reports) else []
    findings += burst
    return None if burst else timing.value


def _burst(timing: Timing) -> list[Finding]:
    """Do many lines follow the one before far sooner than a step takes?

    The agent's arrivals are measured by their own mean, other stamps also by what the script prints of its steps.
    """
    found = [(step, gap) for step, gap in timing.seconds if gap is not None]
    if not found:
        return []
    mean = statistics.fmean([gap for _, gap in found])
    usual = [max(mean, _own_seconds(step) or 0.0) if step.arrival_s is None else mean for step, _ in found]
    together = [gap < BURST_SHARE * usual_s for (_, gap), usual_s in zip(found, usual, strict=True)].count(True)
    return [ArrivalsBursty(together=together, lines=len(found))] if together > BURSTY * len(found) else []


def _own_seconds(step: Step) -> float | None:
    """As a time, or from a rate of items that are known."""
    if step.seconds is None and step.items is not None and step.items_per_s is not None:
        return step.items / step.items_per_s
    return step.seconds


def _are_fine(steps: Sequence[Step]) -> bool:
    """Whole seconds are too coarse for a window of some seconds."""
    return any(step.stamp_s is not None and step.stamp_s % 1 for step in steps)


def _printed(chosen: Span) -> tuple[float | None, str]:
    """From step times or else rates."""
    for method in (TIMES, RATES):
        value = Timing(span=chosen, method=method).value
        if value is not None:
            return value, method
    return None, ""


def mean_rate(reports: Sequence[Step]) -> float | None:
    """The harmonic mean; None where more than half of *reports* have no rate."""
    rated = [(step.steps, step.items_per_s) for step in reports if step.items_per_s is not None]
    if len(rated) < max(1, len(reports) // 2):
        return None
    return sum(steps for steps, _ in rated) / math.fsum(steps / rate for steps, rate in rated)


# what a reader must know


def _disagreement(value: float, method: str, other: float, other_method: str) -> Finding:
    return ClockDisagrees(
        method=method,
        items_per_s=value,
        other_method=other_method,
        other_items_per_s=other,
        difference=other / value - 1,
    )


def _denied_by_seconds(stamped: Timing, value: float, method: str) -> Iterator[Finding]:
    """A flag where stamps in whole seconds contradict a script's own figure.

    fairseq on TPUs prints a hundredth of its rate: it counts one update for each line and not all of them.
    """
    told = [(items, gap) for items, gap in stamped.quotients if gap >= WHOLE_S]
    reports = len(stamped.span.reports) - (stamped.span.before is None)
    if len(told) < max(quality_checks.FEWEST_REPORTS, reports // 2):
        return
    by_stamps = statistics.median(items / gap for items, gap in told)
    nearest = (statistics.median(items / (gap + off) for items, gap in told) for off in (-1.0, 1.0))
    if all(max(near / value, value / near) >= BatchDoubted.limit for near in nearest):
        yield _disagreement(value, method, by_stamps, STAMPS)


def _unsteady(timing: Timing, tick_s: float | None, rough: Finding | None) -> Iterator[Finding]:
    reports = timing.span.reports
    per_step = zip(timing.seconds, timing.step_s, strict=True)
    parts = [(step.steps, each * step.steps) for (step, _), each in per_step if each]
    inner = [part for step in reports for part in step.parts]
    yield from [*quality_checks.stalled(parts), *quality_checks.stalled_within(inner, tick_s or 0.0)][:1]
    if rough:
        yield rough
    elif timing.method == TIMES:
        yield from quality_checks.coarse([step.seconds / step.steps for step in reports if step.seconds])
    elif timing.method == RATES:
        yield from quality_checks.coarse([step.items_per_s for step in reports if step.items_per_s])


def unlike_rest(
    known: Throughput, within: Sequence[Step], sample: Sequence[Step], *, trust_stamps: bool = True
) -> Iterator[Finding]:
    """Did a *sample* that begins before the window ends go at another speed behind it than *within*?"""
    full, _ = _full_batches(sample, fine=trust_stamps and _are_fine(sample))
    ends = known.line_last or 0
    begin = next((place for place, step in enumerate(full) if (step.line or 0) > ends), len(full))
    if begin and known.items_per_s is not None:
        behind = Span(before=full[begin - 1], reports=tuple(full[begin:]), complete=False)
        chosen = Span(before=None, reports=tuple(within), complete=True)
        yield from _behind(behind, chosen, known.items_per_s, known.method)


def _behind(behind: Span, window: Span, value: float, method: str) -> Iterator[Finding]:
    """A flag where as many steps *behind* the *window* do not give the same *value*.

    Of a sample the first report of each piece reaches back over what was not read: it is left out.
    """
    usual = max(step.steps for step in window.reports)
    read = replace(behind, reports=tuple(s for s in behind.reports if not (s.after_pause and s.steps > usual)))
    if read.steps < window.steps:
        return
    timing = Timing(span=behind if method in CLOCKS else read, method=method)  # a clock leaves out pauses by itself
    rest = _printed(read)[0] if method == TIMES else timing.value
    if rest is None or abs(rest / value - 1) <= UNLIKE:
        return
    if abs(rest / value - 1) > UNLIKE + quality_checks.error(timing.told_step_s):
        yield RestDiffers(difference=rest / value - 1, steps=read.steps)


def _drift(timing: Timing) -> list[Finding]:
    """D10: the first third of the window against the last."""
    rates = [1 / seconds for seconds in timing.told_step_s]
    third = len(rates) // 3
    if third < 3 or _surely_steady(rates[:third], rates[-third:]):
        return []
    first, last = statistics.harmonic_mean(rates[:third]), statistics.harmonic_mean(rates[-third:])
    return [Drift(change=last / first - 1)] if abs(last / first - 1) > DRIFT else []


def _surely_steady(first: Sequence[float], last: Sequence[float]) -> bool:
    """Far below the limit? Exact harmonic means cost ten times as much."""
    ended = math.fsum([1 / rate for rate in last])
    return ended > 0 and abs(math.fsum([1 / rate for rate in first]) / ended - 1) < DRIFT - ROUNDED


def _scatter(reports: Sequence[Step]) -> list[Finding]:
    extremes = _extremes(reports)
    return [RatesScatter(lowest_items_per_s=extremes[0], highest_items_per_s=extremes[1])] if extremes else []


def _extremes(reports: Sequence[Step]) -> tuple[float, float] | None:
    """(lowest, highest) printed rate, where they are further apart than is possible."""
    known = [step.items_per_s for step in reports if step.items_per_s]
    return (min(known), max(known)) if known and max(known) > SCATTER * min(known) else None


def _believable(reports: Sequence[Step]) -> tuple[Step, ...]:
    """The slowest and those like it: an epoch is sooner cut short than made slow (NCF: 0.01 s)."""
    slowest = min(step.items_per_s for step in reports if step.items_per_s)
    return tuple(step for step in reports if step.items_per_s and step.items_per_s <= SCATTER * slowest)


# the number


def _counted(steps: Sequence[Step], timing: Timing) -> Counted | None:
    pairs = timing.quotients
    if not pairs:
        return None
    numbers = {step.index: place for place, step in enumerate(steps)}
    first, last = numbers[timing.span.reports[0].index], numbers[timing.span.reports[-1].index]
    return Counted(
        items=tuple(items for items, _ in pairs),
        seconds=tuple(seconds for _, seconds in pairs),
        before_s=_around(steps, max(0, first - REPORTS_AROUND), first, timing.method),
        after_s=_around(steps, last + 1, last + 1 + REPORTS_AROUND, timing.method),
    )


def _around(steps: Sequence[Step], begin: int, end: int, method: str) -> tuple[float, ...]:
    """Seconds per step of the reports from *begin* to *end*."""
    beside = Span(before=steps[begin - 1] if begin else None, reports=tuple(steps[begin:end]), complete=False)
    return tuple(Timing(span=beside, method=method).told_step_s)


def _throughput(
    timing: Timing, value: float, unit: str, printed: float | None, clock: float | None, findings: Sequence[Finding]
) -> Throughput:
    before, reports = timing.span.before, timing.span.reports
    first, last = reports[0], reports[-1]
    begin_s = before.arrival_s if before else None
    if before is None and first.arrival_s is not None and first.seconds is not None:
        begin_s = first.arrival_s - first.seconds
    rates = [step.items_per_s for step in reports if step.items_per_s is not None]
    timed = any(step.items is not None or step.seconds is not None for step in reports)
    return Throughput(
        items_per_s=value,
        unit=unit,
        method=timing.method,
        window=Window(
            first_step=first.index - first.steps + 1,
            last_step=last.index,
            steps=timing.span.steps,
            begin_s=begin_s,
            end_s=last.arrival_s,
        ),
        printed_items_per_s=printed,
        clock_items_per_s=clock,
        arithmetic_items_per_s=statistics.fmean(rates) if rates else None,
        step_time_s=tuple(seconds for seconds in timing.step_s if seconds is not None) if timed else (),
        line_first=first.line,
        line_last=last.line,
        findings=tuple(findings),
    )

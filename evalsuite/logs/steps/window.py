"""The window: which steps are measured, and what they make as a number (docs/report.md#definitions).

The first steps are discarded, the next ones are measured, and the value is items ÷ time. Which clock tells
the time, in this order: stamps printed in the log with fractions of a second; the arrival of the lines; the
script's own step times. Where only rates are printed, their harmonic mean is the value. What is not the value
is a cross-check, and a difference beyond 2 % is a finding.
"""

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
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

DISAGREE = ClockDisagrees.limit  # above this two clocks do not tell the same story (docs/report.md#definitions)
DRIFT = Drift.limit
ROUNDED = 1e-9  # of a change; more than what is lost when a few hundred times are added up
SCATTER = RatesScatter.limit
UNLIKE = RestDiffers.limit  # what lies behind the window, against its value
FULL_BATCH = PartialBatch.limit  # a step with a smaller share of the usual items trained a cut batch
COARSE_STEPS = 100  # logs that print this rarely lose their first report instead of the first 20 steps
COARSE_REPORTS = 5  # "the following hundreds": DLPerf trains 600 steps, prints every 100, drops the first
BURST_SHARE = 0.05  # a line that follows the one before within this share of a step came in the same write
BURSTY = ArrivalsBursty.limit
WHOLE_S = 5.0  # reports at least so far apart are told by stamps in whole seconds, to a factor
REPORTS_AROUND = 20  # before the window and behind it, to be drawn beside it

Clock = Callable[[Step], float | None]
"""When a report was made, by one of the clocks; None where it does not tell."""
Gap = tuple[Step, float | None]
"""A report, and the seconds since the one before; None where the clock did not tell."""


@dataclass(frozen=True, kw_only=True)
class Span:
    """The reports of a window, and the report before them, whose end is where the window begins."""

    before: Step | None
    reports: tuple[Step, ...]
    complete: bool  # as long as the protocol asks, after as much warm-up

    @property
    def steps(self) -> int:
        return sum(step.steps for step in self.reports)

    def touches(self, step: Step) -> bool:
        """Does *step* lie within the window, or follow it at once?"""
        first, last = self.reports[0], self.reports[-1]
        return first.index - first.steps < step.index <= last.index + step.steps

    @cached_property
    def told(self) -> tuple[Step, ...]:
        """The reports, and the one before them: of each but the first it is known when it began."""
        return ((self.before,) if self.before else ()) + self.reports

    @cached_property
    def gaps(self) -> "dict[Clock, list[Gap]]":
        """What has been asked of each clock: several figures are made of the same times."""
        return {}

    @cached_property
    def durations(self) -> "dict[str, list[Gap]]":
        """The same per step, of each method that has been asked for."""
        return {}


def span(steps: Sequence[Step], protocol: Protocol, *, warmed_up: bool = False, epochs: bool = False) -> Span | None:
    """The reports to measure; None if there is none. Warm-up is counted in optimiser steps, not in reports.

    *warmed_up*: the script has thrown its warm-up away before the first line. *epochs*: each report is an epoch
    of unknown length. A log too short for the protocol gives what it has after as much warm-up as leaves half
    of it.
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
    for begin in () if first is None else (first or 1, first):  # after a report to begin at, if that leaves enough
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
    """(*steps* turned into a number, was the window as long as asked). None where no clock and no rate tells it.

    *tick_s*: what the script's own clock counts, where that is coarse.
    """
    findings: list[Finding] = []
    fine = trust_stamps and _fine(steps)
    steps, partial = _full_batches(steps, fine=fine)
    chosen = span(steps, protocol, warmed_up=warmed_up, epochs=epochs)
    if chosen is None:
        return None, False
    findings += [_partial_batch(step, share) for step, share in partial.values() if chosen.touches(step)]
    by_stamp = _by_stamp(chosen, findings) if fine else None
    by_arrival = _by_arrival(chosen, findings)
    clocked = by_stamp is not None or by_arrival is not None
    same = replace(chosen, reports=chosen.reports[1:]) if clocked and chosen.before is None else chosen
    printed, printed_as = _printed(same)  # over what the clock sees: of the first report it knows only the end
    candidates = (
        (by_stamp, STAMPS),
        (by_arrival, ARRIVALS),
        (printed, printed_as),
        (_odd_rate(same, printed), RATES),
    )
    value, method = next(((value, method) for value, method in candidates if value is not None), (None, ""))
    if value is None:
        return None, chosen.complete
    own = method in (TIMES, RATES)
    rough = quality_checks.rounded([step.seconds for step in chosen.reports if step.seconds], tick_s, alone=own)
    if own and rough and rough.share > quality_checks.HOPELESS:
        return None, chosen.complete
    findings += _disagreements(value, method, candidates)
    if own and trust_stamps and not fine:
        findings += _denied_by_seconds(chosen, value, method)
    if not epochs:
        parts = [(step.steps, each * step.steps) for step, each in _durations(chosen, method) if each]
        inner = [part for step in chosen.reports for part in step.parts]
        findings += [*quality_checks.stalled(parts), *quality_checks.stalled_within(inner, tick_s or 0.0)][:1]
        findings += [rough] if rough else quality_checks.coarse(_figures(chosen, method))
        findings += _rest(steps, chosen, value, method)
    findings += _drift(chosen, method) or _scatter(steps[:COARSE_REPORTS] if epochs else chosen.reports)
    found = _throughput(chosen, value, method, unit, printed, by_arrival, findings)
    return replace(found, counted=_counted(steps, chosen, method)), chosen.complete


def warmup_alone(steps: Sequence[Step], protocol: Protocol, *, warmed_up: bool = False, since_start: bool) -> bool:
    """Is all that is reported the first steps of a run, in one report? It is start-up, and no window.

    *since_start*: its time is counted since the run began, however many steps it says that it covers.
    """
    if len(steps) != 1 or warmed_up or not (since_start or _from_start(steps[0])):
        return False
    return steps[0].index <= max(1, protocol.warmup_steps)


def _full_batches(steps: Sequence[Step], *, fine: bool) -> tuple[Sequence[Step], Mapping[int, tuple[Step, float]]]:
    """(the steps that trained a full batch, the others with their share of one), as far as *fine* stamps tell."""
    partial = _partial_batches(steps) if fine else {}
    return [step for step in steps if step.index not in partial] if partial else steps, partial


def _partial_batches(steps: Sequence[Step]) -> dict[int, tuple[Step, float]]:
    """The steps at the end of an epoch whose batch was what the data set had left, and their share of a full one.

    Such a step is slow beyond its size, because kernels are chosen anew for its shape. A script that prints
    every step's rate over its own batch gives it away: rate × time is the number of items. It is compared with
    that of the step before, so that it does not matter whose rate is printed.
    """
    found = {}
    for number, step in enumerate(steps):
        last = number + 1 == len(steps) or steps[number + 1].after_pause
        share = _share(*steps[number - 2 : number + 1]) if last and number >= 2 else None
        if share is not None and share < FULL_BATCH:
            found[step.index] = (step, share)
    return found


def _share(earlier: Step, before: Step, step: Step) -> float | None:
    """The items of *step* as a share of those of the step *before*, by their printed rates and stamps."""
    if not earlier.steps == before.steps == step.steps or before.after_pause or step.after_pause:
        return None
    usual, own = _items_by_rate(earlier, before), _items_by_rate(before, step)
    return None if usual is None or own is None else own / usual


def _items_by_rate(before: Step, step: Step) -> float | None:
    if step.items_per_s is None or step.stamp_s is None or before.stamp_s is None:
        return None
    return step.items_per_s * (step.stamp_s - before.stamp_s) or None


def _partial_batch(step: Step, share: float) -> Finding:
    return PartialBatch(step=step.index, share=share)


def _from_start(step: Step) -> bool:
    """Does this report reach back to the first step of the run? Then start-up is inside it."""
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
    """What a log too short for the protocol can give: all but its first steps, never less than half of it."""
    half = len(steps) // 2
    begin = min(first if first is not None else half, half)
    if begin == 0 and len(steps) > 1 and not warmed_up and _from_start(steps[0]):
        begin = 1  # start-up and compilation are inside the first report
    return Span(before=steps[begin - 1] if begin else None, reports=tuple(steps[begin:]), complete=False)


# the clocks


def _by_clock(chosen: Span, at: Clock) -> float | None:
    """Items ÷ time between reports; pauses of the training (evaluation, end of an epoch) are left out of both."""
    items = seconds = 0.0
    for step, gap in _gaps(chosen, at):
        if gap is None or step.items is None:
            return None
        items += step.items
        seconds += gap
    return items / seconds if seconds > 0 and items > 0 else None


def _gaps(chosen: Span, at: Clock) -> Sequence[Gap]:
    """(report, seconds since the report before) by the clock *at*; None where it did not tell."""
    found = chosen.gaps.get(at)
    if found is None:
        at_s = [at(step) for step in chosen.told]
        times = zip(chosen.told[1:], at_s, at_s[1:], strict=False)
        found = chosen.gaps[at] = [
            (step, None if began is None or ended is None else ended - began)
            for step, began, ended in times
            if not step.after_pause
        ]
    return found


def _by_arrival(chosen: Span, findings: list[Finding]) -> float | None:
    value = _by_clock(chosen, _arrival)
    if value is None or not _told_finely(chosen):
        return None
    gaps = [gap for _, gap in _gaps(chosen, _arrival) if gap is not None]
    burst = _burst(chosen, _arrival)
    findings += burst
    return None if burst or len(gaps) < 2 else value  # one gap alone may be anything


def _by_stamp(chosen: Span, findings: list[Finding]) -> float | None:
    """By the stamps in the log; not where they tell when somebody passed the lines on, many in one write."""
    burst = _burst(chosen, _stamp) if all(_own_seconds(step) for step in chosen.reports) else []
    findings += burst
    return None if burst else _by_clock(chosen, _stamp)


def _burst(chosen: Span, at: Clock) -> list[Finding]:
    """Do many lines follow the one before at once, by the clock *at*?

    At once is far below a step's time, as the script prints it. What evalsuite stamped itself is measured by its own
    mean: its clock stands against the script's.
    """
    found = [(step, gap) for step, gap in _gaps(chosen, at) if gap is not None]
    if not found:
        return []
    mean = statistics.fmean([gap for _, gap in found])
    foreign = [max(mean, _own_seconds(step) or 0.0) if step.arrival_s is None else mean for step, _ in found]
    together = [gap < BURST_SHARE * usual for (_, gap), usual in zip(found, foreign, strict=True)].count(True)
    return [ArrivalsBursty(together=together, lines=len(found))] if together > BURSTY * len(found) else []


def _own_seconds(step: Step) -> float | None:
    """What the script itself says that a report took: as a time, or as a rate of items that are known."""
    if step.seconds is None and step.items is not None and step.items_per_s is not None:
        return step.items / step.items_per_s
    return step.seconds


def _told_finely(chosen: Span) -> bool:
    """Have the arrivals fractions of a second? Ours always have; those of a relay may be whole seconds."""
    return any((at := _arrival(step)) is not None and (step.arrival_s is not None or at % 1) for step in chosen.reports)


def _stamp(step: Step) -> float | None:
    return step.stamp_s


def _arrival(step: Step) -> float | None:
    """When the line came; what a relay wrote before it is such a time, too, and no stamp of the script."""
    return step.relay_s if step.arrival_s is None else step.arrival_s


def _fine(steps: Sequence[Step]) -> bool:
    """Do the stamps have fractions of a second? Whole seconds are too coarse for a window of some seconds."""
    return any(step.stamp_s is not None and step.stamp_s % 1 for step in steps)


def _printed(chosen: Span) -> tuple[float | None, str]:
    """The script's own figure over the window, from its step times or else its rates."""
    steps = chosen.reports
    timed = [(step.items, step.seconds) for step in steps if step.items is not None and step.seconds is not None]
    if len(timed) == len(steps):
        return math.fsum(items for items, _ in timed) / math.fsum(seconds for _, seconds in timed), TIMES
    rated = mean_rate(steps)
    return rated, "" if rated is None else RATES


def mean_rate(reports: Sequence[Step]) -> float | None:
    """The harmonic mean of the rates that *reports* carry; None where more than half of them have none."""
    rated = [(step.steps, step.items_per_s) for step in reports if step.items_per_s is not None]
    if len(rated) < max(1, len(reports) // 2):
        return None
    return sum(steps for steps, _ in rated) / math.fsum(steps / rate for steps, rate in rated)


def _odd_rate(chosen: Span, printed: float | None) -> float | None:
    """The mean of the printed rates, where the step times beside them tell another story."""
    rated = mean_rate(chosen.reports)
    return None if rated is None or printed is None or abs(rated / printed - 1) <= DISAGREE else rated


# what a reader must know


def _disagreements(value: float, method: str, candidates: Sequence[tuple[float | None, str]]) -> list[Finding]:
    found: list[Finding] = []
    for other, name in candidates:
        if other is None or name == method or abs(other / value - 1) <= DISAGREE:
            continue
        found.append(
            ClockDisagrees(
                method=method,
                items_per_s=value,
                other_method=name,
                other_items_per_s=other,
                difference=other / value - 1,
            )
        )
    return found


def _denied_by_seconds(chosen: Span, value: float, method: str) -> Iterator[Finding]:
    """A flag where stamps in whole seconds, which are too coarse to measure by, contradict a script's own figure.

    fairseq on TPUs prints a hundredth of its rate: it counts one update for each line and not all of them.
    """
    told = [
        (step.items, gap) for step, gap in _gaps(chosen, _stamp) if step.items is not None and gap and gap >= WHOLE_S
    ]
    if len(told) < max(quality_checks.FEWEST_REPORTS, (len(chosen.told) - 1) // 2):
        return
    by_stamps = statistics.median(items / gap for items, gap in told)
    nearest = (statistics.median(items / (gap + off) for items, gap in told) for off in (-1.0, 1.0))
    if all(max(one / value, value / one) >= BatchDoubted.limit for one in nearest):
        yield ClockDisagrees(
            method=method,
            items_per_s=value,
            other_method=STAMPS,
            other_items_per_s=by_stamps,
            difference=by_stamps / value - 1,
        )


def _figures(chosen: Span, method: str) -> list[float]:
    """What the script printed of each step, as far as the value rests on it."""
    if method == TIMES:
        return [step.seconds / step.steps for step in chosen.reports if step.seconds]
    return [step.items_per_s for step in chosen.reports if step.items_per_s] if method == RATES else []


def _rest(steps: Sequence[Step], chosen: Span, value: float, method: str) -> Iterator[Finding]:
    """The steps after the window by the same clock, where they are as many as within."""
    last = chosen.reports[-1]
    after = tuple(step for step in steps if step.index > last.index)
    if chosen.complete:
        yield from _behind(Span(before=last, reports=after, complete=False), chosen, value, method)


def unlike_rest(
    known: Throughput, within: Sequence[Step], sample: Sequence[Step], *, trust_stamps: bool = True
) -> Iterator[Finding]:
    """Did a *sample* of what lies behind the window go at another speed than its reports *within*?

    The sample begins before the window ends.
    """
    kept, _ = _full_batches(sample, fine=trust_stamps and _fine(sample))
    ends = known.line_last or 0
    begin = next((place for place, step in enumerate(kept) if (step.line or 0) > ends), len(kept))
    if begin and known.items_per_s is not None:
        behind = Span(before=kept[begin - 1], reports=tuple(kept[begin:]), complete=False)
        chosen = Span(before=None, reports=tuple(within), complete=True)
        yield from _behind(behind, chosen, known.items_per_s, known.method)


def _behind(behind: Span, window: Span, value: float, method: str) -> Iterator[Finding]:
    """A flag where what is *behind* the *window*, as many steps as in it, does not give the same *value*.

    Of a sample (`rest`) the first report of each piece reaches back over what was not read: it is left out.
    """
    usual = max(step.steps for step in window.reports)
    told = tuple(step for step in behind.reports if not (step.after_pause and step.steps > usual))
    read = replace(behind, reports=told)
    if read.steps < window.steps:
        return
    timed = read
    if method in (STAMPS, ARRIVALS):
        timed = behind  # a clock leaves out by itself what follows a pause
        rest = _by_clock(behind, _stamp if method == STAMPS else _arrival)
    else:
        rest = mean_rate(read.reports) if method == RATES else _printed(read)[0]
    if rest is None or abs(rest / value - 1) <= UNLIKE:
        return
    told_s = [seconds for _, seconds in _durations(timed, method) if seconds]
    if abs(rest / value - 1) > UNLIKE + quality_checks.error(told_s):
        yield RestDiffers(difference=rest / value - 1, steps=read.steps)


def _drift(chosen: Span, method: str) -> list[Finding]:
    """D10: the first third of the window against the last."""
    rates = [rate for rate in _rates(chosen, method) if rate]
    third = len(rates) // 3
    if third < 3 or _surely_steady(rates[:third], rates[-third:]):
        return []
    first, last = statistics.harmonic_mean(rates[:third]), statistics.harmonic_mean(rates[-third:])
    if abs(last / first - 1) <= DRIFT:
        return []
    return [Drift(change=last / first - 1)]


def _surely_steady(first: Sequence[float], last: Sequence[float]) -> bool:
    """Is the change of the harmonic mean far below the limit? Exact means cost ten times as much to know."""
    ended = math.fsum([1 / rate for rate in last])
    return ended > 0 and abs(math.fsum([1 / rate for rate in first]) / ended - 1) < DRIFT - ROUNDED


def _scatter(reports: Sequence[Step]) -> list[Finding]:
    """Printed rates that differ by more than ten times cannot all be true."""
    extremes = _extremes(reports)
    if extremes is None:
        return []
    lowest, highest = extremes
    return [RatesScatter(lowest_items_per_s=lowest, highest_items_per_s=highest)]


def _extremes(reports: Sequence[Step]) -> tuple[float, float] | None:
    """(lowest, highest) printed rate, where they are further apart than is possible."""
    known = [step.items_per_s for step in reports if step.items_per_s]
    return (min(known), max(known)) if known and max(known) > SCATTER * min(known) else None


def _believable(reports: Sequence[Step]) -> tuple[Step, ...]:
    """The slowest of *reports* and those like it: an epoch is sooner cut short than made slow (NCF: 0.01 s)."""
    slowest = min(step.items_per_s for step in reports if step.items_per_s)
    return tuple(step for step in reports if step.items_per_s and step.items_per_s <= SCATTER * slowest)


def _rates(chosen: Span, method: str) -> list[float | None]:
    return [1 / seconds if seconds else None for _, seconds in _durations(chosen, method)]


def _durations(chosen: Span, method: str) -> list[tuple[Step, float | None]]:
    """(report, seconds per step in it) by the clock of *method*."""
    found = chosen.durations.get(method)
    if found is None and method in (STAMPS, ARRIVALS):
        gaps = _gaps(chosen, _stamp if method == STAMPS else _arrival)
        found = [(step, None if gap is None else (gap if gap > 0.0 else 0.0) / step.steps) for step, gap in gaps]
    elif found is None:
        found = [(step, _own_duration(step)) for step in chosen.reports]
    chosen.durations[method] = found
    return found


def _own_duration(step: Step) -> float | None:
    seconds = _own_seconds(step)
    if seconds is not None:
        return seconds / step.steps
    return None if step.items_per_s is None else 1 / step.items_per_s


def _counted(steps: Sequence[Step], chosen: Span, method: str) -> Counted | None:
    """What the value by *method* is the quotient of, report by report."""
    pairs = [
        (items, seconds) for items, seconds in _shares(chosen, method) if items is not None and seconds is not None
    ]
    if not pairs:
        return None
    numbers = {step.index: place for place, step in enumerate(steps)}
    first, last = numbers[chosen.reports[0].index], numbers[chosen.reports[-1].index]
    return Counted(
        items=tuple(items for items, _ in pairs),
        seconds=tuple(seconds for _, seconds in pairs),
        before_s=_around(steps, max(0, first - REPORTS_AROUND), first, method),
        after_s=_around(steps, last + 1, last + 1 + REPORTS_AROUND, method),
    )


def _shares(chosen: Span, method: str) -> list[tuple[float | None, float | None]]:
    """(items, seconds) of each report that counts; of rates (steps, steps ÷ rate)."""
    if method in (STAMPS, ARRIVALS):
        return [(step.items, gap) for step, gap in _gaps(chosen, _stamp if method == STAMPS else _arrival)]
    if method == TIMES:
        return [(step.items, step.seconds) for step in chosen.reports]
    return [(float(step.steps), step.steps / step.items_per_s) for step in chosen.reports if step.items_per_s]


def _around(steps: Sequence[Step], begin: int, end: int, method: str) -> tuple[float, ...]:
    """Seconds per step of the reports from *begin* to *end*, of those whose time is told."""
    beside = Span(before=steps[begin - 1] if begin else None, reports=tuple(steps[begin:end]), complete=False)
    return tuple(seconds for _, seconds in _durations(beside, method) if seconds) if beside.reports else ()


def _begin_s(chosen: Span) -> float | None:
    """When the window began on the run's clock."""
    if chosen.before is not None:
        return chosen.before.arrival_s
    first = chosen.reports[0]
    return None if first.arrival_s is None or first.seconds is None else first.arrival_s - first.seconds


def _throughput(
    chosen: Span,
    value: float,
    method: str,
    unit: str,
    printed: float | None,
    clock: float | None,
    findings: Sequence[Finding],
) -> Throughput:
    reports = chosen.reports
    rates = [step.items_per_s for step in reports if step.items_per_s is not None]
    timed = any(step.items is not None or step.seconds is not None for step in reports)
    times = [seconds for _, seconds in _durations(chosen, method) if seconds is not None] if timed else []
    return Throughput(
        items_per_s=value,
        unit=unit,
        method=method,
        window=Window(
            first_step=reports[0].index - reports[0].steps + 1,
            last_step=reports[-1].index,
            steps=chosen.steps,
            begin_s=_begin_s(chosen),
            end_s=reports[-1].arrival_s,
        ),
        printed_items_per_s=printed,
        clock_items_per_s=clock,
        arithmetic_items_per_s=statistics.fmean(rates) if rates else None,
        step_time_s=tuple(times),
        line_first=reports[0].line,
        line_last=reports[-1].line,
        findings=tuple(findings),
    )

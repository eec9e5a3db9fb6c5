"""What the window makes as a number, and what makes it less sure.

The value is items ÷ time, by the first clock that tells: stamps with fractions of a second, unless the arrival of the
lines denies them; that arrival; the script's own times; else the harmonic mean of its rates. What is not the value is a
cross-check.
"""

import bisect
import math
import operator
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import replace

from evalsuite.contracts.dialect import Dialect
from evalsuite.core import findings as rules
from evalsuite.core.model import ARRIVALS, RATES, STAMPS, TIMES, Counted, Finding, Protocol, Step, Throughput, Window
from evalsuite.logs.steps import window as windows
from evalsuite.logs.steps.window import BURST_SHARE, CLOCKS, COARSE_REPORTS, Span, Timing, find_partial_batches

DISAGREE = rules.ClockDisagrees.limit  # docs/numbers.md
DRIFT = rules.Drift.limit
UNLIKE = rules.RestDiffers.limit
BURSTY = rules.ArrivalsBursty.limit
WHOLE_S = 5.0, 20.0  # between reports: then whole seconds tell a factor, of a tenth of the time
REPORTS_AROUND = 20  # shown on either side of the window
FEWEST_FIGURES = 10  # with fewer, digits that are not printed cannot be told from zeros
FEWEST_REPORTS = 3  # with two, neither is the usual one
OUTLYING = 10  # times the median: an evaluation is inside the figure of one step
STALLED = 1.5  # times the usual: of so few reports one that is slower by less is noise
LEAST_DIGITS = 3  # that scripts print after the point, where all figures are the same and zeros may end them
MOST_DIGITS = 6  # after the point; more are no rounding by a script
ERRORS = 2.0
HOPELESS = 0.25  # relative error of a time above which it has no finding
EXACT = 1e-6  # a printed decimal as a float is that near to it
ALIKE = 0.1  # batches that printed rates and stamps imply, of one size
LATE = 0.005  # half of the least lead that is told: by so much stamps may be above arrivals
LATE_S = 0.02  # or by that: an arrival is noted within 10 ms
OFF = 0.01  # of a tick: by so much gaps may differ from whole ones
TICK_S = 1.0  # of stamps without fractions


def throughput(
    steps: Sequence[Step], dialect: Dialect, protocol: Protocol, *, epochs: bool = False, tick_s: float | None = None
) -> tuple[Throughput | None, bool]:
    """(The number, was the window as long as asked); None where nothing tells it. *tick_s*: of a coarse clock."""
    fine = dialect.trust_stamps and any([step.stamp_s % 1 for step in steps if step.stamp_s])  # not whole seconds
    partial = find_partial_batches(steps) if fine else {}
    steps = [step for step in steps if step.index not in partial] if partial else steps
    chosen = windows.span(steps, protocol, warmed_up=dialect.warmed_up, epochs=epochs)
    if chosen is None:
        return None, False
    inside = [(step.index, part) for step, part in partial.values() if chosen.touches(step)]
    findings: list[Finding] = [rules.PartialBatch(step=index, share=part) for index, part in inside]
    noted = any([s.arrival_s is not None or (s.relay_s or 0.0) % 1 for s in chosen.reports])  # not whole seconds
    if tick_s and chosen.complete and not (fine or noted):
        chosen, _ = windows.widened(chosen, steps, tick_s)
    told = dialect.trust_stamps and any([step.stamp_s is not None for step in chosen.reports])
    stamped = Timing(span=chosen, method=STAMPS) if told else None
    implied = _implied_batch(stamped) if stamped and not epochs else None
    burst = _burst(stamped) if fine and stamped and not (implied and implied[1]) else []  # a batch explains all gaps
    findings += burst
    by_stamp = stamped.value if fine and stamped and not burst else None
    later = tuple(steps[bisect.bisect_right(steps, chosen.reports[-1].index, key=operator.attrgetter("index")) :])
    after = Span(before=chosen.reports[-1], reports=later, complete=False)
    arrived = _by_arrival(chosen, after.reports[:1], findings) if noted else None
    by_arrival = arrived.value if arrived else None
    whole = chosen.before is not None or (by_stamp is None and by_arrival is None)
    same = chosen if whole else replace(chosen, reports=chosen.reports[1:])  # of the first a clock knows only the end
    printed = {method: Timing(span=same, method=method) for method in (TIMES, RATES)}
    by_time, rate = printed[TIMES].value, printed[RATES].value
    odd = rate is not None and (by_time is None or abs(rate / by_time - 1) > DISAGREE)
    candidates = [(by_stamp, STAMPS), (by_arrival, ARRIVALS), (by_time, TIMES), (rate if odd else None, RATES)]
    late = max(LATE, LATE_S / math.fsum(gap for _, gap in arrived.quotients)) if by_arrival and arrived else 0.0
    if by_stamp and by_arrival and by_stamp > by_arrival * (1 + late):  # they are faster than the lines came
        candidates = [*candidates[1:], candidates[0]]
    value, method = next(((value, method) for value, method in candidates if value is not None), (None, ""))
    own = method not in CLOCKS
    timed = [step.seconds for step in chosen.reports if step.seconds] if tick_s else []
    rough = (tick_s or 0.0) / math.fsum(timed) if timed and (own or len(timed) < FEWEST_REPORTS) else 0.0
    if value is None or (own and rough > HOPELESS):
        return None, chosen.complete
    clocks = {STAMPS: stamped, ARRIVALS: arrived, **(printed if whole else {})}
    timing = clocks.get(method) or Timing(span=chosen, method=method)
    others = [(other, name) for other, name in candidates if other is not None and name != method]
    findings += [disagreement(value, method, *other) for other in others if abs(other[0] / value - 1) > DISAGREE]
    findings += _denied_by_seconds(stamped, value, method) if own and stamped and not fine else ()
    findings += _too_small(implied, value) if implied and method == RATES else ()  # no items are stated
    findings += _unsteady(timing, rough, tick_s or 0.0, steps[:COARSE_REPORTS] if epochs else ())
    if chosen.complete and after.reports and not epochs:
        findings += _behind(after, chosen, value, method)
    clock = _confirmed_with_pauses(chosen, value, findings) if noted and not arrived else by_arrival
    batch = implied[0] if method == RATES and implied and implied[1] and stamped and not stamped.quotients else None
    made = _throughput(chosen, steps, timing, value, dialect.unit, stamped, findings)
    made = replace(made, printed_items_per_s=by_time or rate, clock_items_per_s=clock, implied_batch=batch, tick=rough)
    return made, chosen.complete


# the clocks


def _by_arrival(chosen: Span, following: Sequence[Step], findings: list[Finding]) -> Timing | None:
    """None where the lines came in writes so long that their ends do not tell the time of the window."""
    joined, together = windows.joined_writes(chosen, next(iter(following), None))
    lines = len(chosen.reports)
    if joined is not None and joined is not chosen:
        steps, least = (sum(step.steps for step in each.reports) for each in (joined, chosen))
        grain = max(step.steps for step in chosen.reports) / steps if together > BURSTY * lines else 0.0
        if steps < least / 2 or grain > rules.ArrivalsBursty.moved:  # a line may be cut by the end of a write
            joined = None
    if joined is None and together:
        findings.append(rules.ArrivalsBursty(together=together, lines=lines))
    timing = Timing(span=joined, method=ARRIVALS) if joined else None
    known = timing is not None and len(timing.seconds) >= 2 and timing.value is not None  # one gap may be anything
    sizes = {step.steps for step in joined.reports[1:-1]} if joined and together else set()
    ticks = _in_ticks([gap for _, gap in timing.seconds if gap], sizes) if timing and known else None
    findings += [ticks] if ticks else []
    return timing if known and not ticks else None


def _in_ticks(told: Sequence[float], sizes: set[int]) -> rules.ArrivalsInTicks | None:
    """Are all gaps once or several times the same, and the window few of them? Then a launcher passed the lines on.

    *sizes*: steps of a write, where several lines came together; a buffer has the same number in each.
    """
    total_s = math.fsum(told)
    gaps = [gap for gap in told if gap > BURST_SHARE * total_s / len(told)]
    counts = [round(gap / least) for least in [min(gaps)] for gap in gaps]
    tick_s, several = total_s / sum(counts), sum(count > 1 for count in counts)
    off_s = max(abs(gap - count * tick_s) for gap, count in zip(gaps, counts, strict=True))
    even = len(sizes) == 1 < max(sizes) if sizes else not FEWEST_REPORTS <= several <= len(gaps) - FEWEST_REPORTS
    fine = even or off_s > min(LATE_S, OFF * tick_s) or tick_s / total_s <= rules.ArrivalsInTicks.limit
    return None if fine else rules.ArrivalsInTicks(tick=tick_s, share=tick_s / total_s)


def _confirmed_with_pauses(chosen: Span, value: float, findings: Sequence[Finding]) -> float | None:
    """By arrivals that count the pauses as training, where even they do not deny *value*; else None."""
    if rules.ArrivalsBursty in map(type, findings) or not any(step.after_pause for step in chosen.reports):
        return None
    reports = tuple(step._replace(after_pause=False) for step in chosen.reports)
    slowest = Timing(span=replace(chosen, reports=reports), method=ARRIVALS)
    slower = slowest.value if len(slowest.seconds) >= 2 else None
    return slower if slower is not None and value <= slower * (1 + DISAGREE) else None


def _implied_batch(stamped: Timing) -> tuple[float, bool] | None:
    """(Items of a step by printed rates and stamps, is it that of nearly each report); None if not told to 2 %."""
    told = [(gap, step.steps / step.items_per_s) for step, gap in stamped.seconds if step.items_per_s and gap]
    seconds = math.fsum(gap for gap, _ in told)
    fine = any((step.stamp_s or 0.0) % 1 for step in stamped.span.reports)
    if len(told) < 2 or (not fine and seconds < TICK_S / rules.PrintedOnly.limit):
        return None
    batch = seconds / math.fsum(of_one for _, of_one in told)
    return batch, statistics.median(abs(gap / of_one / batch - 1) for gap, of_one in told) < ALIKE


def _too_small(implied: tuple[float, bool] | None, value: float, least: float = 1.0) -> Iterator[Finding]:
    """A flag where a step would have trained fewer than the *least* items: no pause explains that."""
    if implied and least / implied[0] > rules.ClocksFarApart.limit:
        yield disagreement(value, RATES, value * least / implied[0], STAMPS)


def _burst(timing: Timing) -> list[Finding]:
    """Do many lines follow the one before far sooner than a step takes?

    The agent's arrivals are measured by their own mean, other stamps also by what the script prints of its steps.
    """
    own = {step.index: seconds for step, seconds in Timing(span=timing.span, method=TIMES).seconds}
    gaps = [(step, gap) for step, gap in timing.seconds if gap is not None]
    if not gaps or not all(own.values()):
        return []
    mean = statistics.fmean([gap for _, gap in gaps])
    usual = [mean if s.arrival_s is not None else max(mean, own.get(s.index) or 0.0) for s, _ in gaps]
    together = [gap < BURST_SHARE * usual_s for (_, gap), usual_s in zip(gaps, usual, strict=True)].count(True)
    return [rules.ArrivalsBursty(together=together, lines=len(gaps))] if together > BURSTY * len(gaps) else []


# what a reader must know


def disagreement(value: float, method: str, other: float, other_method: str) -> rules.ClockDisagrees:
    return rules.ClockDisagrees(
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
    told: list[tuple[float, float]] = []
    items = seconds = 0.0
    enough = sorted((*WHOLE_S, math.fsum(gap for _, gap in stamped.quotients) / 10))[1]
    for part, gap in stamped.quotients:
        items, seconds = items + part, seconds + gap
        if seconds >= enough:
            told.append((items, seconds))
            items = seconds = 0.0
    if len(told) < FEWEST_REPORTS or 2 * len(stamped.quotients) < len(stamped.span.reports) - 1:
        return
    by_stamps = statistics.median(items / gap for items, gap in told)
    least, most = (statistics.median(items / (gap + off) for items, gap in told) for off in (TICK_S, -TICK_S))
    if max(least / value, value / most) >= rules.ClocksFarApart.limit:
        yield disagreement(value, method, by_stamps, STAMPS)


def _unsteady(timing: Timing, rough: float, tick_s: float, epochs: Sequence[Step]) -> Iterator[Finding]:
    """Flags where one report took far longer than the others, where the window is few ticks of its clock (*rough* is
    the share of one), where its speed changes, or by more than is possible. Of the first *epochs* the last two alone.

    The clock of lines joined to reports is too coarse for a median: the usual is the mean of the others.
    """
    reports = epochs or timing.span.reports
    paces = [each for each in timing.step_s if each]
    times = [step.seconds / step.steps for step in reports if step.seconds] if timing.method == TIMES else []
    rates = [step.items_per_s for step in reports if step.items_per_s]
    figures = rates if timing.method == RATES else times
    per_step = zip(timing.seconds, timing.step_s, strict=True)
    parts = [(step.steps, each * step.steps) for (step, _), each in per_step if each and not epochs]
    if len(parts) >= FEWEST_REPORTS:
        usual = statistics.median([seconds / steps for steps, seconds in parts])
        longest = max([seconds - usual * steps for steps, seconds in parts])
        share = longest / math.fsum([seconds for _, seconds in parts])
        told = len(parts) >= FEWEST_FIGURES or max([seconds / steps for steps, seconds in parts]) > STALLED * usual
        if share > rules.LongStall.limit and told:
            yield rules.LongStall(share=share, seconds=longest)
    inner = [part for step in reports for part in step.parts if not epochs]
    if len(inner) >= FEWEST_REPORTS:
        steps, seconds = max(inner, key=lambda part: part[1])
        total = math.fsum(each for _, each in inner)
        usual = (total - seconds) / (sum(each for each, _ in inner) - steps) * steps
        longest = seconds - usual - tick_s
        if longest > rules.LongStall.limit * total and seconds > STALLED * usual:
            yield rules.LongStall(share=longest / total, seconds=longest)
    if rough > rules.CoarseFigures.limit and not epochs:
        yield rules.CoarseFigures(share=rough)
    elif len(figures) >= FEWEST_FIGURES and min(figures) > 0:
        yield from _coarse(figures)
    third = len(paces) // 3  # D10: the harmonic mean of the rates in the first against that in the last
    thirds = (paces[:third], paces[-third:]) if third >= 3 else ([1.0], [1.0])
    kept = ([sorted(part)[:most] for part in thirds] for most in (None, max(1, third - 1)))
    change, spared = (math.fsum(first) / math.fsum(last) - 1 for first, last in kept)
    if abs(change) > DRIFT:  # that one step was a long one, a checkpoint say, is no drift
        steep = min(max(each, 1 / each) for each in (1 + change, 1 + spared)) > rules.SteepDrift.factor
        yield (rules.SteepDrift if steep else rules.Drift)(change=change)
    elif rates and max(rates) > rules.RatesScatter.limit * min(rates):
        yield rules.RatesScatter(lowest_items_per_s=min(rates), highest_items_per_s=max(rates))


def unlike_rest(
    known: Throughput, within: Sequence[Step], sample: Sequence[Step], *, trust_stamps: bool = True
) -> Iterator[Finding]:
    """Did a *sample* that begins before the window ends go at another speed after it than *within*?"""
    fine = trust_stamps and any((step.stamp_s or 0.0) % 1 for step in sample)
    partial = find_partial_batches(sample) if fine else {}
    full = [step for step in sample if step.index not in partial]
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
    reports = [s for s in behind.reports if not (s.after_pause and s.steps > usual)]
    own = {step.index: seconds for step, seconds in Timing(span=behind, method=TIMES).seconds}
    middle = statistics.median([each / s.steps for s in reports if (each := own[s.index])] or [math.inf])
    read = replace(behind, reports=tuple(s for s in reports if (own[s.index] or 0.0) < OUTLYING * middle * s.steps))
    steps = sum(step.steps for step in read.reports)
    if steps < sum(step.steps for step in window.reports):
        return
    timing = Timing(span=behind if method in CLOCKS else read, method=method)  # a clock leaves out pauses by itself
    rest = timing.value if timing.value is not None or method != TIMES else Timing(span=read, method=RATES).value
    told, inside = ([each for each in clock.step_s if each] for clock in (timing, Timing(span=window, method=method)))
    half = len(told) // 2 if inside else 0
    paces = [statistics.median(part) for part in (told[:half], told[half:])] if half >= FEWEST_FIGURES else [1.0]
    if max(paces) > rules.RestDiffers.halves * min(paces):  # then their mean tells nothing
        change = max((statistics.median(inside) / pace - 1 for pace in paces), key=abs)
        yield rules.RestDiffers(difference=change, steps=steps // 2)
        return
    if rest is None or abs(rest / value - 1) <= UNLIKE:
        return
    if method == RATES:
        whole, alike = _implied_batch(Timing(span=window, method=STAMPS)) or (1.0, False)
        least = max(1.0, whole) if alike else 1.0
        yield from _too_small(_implied_batch(Timing(span=read, method=STAMPS)), rest, least)
    pairs = zip(timing.seconds, timing.step_s, strict=True)
    told = [each for (step, _), each in pairs if each and not step.after_pause]  # starts of epochs are none
    error = math.sqrt(variance(told) / len(told)) / statistics.fmean(told) if len(told) > 1 else 0.0
    if abs(rest / value - 1) > UNLIKE + ERRORS * error:
        yield rules.RestDiffers(difference=rest / value - 1, steps=steps)


# figures printed with few digits, one long stall


def _coarse(figures: Sequence[float]) -> Iterator[Finding]:
    """A flag where the printed digits leave room for more than the limit. Figures that move over several last digits
    make up for it: the errors of rounding cancel out."""
    for digits in range(MOST_DIGITS + 1):
        scaled = [figure * 10**digits for figure in figures]
        if all(math.isclose(each, round(each), abs_tol=EXACT * max(1.0, each)) for each in scaled):
            break
    else:
        return  # the place of their last digit is unknown
    digit = 10.0 ** -(max(digits, LEAST_DIGITS) if len(set(figures)) == 1 else digits)
    if max(figures) - min(figures) > 2 * digit:
        return
    share = digit / 2 / statistics.fmean(figures)
    if share > rules.CoarseFigures.limit:
        yield rules.CoarseFigures(share=share)


def variance(sample: Sequence[float]) -> float:
    """As the library's, which counts in fractions and takes as long as to read a small log."""
    mean = statistics.fmean(sample)
    return math.fsum([(each - mean) ** 2 for each in sample]) / (len(sample) - 1)


# the number


def _throughput(
    chosen: Span,
    steps: Sequence[Step],
    timing: Timing,
    value: float,
    unit: str,
    stamped: Timing | None,
    findings: Sequence[Finding],
) -> Throughput:
    """With what it was counted from, and the reports on either side of the window; *stamped*: by the log's stamps."""
    before, reports = timing.span.before, chosen.reports
    begin_s = before.arrival_s if before else None
    if before is None and reports[0].arrival_s is not None and reports[0].seconds is not None:
        begin_s = reports[0].arrival_s - reports[0].seconds
    timed = any([step.items is not None or step.seconds is not None for step in reports])
    within = None
    if stamped and stamped.value is not None:
        fine = any((step.stamp_s or 0.0) % 1 for step in stamped.span.reports)
        within = 0.0 if fine else TICK_S / math.fsum(seconds for _, seconds in stamped.quotients)
        within = within if abs(stamped.value / value - 1) <= max(within, rules.PrintedOnly.limit) else None
    numbers = {step.index: place for place, step in enumerate(steps)}
    first, last = numbers[timing.span.reports[0].index], numbers[timing.span.reports[-1].index]
    items, seconds_of = zip(*timing.quotients, strict=True) if timing.quotients else ((), ())
    around = []
    for begin, end in ((max(0, first - REPORTS_AROUND), first), (last + 1, last + 1 + REPORTS_AROUND)):
        beside = Span(before=steps[begin - 1] if begin else None, reports=tuple(steps[begin:end]), complete=False)
        around.append(tuple(seconds for seconds in Timing(span=beside, method=timing.method).step_s if seconds))
    return Throughput(
        items_per_s=value,
        unit=unit,
        method=timing.method,
        window=Window(
            first_step=reports[0].index - reports[0].steps + 1,
            last_step=reports[-1].index,
            steps=sum(step.steps for step in reports),
            begin_s=begin_s,
            end_s=timing.span.reports[-1].arrival_s,
        ),
        stamps_within=within,
        step_time_s=tuple(seconds for seconds in timing.step_s if seconds is not None) if timed else (),
        line_first=reports[0].line,
        line_last=reports[-1].line,
        findings=tuple(findings),
        counted=Counted(items=items, seconds=seconds_of, before_s=around[0], after_s=around[1]),
    )

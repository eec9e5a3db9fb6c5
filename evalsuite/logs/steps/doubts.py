"""What the steps of a log alone say against its value: of runs, imports and `parse` alike (docs/method.md).

Steps of two kinds may be empty every other time, and a slow warm-up may hold work of the window. Whether they trained
something: a loss takes many values, is finite, neither zero nor a cross-entropy below it, and does not end above its
beginning; gradients, learning rate and the count of samples or tokens are neither zero nor the same throughout.
"""

import itertools
import math
import operator
import re
import statistics
from collections.abc import Iterator, Mapping, Sequence

from evalsuite.contracts.dialect import Dialect
from evalsuite.core.findings import (
    CounterStands,
    CrossEntropyNegative,
    GradientsZero,
    LossConstant,
    LossNotFalling,
    LossRises,
    RateZero,
    SlowWarmup,
    TwoKindsOfSteps,
    UpdatesSkipped,
)
from evalsuite.core.model import Finding, Protocol, Step, Throughput, Trained, Window
from evalsuite.logs.scan.scan import Scan
from evalsuite.logs.steps.throughput import variance

FEWEST_WARMUP = 8  # reports: of fewer, compilation of several shapes may be most
FEWEST_STEPS = 20
INSTANT_S = 0.001
NOTED_S = 0.01  # within which an arrival is noted
FEWEST_PARTS = 8  # of the losses: the first is held against the last two
WARMUP_STEPS = Protocol().warmup_steps  # while the rate warms up, 23 reports of a loss were the same
LARGEST_LOSS = 1e100  # its square is a number, too
# fewer digits may be what a rate is rounded to
_ZERO = re.compile(rb"(?i)0(\.0|\.0{7,}|\.0*e.*)?|[\d.]+e-(1[5-9]|[2-9]\d|\d{3,})")


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
    names = ("arrival_s", "stamp_s", "seconds")
    arrived, stamped, printed = ([at for step in steps if (at := getattr(step, name)) is not None] for name in names)
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


def judge_training(
    scans: Sequence[Scan], steps: Sequence[Step], window: Window | None, dialect: Dialect
) -> tuple[Trained, tuple[Finding, ...]]:
    """By the first of *scans*. Where no line of *steps* says its loss, those are taken that are printed anywhere."""
    if not scans:
        return "not_printed", ()
    scan, signs, nan = scans[0], scans[0].incidents.signs, scans[0].incidents.nan
    each = statistics.median([step.steps for step in steps]) if steps else 1
    few = len(steps) < FEWEST_PARTS and any(step.parts for step in steps)  # a coarse clock joined them: each line tells
    read = [(r.step or 0, r.loss) for r in scan.records] if few else [(step.index, step.loss) for step in steps]
    told = [(index, loss) for index, loss in read if loss is not None and abs(loss) < LARGEST_LOSS]
    found = {name: [n for text in signs[name] if abs(n := float(text)) < LARGEST_LOSS] for name in ("loss", "norm")}
    told = told or [(round(each * place), loss) for place, loss in enumerate(found["loss"], 1)]
    later = [record.loss for record in scan.rest.records if record.loss is not None]
    begin, end = (window.first_step, window.last_step) if window else (WARMUP_STEPS + 1, math.inf)
    inside = [loss for index, loss in told if begin <= index <= end]
    losses = [*(loss for _, loss in told), *later]
    enough = max(LossConstant.fewest, LossConstant.covered / each)  # reports
    judged = inside if len(inside) >= enough else [*(loss for index, loss in told if begin <= index), *later]
    moved = len({*found["norm"]}) > 1 and not dialect.cross_entropy  # of GRPO the loss alone is zero
    shown = scan.incidents.loss or next(iter(signs["loss"]), b"")  # the first, with the digits of all
    unlearnt = len(judged) >= enough and (any(judged) or not moved)
    against: list[Finding] = [nan] if nan else []
    against += _unlearnt(judged, shown, dialect.cross_entropy, scan.incidents.loss is not None) if unlearnt else ()
    beside, told_of = each * len(scan.rest.records), any(signs[name] for name in signs.keys() - {"loss"})
    against += _still(signs, enough, len(steps), beside) if told_of else ()
    if against:
        return "did_not_train", tuple(against)
    if len(losses) < FEWEST_PARTS:
        return "too_seldom" if losses else "not_printed", ()
    first, last, error = fall(losses)
    share = (first - last + error) / abs(first) if first else 1.0
    long = len(losses) >= LossNotFalling.fewest and len(losses) * each >= LossNotFalling.steps
    flat = LossNotFalling(reports=len(losses), first=first, last=last, most=share)
    noted = (flat,) if long and error and share < LossNotFalling.limit else ()  # one of few digits may be rounded
    return "trained" if first - last > error else "not_shown", noted


def fall(losses: Sequence[float]) -> tuple[float, float, float]:
    """(mean of the first eighth, of the last quarter, what their difference may be by noise alone)

    Noise: von Neumann's, of successive values, or that of the second half if it is more. Of noise without a fall one in
    a hundred shows one (tests/unit/test_trainings.py)."""
    part = len(losses) // FEWEST_PARTS
    between = statistics.fmean((after - before) ** 2 for before, after in itertools.pairwise(losses)) / 2
    noise = math.sqrt(max(between, variance(losses[len(losses) // 2 :])))
    first, last = statistics.fmean(losses[:part]), statistics.fmean(losses[-2 * part :])
    return first, last, LossNotFalling.deviations * noise * math.sqrt(1.5 / part)


def _digits(value: float, printed: bytes = b"") -> int:
    """As many as *value* has in the form of one that was *printed*: `6.2000e+00` has five, `0.0001` one."""
    mantissa, scientific, _ = printed.lower().partition(b"e")
    if not scientific and b"." in mantissa:
        return len(f"{value:.{len(mantissa.partition(b'.')[2])}f}".replace(".", "").lstrip("-0"))
    shortest = len(f"{value:.15g}".split("e")[0].replace(".", "").strip("-0"))
    return max(shortest, len(re.findall(rb"\d", mantissa)))


def _unlearnt(losses: Sequence[float], printed: bytes, cross_entropy: bool, of_steps: bool) -> Iterator[Finding]:
    """*of_steps*: lines of steps print them, and not any, which may be copies."""
    unlike = {*losses}
    values = len(unlike)
    nothing = max(map(abs, unlike)) < LossConstant.least
    again = sum(itertools.starmap(operator.eq, itertools.pairwise(losses))) > LossConstant.again * len(losses)
    few = values < min(LossConstant.values_limit, LossConstant.share * len(losses)) or values == 1
    least = LossConstant.digits if few else LossConstant.digits + 1 if of_steps and again else math.inf
    if nothing or (least < math.inf and max(_digits(loss, printed) for loss in unlike) >= least):
        yield LossConstant(steps=len(losses), values=1 if nothing else values, loss=losses[-1])
        return
    below = [loss for loss in losses if loss < -LossConstant.least]
    if cross_entropy and len(below) >= LossConstant.fewest:
        yield CrossEntropyNegative(reports=len(below), loss=below[-1])
    if len(losses) < LossRises.fewest:
        return
    quarter = len(losses) // 4
    first, last = statistics.fmean(losses[:quarter]), statistics.fmean(losses[-quarter:])
    pairs = itertools.pairwise(losses)
    if last - first > LossRises.limit * abs(first) and (
        last - first > LossRises.scatters * statistics.stdev([after - before for before, after in pairs])
    ):
        yield LossRises(steps=len(losses), first=first, last=last)


def _still(signs: Mapping[str, Sequence[bytes]], enough: float, steps: int, beside: float) -> Iterator[Finding]:
    """*beside*: steps of the log that are not among *steps*, the reports."""
    told = {name: said for name, said in signs.items() if len(said) >= enough}
    norms = [float(text) for text in told.get("norm", ())]
    nothing = sum(norm < GradientsZero.least or not math.isfinite(norm) for norm in norms)
    one = len({*norms}) == 1 and _digits(norms[0]) >= GradientsZero.digits
    if norms and (nothing >= GradientsZero.share * len(norms) or one):
        yield GradientsZero(reports=len(norms))
    rates, stated = signs["rate"], signs["head_rate"]  # before the first step
    printed = rates if "rate" in told and 2 * len(rates) >= steps else stated
    if printed and all(_ZERO.fullmatch(text) for text in (*printed, *rates)):
        yield RateZero(reports=len(printed))
    if len({*told.get("counter", ())}) == 1:
        yield CounterStands(reports=len(told["counter"]), value=told["counter"][0].decode())
    thrown = len(signs["overflow"]) - beside  # each may be of one of those
    if thrown > UpdatesSkipped.in_words * steps and steps >= enough:  # not of the first alone
        yield UpdatesSkipped(reports=len(signs["overflow"]), of_reports=steps)
        return
    for name in ("skipped", "not_finite", "scale"):
        values = [float(text) for text in told.get(name, ())]
        later = values[len(values) // 2 :]  # scripts of mixed precision skip some of their first steps
        lost = sum(not UpdatesSkipped.scale < of < math.inf if name == "scale" else of > 0 for of in later)
        if lost > UpdatesSkipped.limit * len(later):
            yield UpdatesSkipped(reports=lost, of_reports=len(later))
            return

"""Whether a run balances: start, warm-up, window and tail, and the work in each (docs/method.md). Lines may be printed
when steps are queued, or the window's work done before it: our clock would then time other things than steps."""

import contextlib
import math
import re
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import replace

from evalsuite.contracts.dialect import Dialect
from evalsuite.core import files
from evalsuite.core.findings import ContradictsLog, ProcessesLeft, SlowWarmup, StepsUnfinished, WorkInWarmup
from evalsuite.core.model import RATES, Finding, Log, Throughput, Window
from evalsuite.logs.text.records import matches, read_arrivals, stamp_s
from evalsuite.results.samples import run_figures, utilisation
from evalsuite.results.samples.run_figures import RunRecords

TAIL_BYTES, NEAR_BYTES = 1 << 20, 1 << 12  # the last step is mostly in the latter
LEAD = 22  # bytes of a line, in which its stamp stands
ANY_DIGIT = bytes.maketrans(b"123456789", b"0" * 9)
NO_TRAINING = re.compile(rb"(?i)\b(?:eval|valid|test|checkpoint|ckpt|sav(?:e|ing))")
SETTLE_S = 1.0  # for which an agent waits before it ends what a script left
FORWARD_ALONE = 10  # times as fast as a step of training at most
LINE = re.compile(rb"[^\r\n]+")
COUNTED = re.compile(rb"(\d+)\s*/\s*(\d+)")  # batches of an evaluation: "Test: [ 10/196]"


def findings(run: RunRecords, measured: Throughput, ended_s: float | None) -> Iterator[Finding]:
    """*ended_s*: by the agent's clock, None where evalsuite ended the run."""
    window = run.window
    if window is not None and window.begin_s is not None and window.end_s is not None and window.end_s > window.begin_s:
        window_s = window.end_s - window.begin_s
        last_s, evaluated_s = _end_of_steps(run, window_s / window.steps) if ended_s else (None, 0.0)
        after_s = max(0.0, ended_s - last_s) if ended_s and last_s else 0.0
        if ended_s and after_s:
            yield from _tail(run, window, ended_s, after_s, evaluated_s)
        factor, late_steps = warmup_factor(run, measured) or 0.0, (window.first_step - 1) * (1 - WorkInWarmup.first)
        if factor > WorkInWarmup.work_limit and (factor - 1) * late_steps > WorkInWarmup.share * window.steps:
            yield WorkInWarmup(factor=factor)


def after_import(run: RunRecords, measured: Throughput) -> Iterator[Finding]:
    """By the stamps behind the last step of a log that no agent timed, but those of evaluations and checkpoints."""
    window, log = run.window, next(iter(run.logs), None)
    window_s = math.fsum(measured.counted.seconds) if measured.counted and measured.method != RATES else 0.0
    if window is None or log is None or run.dialect is None or not window_s:
        return
    text, _, last = _behind_steps(log, run.dialect)
    begin, tail_s, lead = last, 0.0, text[text.rfind(b"\n", 0, last) + 1 : last][:LEAD]
    at_s = stamp_s(lead) if last else None
    for line in LINE.finditer(text, last) if at_s is not None else ():
        alike = line[0][:LEAD].translate(ANY_DIGIT) == lead.translate(ANY_DIGIT)
        if alike and (now_s := stamp_s(line[0][:LEAD])) is not None and at_s is not None:
            tail_s += 0.0 if NO_TRAINING.search(text, begin, line.end()) else max(0.0, now_s - at_s)
            begin, at_s = line.end(), now_s
    if tail_s > max(StepsUnfinished.lag_s, StepsUnfinished.ending * window_s):
        yield StepsUnfinished(tail_s=tail_s, window_s=window_s)


def _behind_steps(log: Log, dialect: Dialect) -> tuple[bytes, int, int]:
    """The end of a log, where it begins, and where in it the last step's line ends."""
    text, begin, last = b"", 0, 0
    with contextlib.suppress(*files.NOT_UNPACKED), files.unpacking(log.path) as file:
        file.seek(begin := max(0, file.seek(0, 2) - TAIL_BYTES))
        text = file.read()
    for at in (0 if dialect.spans_lines else text.rfind(b"\n", 0, max(0, len(text) - NEAR_BYTES)) + 1, 0):
        last = last or max((at + match.end() for match, _ in matches(text[at:], dialect.step)), default=0)
    return text, begin, last


def _tail(run: RunRecords, window: Window, ended_s: float, after_s: float, evaluated_s: float) -> Iterator[Finding]:
    window_s = window.length_s or 0.0
    busy = _busy_beside(run, window, ended_s - after_s, ended_s)
    most_s = StepsUnfinished.least_s if busy is None or not run.planned.accelerators else StepsUnfinished.lag_s
    own, every = (_level(run, window, name) for name in ("job_cpu", "cpu"))
    most_s /= min(1.0, own / every) if own and every else 1.0  # beside others processes end as much later
    ending_s = min(most_s, StepsUnfinished.ending * window_s)
    least_s = max(StepsUnfinished.steps * window_s / window.steps, StepsUnfinished.share * window_s, ending_s)
    if (tail_s := (after_s - evaluated_s) * (1.0 if busy is None else busy)) > least_s:
        yield StepsUnfinished(tail_s=tail_s, window_s=window_s)
    if left := sum(agent.left_behind for agent in run.agents):
        at_last = _busy_beside(run, window, ended_s - min(SETTLE_S, after_s), ended_s)
        if at_last is None or at_last > ProcessesLeft.limit:
            yield ProcessesLeft(processes=left)


def _end_of_steps(run: RunRecords, step_s: float) -> tuple[float | None, float]:
    """When the last step's line arrived, and for how long batches of an evaluation were counted since."""
    log = next(iter(run.logs), None)
    arrival = read_arrivals(log.arrivals) if log else None
    if log is None or run.dialect is None or arrival is None:
        return None, 0.0
    text, begin, last = _behind_steps(log, run.dialect)
    last_s = before_s = arrival(begin + last) if last else None
    evaluated_s, counts = 0.0, dict[bytes, int]()
    for line in LINE.finditer(text, last):
        now = {of: int(count) for count, of in COUNTED.findall(line[0]) if int(count) <= int(of)}
        batches = max((count - counts.get(of, count) for of, count in now.items()), default=0)
        at_s = arrival(begin + line.end())
        if now and at_s is not None and before_s is not None:
            likely = batches * step_s / FORWARD_ALONE <= at_s - before_s <= batches * step_s
            evaluated_s += (at_s - before_s) * likely
            counts, before_s = now, at_s
    return last_s, evaluated_s


def _busy_beside(run: RunRecords, window: Window, begin_s: float, end_s: float) -> float | None:
    """How busy the devices were then, as a share of the measured steps; None where nobody knows."""
    resource = "gpu" if run.planned.accelerators else "job_cpu"
    then, inside = (_level(run, part, resource) for part in (replace(window, begin_s=begin_s, end_s=end_s), window))
    return min(1.0, then / inside) if then is not None and inside else None


def _level(run: RunRecords, part: Window, resource: str) -> float | None:
    used, _ = utilisation.of_job(run.samples, part, planned=run.planned, only={resource})
    return next((reading.mean for reading in used if reading.resource == resource), None)


def borne_out(found: Sequence[Finding], run: RunRecords, measured: Throughput | None) -> Iterator[Finding]:
    """*found* in a log, less a slow warm-up whose steps took no more work, and what the facts say."""
    worked = warmup_factor(run, measured) if measured and any(isinstance(of, SlowWarmup) for of in found) else None
    refuted = worked is not None and worked <= WorkInWarmup.work_limit
    return (each for each in found if not isinstance(each, (SlowWarmup, ContradictsLog) if refuted else ContradictsLog))


def warmup_factor(run: RunRecords, measured: Throughput) -> float | None:
    """CPU seconds (joules) of a step of the later warm-up ÷ those of one in the window; None where nothing was read."""
    window, warmup = run.window, measured.counted.before_s if measured.counted else ()
    late = warmup[math.ceil(WorkInWarmup.first * len(warmup)) :]
    inside = window and window.begin_s and window.end_s and run_figures.work(run, window.begin_s, window.end_s)
    if window is None or window.begin_s is None or not (late and inside and run.samples):
        return None
    late_steps = (window.first_step - 1) * len(late) / len(warmup)
    late_s = statistics.fmean(late) * late_steps
    if late_s * min(samples.header.hz for samples in run.samples.values()) < utilisation.FEWEST_READINGS:
        return None
    worked = run_figures.work(run, window.begin_s - late_s, window.begin_s)
    return None if worked is None else worked / late_steps * window.steps / inside

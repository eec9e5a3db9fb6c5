"""The logs of a run as numbers: steps, facts of the job, its throughput; what they are worth, and how sure they are.

A batch size that contradicts the printed figures is not used, nor a scope that contradicts the log's own total. A
clock and a printed rate that are far apart make no number: nothing tells which of them is true.
"""

import bisect
import copy
import functools
import math
import operator
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from evalsuite.contracts.dialect import NO_ITEMS, PIECES, Dialect
from evalsuite.core import findings as rules
from evalsuite.core.messages import Message, join
from evalsuite.core.model import (
    ARRIVALS,
    RATES,
    STAMPS,
    TIMES,
    Certainty,
    Finding,
    Protocol,
    Status,
    Step,
    Throughput,
    Window,
)
from evalsuite.logs.formatting import rate, shown
from evalsuite.logs.scan.scan import MAX_RECORDS, Failure, Scan, TooMany, find_failure
from evalsuite.logs.steps.merging import Facts, Merged, facts, merge_records
from evalsuite.logs.steps.throughput import disagreement, throughput, unlike_rest
from evalsuite.logs.steps.window import CLOCKS, Span, Timing, span, widened
from evalsuite.logs.text.intact import ALTERED
from evalsuite.logs.text.logfile import Unreadable
from evalsuite.logs.text.records import Arrival, Record, positive, whole

DOUBT = rules.BatchDoubted.limit  # so many times apart, clock and printed rate do not measure the same thing
SAME_LINE = 1.1  # the same, where rate and time are in one line
NEARLY = 0.1  # a whole factor is distinguished from noise at this distance
LEAD_RECORDS = 2  # of each printer: where the first increment after the window begins
MARGIN_STEPS = 20  # after the window: other ranks print the same step a little later


@dataclass(frozen=True, kw_only=True)
class Given:
    """What the caller knows and wants."""

    known: Facts
    case: bool  # from a case, whose recipe chose it
    protocol: Protocol
    scope: str | None
    ended_well: bool = False  # every process, with exit code 0
    steps_per_report: int | None = None  # where no line counts them
    shape: str | None = None  # accepted for a log without a dialect
    lines: tuple[int, int] | None = None  # of one start, where a file has several
    all_records: bool = False  # not those of the window alone


@dataclass
class WindowFull:
    """Do the records of a scan fill the window? Asked where they are not *steps* of one epoch, which surely do."""

    dialect: Dialect
    given: Given
    protocol: Protocol
    steps: int | None  # of the protocol; of a coarse clock more may be needed
    _judged: int = 0

    def __call__(self, scan: Scan) -> bool:
        if len(scan.records) > MAX_RECORDS:
            return True
        first, last = scan.records[0], scan.records[-1]
        numbered = last.step is not None and last.epoch == first.epoch
        if numbered and ((last.step or 0) + 1) * self.dialect.each < self.protocol.measured_steps:
            return False  # no need to merge a log before its end
        if len(scan.records) < 2 * self._judged:
            return False
        self._judged = len(scan.records)
        told = facts(self.given.known, scan.facts.said, self.given.case)
        merged = merge_records([scan.records], self.dialect, told, scope=self.given.scope)
        chosen = span(merged.steps, self.protocol, warmed_up=self.dialect.warmed_up, epochs=self.dialect.per_epoch)
        return chosen is not None and chosen.complete and widened(chosen, merged.steps, merged.tick_s)[1]


@dataclass(frozen=True, kw_only=True)
class Pass:
    """What was found in each file, and what is given with them."""

    dialect: Dialect
    given: Given
    scans: Sequence[Scan]
    arrivals: Sequence[Arrival | None]
    said: Mapping[str, bytes | float] = field(default_factory=dict)  # of several, by the first log that says it
    records: Sequence[Record]
    uncollected: int = 0  # step lines of which no record was made
    final: float | None = None  # the log's own summary figure


@dataclass(frozen=True, kw_only=True)
class Numbers:
    run: Pass
    facts: Facts
    merged: Merged
    throughput: Throughput | None
    final: float | None  # the log's own figure over all devices
    complete: bool  # the window is as long as asked
    is_warmup: bool  # all that is reported is the first steps of a run, in one report
    findings: tuple[Finding, ...] = ()

    @property
    def rated(self) -> bool:
        return any(record.rate is not None for record in self.run.records)


def measure_logs(paths: Sequence[Path], arrivals: Sequence[Arrival | None], dialect: Dialect, given: Given) -> Numbers:
    """Stops collecting at a full window; reads all records where that was too early. Raises Unreadable."""
    measured = given.protocol.measured_steps + MARGIN_STEPS
    protocol = replace(given.protocol, measured_steps=measured)
    enough = None if dialect.clock_s else protocol.warmup_steps + measured
    for full in (TooMany(),) if given.all_records else (WindowFull(dialect, given, protocol, enough), TooMany()):
        scans = [Scan(dialect, full).read(path, given.lines) for path in paths]
        run = Pass(
            dialect=dialect,
            given=given,
            scans=scans,
            arrivals=arrivals,
            said={name: value for scan in reversed(scans) for name, value in scan.facts.said.items()},
            records=[record for scan in scans for record in scan.records],
            uncollected=sum(scan.uncollected for scan in scans),
            final=next((scan.final for scan in scans if scan.final is not None), None),
        )
        numbers = compute_numbers(run)
        if numbers.complete or not run.uncollected:
            break
    if any(scan.intact.is_altered() or scan.facts.is_altered for scan in run.scans):
        raise Unreadable(ALTERED)
    if numbers.merged.several_jobs:
        raise Unreadable(Message("logs.several_jobs"))
    together = given.case or any(scan.finals_together for scan in run.scans)
    if together and numbers.throughput is None and (several := _several_finals(run)):
        raise Unreadable(join(several, Message("logs.several_finals_jobs")))
    return numbers


def _several_finals(run: Pass) -> Message | None:
    for least, most in (scan.finals for scan in run.scans):
        if most > least * (1 + rules.FinalDisagrees.limit):
            return Message("logs.several_finals", least=rate(least), most=rate(most))
    return None


def in_steps(run: Pass) -> Pass:
    """The same in steps/s: no line says how many items a step has, or whose rate is printed."""
    scans = [copy.copy(scan) for scan in run.scans]
    for scan in scans:
        scan.records = _counted_in_steps(scan.records)
        scan.rest = replace(scan.rest, records=_counted_in_steps(scan.rest.records))
    records = [record for scan in scans for record in scan.records]
    return replace(run, dialect=replace(run.dialect, unit="steps/s", scope="global"), scans=scans, records=records)


def _counted_in_steps(records: Sequence[Record]) -> list[Record]:
    return [record._replace(rate=None, consumed=None, global_batch=1.0) for record in records]


def compute_numbers(run: Pass) -> Numbers:
    """Of the candidates (batch given or printed, scope declared or proven) the first without contradiction."""
    numbers = _choose_scope(run, run.given.known)
    stated = not run.given.case and run.given.known.batch_per_device is not None and not any(run.arrivals)
    printed_too = "batch_per_device" in run.said or "global_batch" in run.said
    if stated and not printed_too and (doubt := _batch_doubt(numbers)):
        printed = _choose_scope(run, replace(run.given.known, batch_per_device=None))
        if printed.throughput or printed.final:
            numbers = replace(printed, findings=(doubt,))
    much_more = run.uncollected and run.uncollected >= len(run.records) / 2
    return _compare_tail(numbers) if numbers.complete and much_more else numbers


def _choose_scope(run: Pass, known: Facts) -> Numbers:
    told = facts(known, run.said, run.given.case)
    first = _numbers(run, told, run.given.scope)
    if run.given.scope or not run.dialect.final or run.dialect.final_scope != "global":
        return first
    for scope in (None, "global", "per_device"):
        numbers = _numbers(run, told, scope) if scope else first
        printed = numbers.throughput and numbers.throughput.printed_items_per_s
        if not told.devices or told.devices == 1 or not printed or not numbers.final:
            return numbers
        if not is_nearly(max(numbers.final / printed, printed / numbers.final), told.devices):
            return numbers
    return first


def _numbers(run: Pass, told: Facts, scope: str | None) -> Numbers:
    dialect, protocol = run.dialect, run.given.protocol
    merged = merge_records([scan.records for scan in run.scans], dialect, told, arrivals=run.arrivals, scope=scope)
    measured, complete = throughput(merged.steps, dialect, protocol, epochs=merged.in_epochs, tick_s=merged.tick_s)
    alone = len(merged.steps) == 1 and not (dialect.warmed_up or merged.in_epochs)
    since_start = any(record.mean_s is not None or record.elapsed_s is not None for record in run.records)
    is_warmup = alone and merged.steps[0].index <= max(1, protocol.warmup_steps)
    is_warmup = is_warmup and (since_start or merged.steps[0].index <= merged.steps[0].steps)
    factor = 1 if dialect.final_scope == "global" else told.devices
    resumed = positive(run.said.get("resumed_step"))  # then it counts what was trained before a checkpoint
    return Numbers(
        run=run,
        facts=told,
        merged=merged,
        throughput=None if is_warmup else measured,
        final=None if run.final is None or factor is None or resumed else run.final * factor,
        complete=complete,
        is_warmup=is_warmup,
    )


def _compare_tail(numbers: Numbers) -> Numbers:
    run, merged, known = numbers.run, numbers.merged, numbers.throughput
    if known is None or known.window is None or known.line_last is None or merged.in_epochs:
        return numbers
    begun = next(scan for scan in run.scans if scan.records)
    reached = bisect.bisect_right(begun.records, known.line_last, key=lambda record: record.line)
    begin = 0 if run.dialect.mean_reports else max(0, reached - LEAD_RECORDS * max(1, merged.printers))
    sample = [[*scan.records[begin:], *scan.rest.records] for scan in run.scans]
    behind = merge_records(sample, run.dialect, numbers.facts, arrivals=run.arrivals, scope=merged.scope)
    inside = _within(merged.steps, known.window)
    differs = tuple(unlike_rest(known, inside, behind.steps, trust_stamps=run.dialect.trust_stamps))
    own = tuple(finding for finding in known.findings if not isinstance(finding, rules.RestDiffers))  # of few steps
    several = tuple(finding for finding in behind.findings if isinstance(finding, rules.SeveralRuns))
    findings = (*numbers.findings, *several)
    return replace(numbers, throughput=replace(known, findings=(*own, *differs)), findings=findings)


def _batch_doubt(numbers: Numbers) -> Finding | None:
    """Is the clock so far from what is printed that the batch given must be wrong?

    Where both are apart by the number of devices, it may be the scope instead.
    """
    measured, devices = numbers.throughput, numbers.facts.devices
    if measured is None or measured.items_per_s is None or measured.window is None or measured.method == RATES:
        return None
    rated = numbers.rated
    total = numbers.final if numbers.run.dialect.scope == "global" else None
    reports = tuple(_within(numbers.merged.steps, measured.window))
    span = Span(before=None, reports=reports, complete=True)
    printed = Timing(span=span, method=RATES).value if rated else total
    if printed is None:
        return None
    factor = printed / measured.items_per_s
    limit = SAME_LINE if measured.method == TIMES and rated else DOUBT
    if 1 / limit < factor < limit or (devices and is_nearly(max(factor, 1 / factor), devices)):
        return None
    return rules.BatchDoubted(clock_items_per_s=measured.items_per_s, printed_items_per_s=printed, factor=factor)


def _within(steps: Sequence[Step], window: Window) -> list[Step]:
    return [step for step in steps if window.first_step <= step.index <= window.last_step]


def is_nearly(factor: float, whole: float) -> bool:
    return abs(factor / whole - 1) < NEARLY


# what a log is worth: ok, partial, incomplete, failed or unrecognised

FINAL = "final figure"  # the method of a throughput that is the script's own total
_PER_DEVICE = Message("logs.parse_devices")
_COARSE = Message("logs.log_coarse")
MOST_STEPS_APART = 64  # larger whole factors are met by chance
_ASSUMED = (rules.JobAssumedLauncher, rules.JobAssumedOnePrints, rules.OwnAssumed)
_FIGURE = {
    STAMPS: Message("logs.clock_stamps"),
    ARRIVALS: Message("logs.clock_arrivals"),
    TIMES: Message("logs.clock_times"),
    RATES: Message("logs.clock_rates"),
}


def judge_status(numbers: Numbers, failure: Failure | None) -> tuple[Status, str]:
    """With the reason why it is no better; *failure*: what ended the training before it was done."""
    run, steps, measured = numbers.run, numbers.merged.steps, numbers.throughput
    if failure is not None:
        return "failed", failure.reason
    if (
        measured is None
        and run.dialect.evaluation_inside
        and len(run.records) > 1
        and all(record.gap for record in run.records[1:])
    ):
        return "partial", Message("logs.log_evaluated")
    if not steps and measured is None:
        if resumed := whole(run.said.get("resumed_step")):
            return "partial", Message("logs.log_checkpoint", steps=resumed)
        if run.final is not None:
            return "partial", _PER_DEVICE
        return "unrecognised", Message("logs.parse_dialect", name=run.dialect.name)
    if (stop := unfinished(run)) and not any(scan.ended for scan in run.scans):
        return "incomplete", stop[1]
    if measured is None:
        return "partial", _missing(numbers)
    if not numbers.complete:
        return "partial", _too_short(numbers)
    if measured.method == FINAL:
        return "partial", Message("logs.log_total", why=_missing(numbers))
    if run.dialect.averaging == "step" and (alone := _of_one_batch(numbers, measured)):
        return "partial", alone
    if all(record.evaluated for record in run.records) and measured.method != FINAL:
        return "partial", Message("logs.log_validated")
    return "ok", ""


def unfinished(run: Pass) -> tuple[Finding, str] | None:
    cut = next((scan.cut_line for scan in run.scans if scan.cut_line is not None), None)
    if cut is not None:
        return rules.LogCut(line=cut), Message("logs.log_middle", number=cut)
    script = run.dialect.title
    return (rules.LogWithoutEnd(script=script), Message("logs.log_no_end", script=script)) if run.dialect.ends else None


def has_trained(numbers: Numbers) -> bool:
    """Then a failure printed after it takes nothing from the figures.

    The script says so; or every process ended well, the window is complete, and no log with steps ends in a failure.
    """
    run = numbers.run
    if any(scan.ended for scan in run.scans):
        return True
    in_peace = not any(find_failure(scan.behind.lines()) for scan in run.scans if scan.records)
    return run.given.ended_well and numbers.complete and in_peace


def _too_short(numbers: Numbers) -> str:
    steps, protocol = numbers.merged.steps, numbers.run.given.protocol
    if not steps:
        return Message("logs.log_final_alone")
    if numbers.merged.in_epochs:
        alone = Message("logs.log_epoch_report")
        return alone if len(steps) == 1 else Message("logs.log_epoch_reports", count=len(steps))
    trained = steps[-1].index
    wanted = Message("logs.log_wanted", warmup=protocol.warmup_steps, measured=protocol.measured_steps)
    if len(steps) == 1:
        return Message("logs.log_shortest", step=trained, wanted=wanted)
    return Message("logs.log_short", count=len(steps), step=trained, wanted=wanted)


def _missing(numbers: Numbers) -> str:
    run, dialect = numbers.run, numbers.run.dialect
    if dialect.steps_times_nodes:
        return Message("logs.log_nodes")
    merged, facts = numbers.merged, numbers.facts
    one_line = len(merged.steps) == 1 and len(run.records) <= max(1, merged.printers)  # the start, whatever its clock
    ticks = merged.tick_s is not None and any(step.items and step.seconds for step in merged.steps)
    coarse = not one_line and (ticks or (bool(dialect.clock_s) and len(merged.steps) == 1))
    if coarse or (dialect.unit in NO_ITEMS and numbers.complete):
        return _COARSE
    if numbers.is_warmup:
        last = merged.steps[0].index
        if last == 1:
            return Message("logs.log_first")
        return Message("logs.log_first_steps", count=last)
    by_time = any(step.seconds for step in merged.steps) and not merged.in_epochs
    if merged.scope == "unstated" and not by_time:
        return Message("logs.log_whose")
    if merged.scope == "unstated":
        return Message("logs.log_whose_or")
    if merged.scope != "global" and numbers.rated:
        return _PER_DEVICE
    times = operator.attrgetter("stamp_s", "report_s", "step_s", "mean_s", "elapsed_s", "steps_per_s")
    if all(time is None for record in run.records for time in times(record)):
        return Message("logs.log_nothing", count=len(merged.steps))
    if merged.in_epochs:
        return Message("logs.log_long")
    batch = facts.batch_per_device or facts.global_batch
    if batch and not facts.counts(dialect.unit, if_large=True):
        return Message("logs.log_pieces", items=dialect.unit.partition("/")[0], advice=Message("logs.log_in_pieces"))
    lacking = [option for option, known in (("--batch-per-device", batch), ("--devices", facts.devices)) if not known]
    if not lacking:
        return _COARSE
    bare = run.said.get("bare_batch_text")
    quoted = shown(bare) if isinstance(bare, bytes) and not batch else ""
    options = Message("logs.log_options") if len(lacking) > 1 else lacking[0]
    told = Message("logs.log_batch", option=options)
    return Message("logs.log_batch_quoted", told=told, text=quoted) if quoted else told


# how sure the number is


def grade(measured: Throughput, findings: Sequence[Finding]) -> Certainty:
    if any(isinstance(finding, _ASSUMED) for finding in findings):
        return "assumed scope"
    stamped = measured.stamps_within is not None and _is_stamped(measured)
    if measured.method not in (STAMPS, ARRIVALS, TIMES) and not stamped:
        return "one clock" if (measured.implied_batch or 0.0) >= 1 else "printed only"
    clocked = stamped or (measured.method in CLOCKS and measured.printed_items_per_s is not None)
    unsure = any(isinstance(finding, rules.ClockDisagrees | rules.CoarseFigures) for finding in measured.findings)
    return "two clocks agree" if clocked and not unsure else "one clock"


def _is_stamped(measured: Throughput) -> bool:
    within = measured.stamps_within
    return measured.method not in CLOCKS and within is not None and within <= rules.PrintedOnly.limit


def explain_grade(certainty: Certainty, measured: Throughput) -> Message:
    if certainty == "assumed scope":
        return Message("logs.sure_scope")
    if certainty == "printed only":
        return Message("logs.sure_printed_pieces") if measured.unit in PIECES else Message("logs.sure_printed")
    if measured.implied_batch and certainty == "one clock":
        return Message("logs.sure_implied", batch=measured.implied_batch, unit=measured.unit.partition("/")[0])
    name = _FIGURE[STAMPS if _is_stamped(measured) else measured.method]
    if certainty == "two clocks agree":
        return Message("logs.sure_agree", clock=name, share=100 * rules.ClockDisagrees.limit)
    others = [finding for finding in measured.findings if isinstance(finding, rules.ClockDisagrees)]
    if not others:
        return Message("logs.sure_alone", clock=name)
    apart = max(abs(finding.difference) for finding in others)
    second = _FIGURE.get(others[0].other_method, others[0].other_method)
    return Message("logs.sure_differ", clock=name, other=second, share=100 * apart)


def find_doubt(numbers: Numbers, measured: Throughput) -> tuple[str | None, bool]:
    """(What denies *measured*, and what could explain it; is it refused, not shown as doubtful?)

    Of a case `clocks_far_apart` says what is merely doubtful.
    """
    value = measured.items_per_s or 0.0
    apart = [finding for finding in measured.findings if isinstance(finding, rules.ClockDisagrees)]
    if numbers.merged.scope == "unstated":
        apart += _unlike_printed(numbers, measured)
    if measured.method == FINAL and (several := _several_finals(numbers.run)):
        return join(several, Message("logs.several_finals_last")), False
    worst = max(apart, key=lambda finding: finding.factor, default=None)
    if worst and worst.factor >= DOUBT:
        relayed = any(step.relay_s is not None for step in numbers.merged.steps)  # kubectl may pass lines on late
        why = functools.reduce(
            lambda first, second: Message("logs.either", first=first, second=second),
            _explanations(worst, numbers.facts, relayed=relayed),
        )
        return join(two_figures(worst, measured), Message("logs.read_neither", why=why)), True
    seconds = [scan.second for scan in numbers.run.scans if scan.second]
    if denied := next((said for second in seconds if (said := second.contradiction(value))), None):
        return denied, True
    doubtful = worst is not None and worst.factor >= rules.ClocksFarApart.limit and not numbers.run.given.case
    return two_figures(worst, measured) if worst and doubtful else None, False


def _unlike_printed(numbers: Numbers, measured: Throughput) -> Iterator[rules.ClockDisagrees]:
    """What is printed of an unstated number of devices is that of one to all of them."""
    value, first, last = measured.items_per_s, measured.line_first, measured.line_last
    if value is None or first is None or last is None:
        return
    if rates := [record.rate for record in numbers.run.records if record.rate and first <= record.line <= last]:
        middle = statistics.median(rates)
        nearest = min(max(value, middle), middle * (numbers.facts.devices or math.inf))
        yield disagreement(value, measured.method, nearest, RATES)


def _of_one_batch(numbers: Numbers, measured: Throughput) -> Message | None:
    """Where each figure is that of one batch, by the script's own timer, and no clock confirms it."""
    clocked = measured.method in CLOCKS or measured.clock_items_per_s is not None or measured.stamps_within is not None
    meant = any(record.mean_s is not None for record in numbers.run.records)
    if clocked or meant or measured.window is None:
        return None
    every = statistics.median_low([step.steps for step in _within(numbers.merged.steps, measured.window)] or [1])
    return Message("logs.read_one_batch", every=every) if every > 1 else Message("logs.read_one_timer")


def two_figures(apart: rules.ClockDisagrees, measured: Throughput) -> Message:
    return Message(
        "logs.read_doubt",
        method=_FIGURE.get(apart.method, apart.method),
        rate=rate(apart.items_per_s),
        unit=measured.unit,
        other=_FIGURE.get(apart.other_method, apart.other_method),
        other_rate=rate(apart.other_items_per_s),
        factor=apart.factor,
    )


def _explanations(worst: rules.ClockDisagrees, facts: Facts, *, relayed: bool) -> Sequence[str]:
    factor = worst.factor
    whole = round(factor)
    near = 2 <= whole <= MOST_STEPS_APART and is_nearly(factor, whole)
    reasons = []
    if facts.devices and facts.devices > 1 and is_nearly(factor, facts.devices):
        reasons.append(Message("logs.doubt_scope", devices=facts.devices))
    if facts.items_per_step is not None:
        accumulation = Message("logs.doubt_accumulation", steps=whole) if near else ""
        reasons.append(Message("logs.doubt_batch", accumulation=accumulation))
    if relayed:
        reasons.append(Message("logs.doubt_relay"))
    clocked = worst.method in (STAMPS, ARRIVALS)
    if not reasons and clocked == (worst.items_per_s > worst.other_items_per_s):  # no pause explains that
        return [Message("logs.doubt_part")]
    return reasons or [Message("logs.doubt_paused")]

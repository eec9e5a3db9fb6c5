"""The logs of a run as numbers: steps, facts of the job, its throughput.

A batch size that contradicts the printed figures is not used, nor a scope that contradicts the log's own total.
"""

import bisect
import copy
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from evalsuite.contracts.dialect import NO_ITEMS, PIECES, Dialect
from evalsuite.core import findings as rules
from evalsuite.core.messages import Message, join
from evalsuite.core.model import RATES, TIMES, Finding, Protocol, Throughput
from evalsuite.logs.formatting import rate
from evalsuite.logs.scan.scan import Scan, scan_log
from evalsuite.logs.steps.merging import Facts, Merged, facts, join_epoch, merge_records
from evalsuite.logs.steps.throughput import throughput, unlike_rest
from evalsuite.logs.steps.window import span, widened
from evalsuite.logs.text.intact import ALTERED
from evalsuite.logs.text.logfile import Unreadable
from evalsuite.logs.text.records import Arrival, Record, positive

DOUBT = rules.BatchDoubted.limit  # so many times apart, clock and printed rate do not measure the same thing
SAME_LINE = 1.1  # the same, where rate and time are in one line
_OF_DEVICE = re.compile(rb"(?i)(?:/|per|_)[ _]?(?:gpu|device|card|rank|chip|core|[tnx]pu|worker|p\b)")
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
    """Do the records of a scan fill the window?"""

    dialect: Dialect
    given: Given
    protocol: Protocol
    _judged: int = 0

    def __call__(self, scan: Scan) -> bool:
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
    rated: bool  # do its lines print rates?
    findings: tuple[Finding, ...] = ()


def measure_logs(paths: Sequence[Path], arrivals: Sequence[Arrival | None], dialect: Dialect, given: Given) -> Numbers:
    """Stops collecting at a full window; reads all records where that was too early. Raises Unreadable."""
    measured = given.protocol.measured_steps + MARGIN_STEPS
    protocol = replace(given.protocol, measured_steps=measured)
    steps = None if dialect.clock_s else protocol.warmup_steps + measured  # of a coarse clock more may be needed
    window = WindowFull(dialect, given, protocol)
    for full, most in ((None, None),) if given.all_records else ((window, steps), (None, None)):
        scans = [scan_log(path, dialect, full, steps=most, lines=given.lines) for path in paths]
        said = {name: value for scan in reversed(scans) for name, value in scan.facts.said.items()}
        records = [record for scan in scans for record in scan.records]
        said |= {"rated": 1.0} if any(record.rate is not None for record in records) else {}
        run = Pass(
            dialect=dialect,
            given=given,
            scans=scans,
            arrivals=arrivals,
            said=join_epoch(said, records, dialect) if "train_items" in said or dialect.epochs_are_steps else said,
            records=records,
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
    if together and numbers.throughput is None and (several := several_finals(run)):
        raise Unreadable(join(several, Message("logs.several_finals_jobs")))
    return numbers


def several_finals(run: Pass) -> Message | None:
    for least, most in (scan.finals for scan in run.scans):
        if most > least * (1 + rules.FinalDisagrees.limit):
            return Message("logs.several_finals", least=rate(least), most=rate(most))
    return None


def in_steps(run: Pass) -> Pass:
    """The same in steps/s: no line says how many items a step has, or whose rate is printed."""
    scans = [copy.copy(scan) for scan in run.scans]
    for scan in scans:
        scan.rest = copy.copy(scan.rest)
        for part in (scan, scan.rest):
            part.records = [record._replace(rate=None, consumed=None, global_batch=1.0) for record in part.records]
    records = [record for scan in scans for record in scan.records]
    return replace(run, dialect=replace(run.dialect, unit="steps/s", scope="global"), scans=scans, records=records)


def compute_numbers(run: Pass, known: Facts | None = None) -> Numbers:
    """Of the candidates (batch given or printed, scope declared or proven) the first without contradiction."""
    given, known = run.given, known or run.given.known
    told, dialect, protocol = facts(known, run.said, given.case), run.dialect, given.protocol
    proven = not given.scope and dialect.final and dialect.final_scope == "global" and (told.devices or 1) > 1
    since_start = any(record.mean_s is not None or record.elapsed_s is not None for record in run.records)
    factor = 1 if dialect.final_scope == "global" else told.devices
    resumed = positive(run.said.get("resumed_step"))  # then it counts what was trained before a checkpoint
    tried: list[Numbers] = []
    for scope in (None, "global", "per_device") if proven else (given.scope,):
        merged = merge_records([scan.records for scan in run.scans], dialect, told, arrivals=run.arrivals, scope=scope)
        measured, complete = throughput(merged.steps, dialect, protocol, epochs=merged.in_epochs, tick_s=merged.tick_s)
        alone = len(merged.steps) == 1 and not (dialect.warmed_up or merged.in_epochs)
        alone = alone and (dialect.name != "no_dialect" or run.records[0].step is not None)  # else it may be any report
        is_warmup = alone and merged.steps[0].index <= max(1, protocol.warmup_steps)
        is_warmup = is_warmup and (since_start or merged.steps[0].index <= merged.steps[0].steps)
        numbers = Numbers(
            run=run,
            facts=told,
            merged=merged,
            throughput=None if is_warmup else measured,
            final=None if run.final is None or factor is None or resumed else run.final * factor,
            complete=complete,
            is_warmup=is_warmup,
            rated=any(record.rate is not None for record in run.records),
        )
        tried.append(numbers)
        printed = numbers.throughput and numbers.throughput.printed_items_per_s
        apart = max(numbers.final / printed, printed / numbers.final) if printed and numbers.final else 0.0
        if not proven or not is_nearly(apart, told.devices or 1):
            break
    else:
        numbers = tried[0]
    one = next((text for name in ("alone", "single") if isinstance(text := run.said.get(name), bytes)), None)
    lacks = told.devices is None and numbers.throughput is None and numbers.final is None and len(run.records) > 1
    alone = numbers.rated and dialect.knows_scope and dialect.unit not in PIECES
    if lacks and alone and not _OF_DEVICE.search(dialect.step[0].sample):
        rates = [record.rate for record in run.records if record.rate]  # ips of Paddle's scripts, where one is usual
        one = one or b"%g %b" % (rates[-1], dialect.unit.encode())
    if lacks and one and dialect.unit not in NO_ITEMS and not (given.case or "launched" in run.said):
        sole = compute_numbers(run, replace(known, devices=1, assumed=one.decode("utf-8", "replace").strip()))
        return sole if sole.throughput else numbers
    stated = not given.case and known.batch_per_device is not None and not any(run.arrivals)
    denied = numbers.throughput and (numbers.throughput.findings or numbers.final)
    unsaid = run.said.keys().isdisjoint(("batch_per_device", "global_batch"))
    if stated and denied and unsaid and (doubt := _batch_doubt(numbers)):
        printed_alone = compute_numbers(run, replace(known, batch_per_device=None))
        if printed_alone.throughput or printed_alone.final:
            return replace(printed_alone, findings=(doubt, *printed_alone.findings))
    much_more = run.uncollected and run.uncollected >= len(run.records) / 2
    return _compare_tail(numbers) if numbers.complete and much_more else numbers


def _compare_tail(numbers: Numbers) -> Numbers:
    run, merged, known = numbers.run, numbers.merged, numbers.throughput
    if known is None or known.window is None or known.line_last is None or merged.in_epochs:
        return numbers
    begun = next(scan for scan in run.scans if scan.records)
    reached = bisect.bisect_right(begun.records, known.line_last, key=lambda record: record.line)
    begin = 0 if run.dialect.mean_reports else max(0, reached - LEAD_RECORDS * max(1, merged.printers))
    sample = [[*scan.records[begin:], *scan.rest.records] for scan in run.scans]
    behind = merge_records(sample, run.dialect, numbers.facts, arrivals=run.arrivals, scope=merged.scope)
    first, last = known.window.first_step, known.window.last_step
    inside = [step for step in merged.steps if first <= step.index <= last]
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
    clocks = [finding for finding in measured.findings if isinstance(finding, rules.ClockDisagrees)]
    rates = [finding.other_items_per_s for finding in clocks if finding.other_method == RATES]
    total = numbers.final if numbers.run.dialect.scope == "global" and not numbers.rated else None
    if (printed := next(iter(rates), total)) is None:
        return None
    factor = printed / measured.items_per_s
    limit = SAME_LINE if measured.method == TIMES and numbers.rated else DOUBT
    if 1 / limit < factor < limit or (devices and is_nearly(max(factor, 1 / factor), devices)):
        return None
    return rules.BatchDoubted(clock_items_per_s=measured.items_per_s, printed_items_per_s=printed, factor=factor)


def is_nearly(factor: float, whole: float) -> bool:
    return abs(factor / whole - 1) < NEARLY

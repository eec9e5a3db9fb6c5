"""The logs of a run as numbers: steps, facts of the job, the throughput of the whole job.

A batch size that contradicts the printed figures is not used, nor a scope that contradicts the log's own total.
"""

import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evalsuite.dialect import Dialect
from evalsuite.findings import BatchDoubted, RestDiffers
from evalsuite.logs.scan.scan import MAX_RECORDS, Scan, TooMany, scan_file
from evalsuite.logs.steps.merging import Facts, Merged, facts, merge_records
from evalsuite.logs.steps.throughput import throughput, unlike_rest
from evalsuite.logs.steps.window import Span, Timing, span
from evalsuite.logs.text.arrivals import Arrival
from evalsuite.logs.text.intact import ALTERED
from evalsuite.logs.text.logfile import Unreadable
from evalsuite.logs.text.records import Record, positive
from evalsuite.model import RATES, TIMES, Finding, Protocol, Step, Throughput, Window

DOUBT = BatchDoubted.limit  # times between clock and printed rate: the batch must be wrong
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


@dataclass
class WindowFull:
    """Do the records of a scan fill the window? Asked where they are not *steps* of one epoch, which surely do."""

    dialect: Dialect
    given: Given
    protocol: Protocol
    steps: int  # of the protocol
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
        found = merge_records([scan.records], self.dialect, told, scope=self.given.scope)
        chosen = span(found.steps, self.protocol, warmed_up=self.dialect.warmed_up, epochs=self.dialect.per_epoch)
        return chosen is not None and chosen.complete


@dataclass(frozen=True, kw_only=True)
class Pass:
    """What was found in each file, and what is given with them."""

    dialect: Dialect
    given: Given
    scans: Sequence[Scan]
    arrivals: Sequence[Arrival | None]
    said: Mapping[str, bytes | float]  # of several, by the first log that says it
    records: Sequence[Record]
    uncollected: int  # step lines of which no record was made
    final: float | None  # the log's own summary figure


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """What a pass makes as numbers."""

    run: Pass
    facts: Facts
    merged: Merged
    throughput: Throughput | None
    final: float | None  # the log's own figure over all devices
    complete: bool  # the window is as long as asked
    is_warmup: bool  # all that is reported is the first steps of a run, in one report
    findings: tuple[Finding, ...] = ()


def measure_logs(paths: Sequence[Path], arrivals: Sequence[Arrival | None], dialect: Dialect, given: Given) -> Numbers:
    """Stops collecting at a full window; reads all records where that was too early. Raises Unreadable."""
    measured = given.protocol.measured_steps + MARGIN_STEPS
    protocol = replace(given.protocol, measured_steps=measured)
    for full in (WindowFull(dialect, given, protocol, protocol.warmup_steps + measured), TooMany()):
        scans = [scan_file(path, dialect, full) for path in paths]
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
    if any(scan.intact.is_altered() for scan in run.scans):
        raise Unreadable(ALTERED)
    return numbers


def compute_numbers(run: Pass) -> Numbers:
    """Of the candidates (batch given or printed, scope declared or proven) the first without contradiction."""
    numbers = _choose_scope(run, run.given.known)
    stated = not run.given.case and run.given.known.batch_per_device is not None
    printed_too = "batch_per_device" in run.said or "global_batch" in run.said
    if stated and not printed_too and (doubt := _batch_doubt(numbers)):
        printed = _choose_scope(run, replace(run.given.known, batch_per_device=None))
        if printed.throughput or printed.final:
            numbers = replace(printed, findings=(doubt,))
    much_more = run.uncollected and run.uncollected >= len(run.records) / 2
    return _compare_tail(numbers) if numbers.complete and much_more else numbers


def _choose_scope(run: Pass, known: Facts) -> Numbers:
    """The first scope that the log's own total does not deny; if it denies all, the declared."""
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
    found = merge_records([scan.records for scan in run.scans], dialect, told, arrivals=run.arrivals, scope=scope)
    measured, complete = throughput(
        found.steps,
        unit=dialect.unit,
        protocol=protocol,
        warmed_up=dialect.warmed_up,
        epochs=found.in_epochs,
        trust_stamps=dialect.trust_stamps,
        tick_s=found.tick_s,
    )
    is_warmup = len(found.steps) == 1 and not (dialect.warmed_up or found.in_epochs) and _is_warmup(run, found.steps[0])
    factor = 1 if dialect.final_scope == "global" else told.devices
    resumed = positive(run.said.get("resumed_step"))  # then it counts what was trained before a checkpoint
    return Numbers(
        run=run,
        facts=told,
        merged=found,
        throughput=None if is_warmup else measured,
        final=None if run.final is None or factor is None or resumed else run.final * factor,
        complete=complete,
        is_warmup=is_warmup,
    )


def _is_warmup(run: Pass, step: Step) -> bool:
    """Start-up is inside a report that begins with the run, or whose time does."""
    since_start = any(record.mean_s is not None or record.elapsed_s is not None for record in run.records)
    return (since_start or step.index <= step.steps) and step.index <= max(1, run.given.protocol.warmup_steps)


def _compare_tail(numbers: Numbers) -> Numbers:
    run, found, known = numbers.run, numbers.merged, numbers.throughput
    if known is None or known.window is None or known.line_last is None or found.in_epochs:
        return numbers
    begun = next(scan for scan in run.scans if scan.records)
    reached = bisect.bisect_right(begun.records, known.line_last, key=lambda record: record.line)
    begin = 0 if run.dialect.mean_reports else max(0, reached - LEAD_RECORDS * max(1, found.printers))
    sample = [[*scan.records[begin:], *scan.rest.records] for scan in run.scans]
    behind = merge_records(sample, run.dialect, numbers.facts, arrivals=run.arrivals, scope=found.scope)
    inside = _within(found.steps, known.window)
    differs = tuple(unlike_rest(known, inside, behind.steps, trust_stamps=run.dialect.trust_stamps))
    own = tuple(one for one in known.findings if not isinstance(one, RestDiffers))  # of the few steps read so far
    return replace(numbers, throughput=replace(known, findings=(*own, *differs)))


def _batch_doubt(numbers: Numbers) -> Finding | None:
    """Is the clock so far from what is printed that the batch given must be wrong?

    Where both are apart by the number of devices, it may be the scope instead.
    """
    measured, devices = numbers.throughput, numbers.facts.devices
    if measured is None or measured.items_per_s is None or measured.window is None or measured.method == RATES:
        return None
    rated = any(record.rate is not None for record in numbers.run.records)
    total = numbers.final if numbers.run.dialect.scope == "global" else None
    printed = _mean_rate(_within(numbers.merged.steps, measured.window)) if rated else total
    if printed is None:
        return None
    factor = printed / measured.items_per_s
    limit = SAME_LINE if measured.method == TIMES and rated else DOUBT
    if 1 / limit < factor < limit or (devices and is_nearly(max(factor, 1 / factor), devices)):
        return None
    return BatchDoubted(clock_items_per_s=measured.items_per_s, printed_items_per_s=printed, factor=factor)


def _mean_rate(reports: Sequence[Step]) -> float | None:
    return Timing(span=Span(before=None, reports=tuple(reports), complete=True), method=RATES).value


def _within(steps: Sequence[Step], window: Window) -> list[Step]:
    return [step for step in steps if window.first_step <= step.index <= window.last_step]


def is_nearly(factor: float, whole: float) -> bool:
    return abs(factor / whole - 1) < NEARLY

"""One pass over the logs of a run as numbers: steps, facts of the job, the throughput of the whole job.

A batch size that contradicts what is printed is not believed, and neither is a scope that a log's own total denies.
"""

import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from evalsuite.dialect import Dialect, Scope
from evalsuite.findings import BatchDoubted, RestDiffers
from evalsuite.logs.scan.scan import MAX_RECORDS, Scan
from evalsuite.logs.steps import window
from evalsuite.logs.steps.merging import Facts, Merged, facts, merge_records
from evalsuite.logs.text.arrivals import Arrival
from evalsuite.logs.text.records import Record, enough, positive
from evalsuite.model import TIMES, Finding, Protocol, Step, Throughput, Window

DOUBT = BatchDoubted.limit  # times between clock and printed rate: the batch must be wrong
SAME_LINE = 1.1  # the same, where rate and time stand in one line
NEARLY = 0.1  # to a factor of the devices
LEAD_RECORDS = 2  # of each printer: where the first increment behind the window begins

MARGIN_STEPS = 20  # behind the window: other ranks print the same step a little later


@dataclass(frozen=True, kw_only=True)
class Given:
    """What the caller knows and wants."""

    known: Facts
    case: bool  # from a case, whose recipe chose it
    protocol: Protocol
    scope: str | None
    ended_well: bool = False  # every process, with exit code 0


class WindowFull:
    """Do the records of a scan fill the window? A quick answer for plain logs, else that of the window itself."""

    def __init__(self, dialect: Dialect, given: Given) -> None:
        self._dialect, self._given = dialect, given
        measured = given.protocol.measured_steps + MARGIN_STEPS
        self._protocol = replace(given.protocol, measured_steps=measured)
        self.steps = self._protocol.total_steps
        self._judged = 0

    def __call__(self, scan: Scan) -> bool:
        if enough(scan.records, self.steps) or len(scan.records) > MAX_RECORDS:
            return True
        if len(scan.records) < 2 * self._judged or self._are_too_few(scan.records):
            return False
        self._judged = len(scan.records)
        told = facts(self._given.known, scan.facts.said, self._given.case)
        found = merge_records([scan.records], self._dialect, told, scope=self._given.scope)
        span = window.span(
            found.steps, self._protocol, warmed_up=self._dialect.warmed_up, epochs=self._dialect.per_epoch
        )
        return span is not None and span.complete

    def _are_too_few(self, records: Sequence[Record]) -> bool:
        """Then there is no need to merge a log before its end."""
        first, last = records[0], records[-1]
        if last.step is None or last.epoch != first.epoch:
            return False
        return (last.step + 1) * self._dialect.each < self._protocol.measured_steps


@dataclass(frozen=True, kw_only=True)
class Pass:
    """What was found in each file, and what is given beside them."""

    dialect: Dialect
    given: Given
    scans: Sequence[Scan]
    arrivals: Sequence[Arrival | None]

    @cached_property
    def said(self) -> Mapping[str, bytes | float]:
        """Of several, the first log that says it."""
        return {name: value for scan in reversed(self.scans) for name, value in scan.facts.said.items()}

    @cached_property
    def records(self) -> list[Record]:
        return [record for scan in self.scans for record in scan.records]

    @property
    def uncollected(self) -> int:
        """Step lines of which no record was made."""
        return sum(scan.uncollected for scan in self.scans)

    @property
    def final(self) -> float | None:
        """The log's own summary figure."""
        return next((scan.final for scan in self.scans if scan.final is not None), None)

    def merge(self, files: Sequence[Sequence[Record]], facts: Facts, scope: str | None) -> Merged:
        return merge_records(files, self.dialect, facts, arrivals=self.arrivals, scope=scope)


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """What a pass makes as numbers."""

    run: Pass
    facts: Facts
    merged: Merged
    throughput: Throughput | None
    final: float | None  # the log's own figure over all devices
    complete: bool  # the window is as long as asked
    findings: tuple[Finding, ...] = ()


def compute_numbers(run: Pass) -> Numbers:
    """Of the candidates (batch given or printed, scope declared or proven) the first without contradiction."""
    numbers = _choose_scope(run, run.given.known)
    if not run.given.case and run.given.known.batch_per_device is not None:
        doubt = _batch_doubt(numbers)
        printed = _choose_scope(run, replace(run.given.known, batch_per_device=None)) if doubt else numbers
        if doubt and (printed.throughput or printed.final):
            numbers = replace(printed, findings=(doubt,))
    return _compare_tail(numbers)


def _choose_scope(run: Pass, known: Facts) -> Numbers:
    """The first scope that the log's own total does not deny; if it denies all, the declared."""
    told = facts(known, run.said, run.given.case)
    tried = (_numbers(run, told, scope) for scope in (run.given.scope, *_other_scopes(run.given.scope, run.dialect)))
    first = next(tried)
    return next((numbers for numbers in (first, *tried) if not _is_contradicted(numbers)), first)


def _numbers(run: Pass, told: Facts, scope: str | None) -> Numbers:
    found = run.merge([scan.records for scan in run.scans], told, scope)
    measured, complete = window.throughput(
        found.steps,
        unit=run.dialect.unit,
        protocol=run.given.protocol,
        warmed_up=run.dialect.warmed_up,
        epochs=in_epochs(found.steps, run.dialect),
        trust_stamps=run.dialect.trust_stamps,
        tick_s=found.tick_s,
    )
    measured = None if is_warmup_alone(run, found.steps) else measured
    final = _final(run, told)
    return Numbers(run=run, facts=told, merged=found, throughput=measured, final=final, complete=complete)


def _compare_tail(numbers: Numbers) -> Numbers:
    run, found, known = numbers.run, numbers.merged, numbers.throughput
    if not numbers.complete or run.uncollected < len(run.records) / 2 or not run.uncollected:
        return numbers
    if known is None or known.window is None or known.line_last is None or in_epochs(found.steps, run.dialect):
        return numbers
    begun = next(scan for scan in run.scans if scan.records)
    reached = bisect.bisect_right(begun.records, known.line_last, key=lambda record: record.line)
    begin = 0 if run.dialect.mean_reports else max(0, reached - LEAD_RECORDS * max(1, found.printers))
    sample = [[*scan.records[begin:], *scan.rest.records] for scan in run.scans]
    behind = run.merge(sample, numbers.facts, found.scope)
    inside = within(found.steps, known.window)
    differs = tuple(window.unlike_rest(known, inside, behind.steps, trust_stamps=run.dialect.trust_stamps))
    own = tuple(one for one in known.findings if not isinstance(one, RestDiffers))  # of the few steps read so far
    return replace(numbers, throughput=replace(known, findings=(*own, *differs)))


def _batch_doubt(numbers: Numbers) -> Finding | None:
    """Is the clock so far from what is printed that the batch given must be wrong?

    Where both are apart by the number of devices, it may be the scope instead.
    """
    measured, devices, said = numbers.throughput, numbers.facts.devices, numbers.run.said
    rated = any(record.rate is not None for record in numbers.run.records)
    if (
        measured is None
        or measured.items_per_s is None
        or measured.window is None
        or measured.is_mean_of_rates
        or "batch_per_device" in said
        or "global_batch" in said
    ):
        return None
    total = numbers.final if numbers.run.dialect.scope == "global" else None
    printed = window.mean_rate(within(numbers.merged.steps, measured.window)) if rated else total
    if printed is None:
        return None
    factor = printed / measured.items_per_s
    limit = SAME_LINE if measured.method == TIMES and rated else DOUBT
    if 1 / limit < factor < limit or (devices and _nearly(max(factor, 1 / factor), devices)):
        return None
    return BatchDoubted(clock_items_per_s=measured.items_per_s, printed_items_per_s=printed, factor=factor)


def within(steps: Sequence[Step], span: Window) -> list[Step]:
    return [step for step in steps if span.first_step <= step.index <= span.last_step]


def _nearly(factor: float, whole: float) -> bool:
    return abs(factor / whole - 1) < NEARLY


def is_warmup_alone(run: Pass, steps: Sequence[Step]) -> bool:
    records = run.records if len(steps) == 1 else []
    since_start = any(record.mean_s is not None or record.elapsed_s is not None for record in records)
    warmed_up = run.dialect.warmed_up or in_epochs(steps, run.dialect)
    return window.warmup_alone(steps, run.given.protocol, warmed_up=warmed_up, since_start=since_start)


def in_epochs(steps: Sequence[Step], dialect: Dialect) -> bool:
    """Does each report cover an epoch of unknown length?"""
    return dialect.per_epoch and (dialect.epochs_are_steps or not any(step.steps > 1 for step in steps))


def _other_scopes(scope: str | None, dialect: Dialect) -> tuple[Scope, ...]:
    """What a log's own total can prove the step lines to be."""
    return () if scope or not dialect.final or dialect.final_scope != "global" else ("global", "per_device")


def _is_contradicted(numbers: Numbers) -> bool:
    """Is the printed figure a whole factor of the devices away from the log's own total?"""
    devices, printed = numbers.facts.devices, numbers.throughput and numbers.throughput.printed_items_per_s
    if not devices or devices == 1 or not printed or not numbers.final:
        return False
    ratio = max(numbers.final / printed, printed / numbers.final)
    return _nearly(ratio, devices)


def _final(run: Pass, told: Facts) -> float | None:
    """Over all devices; none where it counts what was trained before a checkpoint."""
    if positive(run.said.get("resumed_step")):
        return None
    if run.final is None or run.dialect.final_scope == "global":
        return run.final
    return None if told.devices is None else run.final * told.devices

"""What a log says: which dialect it is, its steps, its throughput over all devices, or why there is none.

Nothing here starts anything or asks the time: the same bytes give the same reading.
"""

import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from evalsuite.dialect import Dialect
from evalsuite.findings import (
    BatchFromArgument,
    DevicesAssumed,
    FailedAtExit,
    FinalDisagrees,
    LineLeftOut,
    RestDiffers,
)
from evalsuite.logs import catalogue
from evalsuite.logs.scan import failures, timers
from evalsuite.logs.scan.scan import MAX_RECORDS, Quiet, Scan, TooMany, scanned
from evalsuite.logs.sniffing import Sniffer
from evalsuite.logs.sniffing import sniffer as sniffer_of
from evalsuite.logs.status import confidence as certainty
from evalsuite.logs.status import status as worth
from evalsuite.logs.steps import merging as steps_room
from evalsuite.logs.steps import window
from evalsuite.logs.steps.job import Facts, batch_per_device, contradictions
from evalsuite.logs.steps.job import facts as facts_of
from evalsuite.logs.steps.numbers import Given, Numbers, in_epochs, numbers_of, within
from evalsuite.logs.text.intact import ALTERED, is_altered_log
from evalsuite.logs.text.logfile import Unreadable, chunks, kind
from evalsuite.logs.text.records import Record, enough, number, positive, whole
from evalsuite.model import Breakdown, Case, Certainty, Finding, Protocol, Score, Status, Step, Throughput

if TYPE_CHECKING:
    from evalsuite.runs.store import Log

_PUBLIC_SCOPE = {"global": "global", "per_device": "per_device", "own": "per_device"}
DISAGREE = FinalDisagrees.limit  # between the log's own final figure and ours
SNIFF_BYTES = 3 << 14  # from where a dialect fits, so much is looked at for one that says more
LOOK_BACK_BYTES = 1 << 12
THOROUGH_BYTES = 1 << 22  # of a log in whose first lines no dialect fits, every chunk is looked at so far
SAMPLED_BYTES = 1 << 25
SAMPLED_CHUNKS, SELDOM = 8, 64  # and behind that one of so many up to there, and one of so many later, before all are
LEAD_RECORDS = 2  # of each printer, from which the first increment behind the window is told
MARGIN_STEPS = 20  # read so much further than the window: other ranks print the same step a little later


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One log, or the logs of one run, as numbers."""

    dialect: str | None
    framework: str | None
    model: str | None
    scope: str | None  # whose rate the log prints: "global" or "per_device"
    status: Status
    reason: str = ""
    steps: tuple[Step, ...] = ()
    throughput: Throughput | None = None
    reported_final: float | None = None  # the log's own summary figure, over all devices
    unit: str | None = None
    steps_reported: int = 0
    printers: int = 0  # processes that printed steps
    total_devices: int | None = None
    batch_per_device: float | None = None
    breakdown: Breakdown | None = None  # of the step time, by the script's own timers
    scores: tuple[Score, ...] = ()  # how good the model was after each epoch
    certainty: Certainty | None = None  # how sure the throughput is; None where there is none
    certainty_reason: str = ""
    findings: tuple[Finding, ...] = ()
    unfinished: Finding | None = None  # how the log stops short of its script's end, with status "incomplete"
    items_per_epoch: float | None = None  # of the whole job
    printed: Mapping[str, str] = field(default_factory=dict)  # facts of the job, by the names of criteria/facts.toml


def read_run(
    logs: "Sequence[Log]",
    case: Case,
    dialect: str | None = None,
    *,
    scope: str | None = None,
    dialects: Mapping[str, Dialect] | None = None,
    ended_well: bool = False,
) -> Reading:
    """The run of *case* whose processes wrote *logs*. *dialect* is the one its recipe names; else it is found.

    Where the processes *ended_well* and the window is complete, what a host complains of that printed no step is a
    finding and no failure: torchrun says there that the first host has already left.
    """
    known = Facts(
        devices=case.total_devices,
        nodes=case.nodes,
        batch_per_device=case.batch_per_device,
        model=case.model,
    )
    paths = [log.path for log in logs]
    arrivals = [_arrivals(log.arrivals) for log in logs]
    asked = Given(known=known, case=True, protocol=case.protocol, scope=scope, ended_well=ended_well)
    return _read(paths, arrivals, asked, dialect, dialects)


def read_file(
    path: Path,
    *,
    dialect: str | None = None,
    devices: int | None = None,
    batch_per_device: float | None = None,
    protocol: Protocol | None = None,
    scope: str | None = None,
    dialects: Mapping[str, Dialect] | None = None,
) -> Reading:
    """The log at *path*; what it does not say of devices and batch is taken from the arguments."""
    known = Facts(devices=devices, batch_per_device=batch_per_device)
    asked = Given(known=known, case=False, protocol=protocol or Protocol(), scope=scope)
    return _read([Path(path)], [None], asked, dialect, dialects)


def sniffed(path: Path, sniffer: Sniffer) -> list[Dialect]:
    """The dialects that fit the log best: none, one, or several equally. Raises Unreadable.

    Judged by the first lines that any dialect knows and what stands near them, never by the file's name. Of a long
    preamble every so many chunks are looked at first, and its end; the others only if nothing is found there.
    """
    found: list[Dialect] = []
    text, passed_over = b"", False
    for place, chunk in enumerate(chunks(path, bare=True)):
        seldom = SELDOM if chunk.offset > SAMPLED_BYTES else SAMPLED_CHUNKS
        if not found and chunk.offset > THOROUGH_BYTES and place % seldom:
            text, passed_over = chunk.text, True
            continue
        text = text + chunk.text if found else text[-LOOK_BACK_BYTES:] + chunk.text
        found = found or sniffer.fits(text)
        if found and (len(text) >= SNIFF_BYTES or not any(dialect.yields_to for dialect in found)):
            break
    found = found or sniffer.fits(text)
    if not found and passed_over:
        text, found = _first_fitting(path, sniffer)
    return sniffer.stronger(text[:SNIFF_BYTES], found)


def _first_fitting(path: Path, sniffer: Sniffer) -> tuple[bytes, list[Dialect]]:
    """The first chunk of a log in which any dialect finds a line, and which do."""
    for chunk in chunks(path, bare=True):
        if found := sniffer.fits(chunk.text):
            return chunk.text, found
    return b"", []


def _read(
    paths: Sequence[Path],
    arrivals: Sequence[steps_room.Arrival | None],
    asked: Given,
    name: str | None,
    dialects: Mapping[str, Dialect] | None,
) -> Reading:
    dialects = catalogue.known() if dialects is None else dialects
    try:
        spoken = _dialect(paths, name, dialects)
        if isinstance(spoken, Reading):
            return spoken
        enough = _Enough(spoken, asked)
        scans = [scanned(path, spoken, enough) for path in paths]
        numbers = numbers_of(scans, arrivals, spoken, asked)
        if not numbers.complete and any(scan.uncollected for scan in scans):
            scans = [scanned(path, spoken, TooMany()) for path in paths]
            numbers = numbers_of(scans, arrivals, spoken, asked)
        elif sum(scan.uncollected for scan in scans) >= sum(len(scan.records) for scan in scans) / 2:
            numbers = _against_rest(numbers, scans, arrivals, spoken, asked)
        if any(scan.intact.is_altered() for scan in scans):
            return _unrecognised(ALTERED)
    except Unreadable as error:
        return _unrecognised(f"{error}")
    scored = (scan.scores.scores(arrival) for scan, arrival in zip(scans, arrivals, strict=True))
    return _reading(scans, spoken, asked, numbers, next(filter(None, scored), ()))


def _against_rest(
    numbers: "Numbers",
    scans: Sequence[Scan],
    arrivals: Sequence[steps_room.Arrival | None],
    spoken: Dialect,
    asked: Given,
) -> "Numbers":
    """*numbers* of a window, with a finding if the log says that the steps after it went otherwise."""
    found, known = numbers.merged, numbers.throughput
    if known is None or known.window is None or known.line_last is None or in_epochs(found.steps, spoken):
        return numbers
    begun = next(scan for scan in scans if scan.records)
    reached = bisect.bisect_right(begun.records, known.line_last, key=lambda record: record.line)
    begin = 0 if spoken.mean_reports else max(0, reached - LEAD_RECORDS * max(1, found.printers))
    sample = [[*scan.records[begin:], *scan.rest.records] for scan in scans]
    behind = steps_room.merged(sample, spoken, numbers.facts, arrivals=arrivals, scope=found.scope)
    inside = within(found.steps, known.window)
    differs = tuple(window.unlike_rest(known, inside, behind.steps, trust_stamps=spoken.trust_stamps))
    own = tuple(one for one in known.findings if not isinstance(one, RestDiffers))  # of the few steps read so far
    return replace(numbers, throughput=replace(known, findings=(*own, *differs)))


def _dialect(paths: Sequence[Path], name: str | None, dialects: Mapping[str, Dialect]) -> Dialect | Reading:
    """The dialect of the logs, or their reading where none fits."""
    if name is not None:
        return catalogue.chosen(name, dialects)
    sniffer = sniffer_of(tuple(dialects.values()))
    for path in paths:
        found = sniffed(path, sniffer)
        if len(found) == 1:
            return found[0]
        if found:
            names = " and ".join(dialect.name for dialect in found)
            return _unrecognised(f"{names} fit this log equally well; say which with --dialect")
    return _silent(paths, dialects.values())


def _silent(paths: Sequence[Path], dialects: Iterable[Dialect]) -> Reading:
    """The reading of logs in which no dialect finds a line."""
    if not paths:
        return _unrecognised("there is no log")
    nothing, skipped = True, 0
    for path in paths:
        quiet = Quiet(None)
        for chunk in chunks(path):
            if nothing and (other := kind(chunk.text)):
                return _unrecognised(f"no log, but {other}")
            quiet.add(chunk, steps=False)
            nothing, skipped = False, skipped + chunk.skipped
        failure = failures.failure(quiet.lines())
        if failure:
            return replace(_unrecognised(failure.reason), status="failed")
    if nothing:
        return _unrecognised("the log is empty")
    if skipped:
        return _unrecognised(
            f"no known dialect fits any of its lines, and {skipped:,} bytes stand in lines too long for a log"
        )
    if is_altered_log(paths[0], dialects):
        return _unrecognised(ALTERED)
    return _unrecognised("no known dialect fits any of its lines; `evalsuite dialects --explain` shows why")


def _unrecognised(reason: str) -> Reading:
    return Reading(dialect=None, framework=None, model=None, scope=None, status="unrecognised", reason=reason)


# from what was found to a reading


class _Enough:
    """Do the records of a scan fill the window? A quick answer for plain logs, else that of the window itself."""

    def __init__(self, dialect: Dialect, asked: Given) -> None:
        self._dialect, self._asked = dialect, asked
        measured = asked.protocol.measured_steps + MARGIN_STEPS
        self._protocol = replace(asked.protocol, measured_steps=measured)
        self.steps = self._protocol.total_steps
        self._judged = 0

    def __call__(self, scan: Scan) -> bool:
        if enough(scan.records, self.steps) or len(scan.records) > MAX_RECORDS:
            return True
        if len(scan.records) < 2 * self._judged or self._too_few(scan.records):
            return False
        self._judged = len(scan.records)
        facts = facts_of(self._asked.known, scan.facts, self._asked.case)
        found = steps_room.merged([scan.records], self._dialect, facts, scope=self._asked.scope)
        epochs = self._dialect.per_epoch
        span = window.span(found.steps, self._protocol, warmed_up=self._dialect.warmed_up, epochs=epochs)
        return span is not None and span.complete

    def _too_few(self, records: Sequence[Record]) -> bool:
        """Has the training not even reached that many steps? Then there is no need to merge a log before its end."""
        first, last = records[0], records[-1]
        if last.step is None or last.epoch != first.epoch:
            return False
        return (last.step + 1) * self._dialect.each < self._protocol.measured_steps


def _reading(
    scans: Sequence[Scan], dialect: Dialect, asked: Given, numbers: Numbers, scores: tuple[Score, ...]
) -> Reading:
    found, facts, measured = numbers.merged, numbers.facts, numbers.throughput
    final = numbers.final
    if measured is None and final is not None:
        measured = Throughput(items_per_s=final, unit=dialect.unit, method=worth.FINAL, window=None)
    failure = worth.failure(scans)
    at_exit = failure if failure and worth.trained(scans, asked, numbers) else None
    findings = (
        *([FailedAtExit(failure=at_exit.kind, line=at_exit.line, text=at_exit.text)] if at_exit else ()),
        *dict.fromkeys(finding for scan in scans[:1] for finding in scan.incidents.findings()),
        *found.findings,
        *numbers.findings,
        *contradictions(asked.known, numbers.said),
        *((BatchFromArgument(text=facts.argument),) if facts.argument and measured and _counted(found.steps) else ()),
        *_devices_assumed(scans, numbers, asked),
        *([LineLeftOut(bytes=skipped)] if (skipped := sum(scan.skipped for scan in scans)) else ()),
        *_final_findings(measured, final),
    )
    before_end = None if at_exit else failure
    status, reason = worth.status(scans, dialect, replace(numbers, throughput=measured), asked.protocol, before_end)
    relayed = any(step.relay_s is not None for step in found.steps)
    doubt = None if measured is None else certainty.doubt(measured, facts, relayed=relayed) or _denied(scans, measured)
    if doubt is not None:
        measured = None if measured is None else replace(measured, items_per_s=None)
        status, reason = (status, reason) if status == "failed" else ("doubtful", doubt)
    sure = None if measured is None or measured.items_per_s is None else certainty.grade(measured, findings)
    return Reading(
        dialect=dialect.name,
        framework=dialect.framework,
        model=asked.known.model or facts.model or dialect.model,
        scope=_PUBLIC_SCOPE.get(found.scope),
        status=status,
        reason=reason,
        steps=found.steps,
        throughput=measured,
        reported_final=final,
        unit=dialect.unit,
        steps_reported=len(found.steps) + sum(scan.uncollected for scan in scans) // max(1, found.printers),
        printers=found.printers,
        total_devices=facts.devices,
        batch_per_device=None if dialect.epochs_are_steps else batch_per_device(facts),
        breakdown=_breakdown(scans, dialect, measured),
        scores=scores,
        certainty=sure.certainty if sure else None,
        certainty_reason=sure.reason if sure else "",
        findings=findings,
        unfinished=worth.unfinished(scans, dialect) if status == "incomplete" else None,
        items_per_epoch=facts.items_per_epoch,
        printed=_printed(numbers.said),
    )


def _counted(steps: Sequence[Step]) -> bool:
    """Does a batch count what is trained? Not where it is one of sequences and the rates printed are of tokens."""
    return any(step.items is not None for step in steps)


def _devices_assumed(scans: Sequence[Scan], numbers: Numbers, asked: Given) -> Iterator[Finding]:
    """Does the number rest on times of one process, on devices that only an option tells, and on nothing else?"""
    found, devices, said = numbers.merged, asked.known.devices, numbers.said
    if numbers.throughput is None or asked.case or devices in (None, 1) or found.printers > 1:
        return
    told = any(name in said for name in ("devices", "world_size", "devices_per_node", "global_batch", "epoch_items"))
    records = [record for scan in scans for record in scan.records]
    counted = any(one.rate or one.items or one.consumed or one.global_batch or one.steps_per_s for one in records)
    if devices is not None and not told and not counted and numbers.facts.global_batch is None:
        yield DevicesAssumed(devices=devices)


def _denied(scans: Sequence[Scan], measured: Throughput) -> str | None:
    """What the second derivation of a log says against the first."""
    if measured.items_per_s is None:
        return None
    said = (scan.second.contradiction(measured.items_per_s) for scan in scans if scan.second is not None)
    return next(filter(None, said), None)


def _printed(said: Mapping[str, bytes | float]) -> dict[str, str]:
    """What the log says of the job and no case has."""
    known = {name: positive(said.get(name)) for name in ("global_batch", "accumulation")}
    return {name: f"{value:g}" for name, value in known.items() if value is not None}


def _breakdown(scans: Sequence[Scan], dialect: Dialect, measured: Throughput | None) -> Breakdown | None:
    """That of the first log with timers: of several processes each has its own, and none is a part of another."""
    window_of = measured.window if measured else None
    found = (timers.breakdown(scan.timers.timed(), window_of, dialect.timers) for scan in scans)
    return next((one for one in found if one is not None), None)


def _final_findings(measured: Throughput | None, final: float | None) -> Iterator[Finding]:
    if measured is None or measured.items_per_s is None or final is None:
        return
    if abs(final / measured.items_per_s - 1) <= DISAGREE:
        return
    yield FinalDisagrees(
        final_items_per_s=final,
        items_per_s=measured.items_per_s,
        difference=final / measured.items_per_s - 1,
    )


# arrival times


def _arrivals(path: Path) -> steps_room.Arrival | None:
    """When the byte before an offset of the log arrived: the first chunk that reaches so far. None: no record."""
    try:
        rows = path.read_bytes().splitlines()[1:]
    except OSError:
        return None
    cells = [row.split(b",") for row in rows if row.count(b",") == 1]
    known = [
        (end, at) for end, at in ((whole(end), number(at)) for end, at in cells) if end is not None and at is not None
    ]
    ends, at_s = [end for end, _ in known], [at for _, at in known]

    def arrival(end: int) -> float | None:
        index = bisect.bisect_left(ends, end)
        return at_s[index] if index < len(at_s) else None

    return arrival if known else None

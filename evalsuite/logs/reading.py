"""What a log says: which dialect it is, its steps, its throughput over all devices, or why there is none.

Nothing here starts anything or asks the time: the same bytes give the same reading.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from evalsuite.dialect import Dialect
from evalsuite.findings import BatchFromArgument, DevicesAssumed, FailedAtExit, FinalDisagrees, LineLeftOut
from evalsuite.logs import catalogue
from evalsuite.logs.recognition import recognise
from evalsuite.logs.scan import failures
from evalsuite.logs.scan.collectors import CollectiveLines
from evalsuite.logs.scan.failures import Failure
from evalsuite.logs.steps.merging import Facts, contradictions
from evalsuite.logs.steps.numbers import (
    FINAL,
    Given,
    Numbers,
    explain_grade,
    find_doubt,
    grade,
    has_trained,
    judge_status,
    measure_logs,
    unfinished,
)
from evalsuite.logs.text.arrivals import Arrival, read_arrivals
from evalsuite.logs.text.logfile import Unreadable
from evalsuite.logs.text.records import positive
from evalsuite.messages import message_of
from evalsuite.model import Breakdown, Case, Certainty, Finding, Protocol, Score, Status, Step, Throughput

if TYPE_CHECKING:
    from evalsuite.runs.store import Log

_PUBLIC_SCOPE = {"global": "global", "per_device": "per_device", "own": "per_device"}
DISAGREE = FinalDisagrees.limit


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
    breakdown: Breakdown | None = None  # by the script's own timers
    scores: tuple[Score, ...] = ()
    certainty: Certainty | None = None
    findings: tuple[Finding, ...] = ()
    unfinished: Finding | None = None  # how the log stops short of its script's end, with status "incomplete"
    items_per_epoch: float | None = None  # of the whole job
    in_epochs: bool = False  # each report is an epoch of unknown length
    printed: Mapping[str, str] = field(default_factory=dict)  # by the names of criteria/facts.toml
    collectives: tuple[CollectiveLines, ...] = ()  # of each log

    @property
    def certainty_reason(self) -> str:
        if self.certainty is None or self.throughput is None:
            return ""
        return explain_grade(self.certainty, self.throughput)


def read_run(
    logs: "Sequence[Log]",
    case: Case,
    dialect: str | None = None,
    *,
    scope: str | None = None,
    steps_per_report: int | None = None,
    dialects: Mapping[str, Dialect] | None = None,
    ended_well: bool = False,
) -> Reading:
    """The run of *case* whose processes wrote *logs*. *dialect* is the one its recipe names; else it is found.

    Where all processes *ended_well* and the window is complete, the complaints of a host that printed no step are no
    failure: torchrun says there that the first host has already left.
    """
    known = Facts(
        devices=case.total_devices,
        nodes=case.nodes,
        batch_per_device=case.batch_per_device,
        model=case.model,
    )
    given = Given(
        known=known,
        case=True,
        protocol=case.protocol,
        scope=scope,
        ended_well=ended_well,
        steps_per_report=steps_per_report,
    )
    return _read([log.path for log in logs], [read_arrivals(log.arrivals) for log in logs], given, dialect, dialects)


def read_file(
    path: Path,
    *,
    dialect: str | None = None,
    devices: int | None = None,
    batch_per_device: float | None = None,
    protocol: Protocol | None = None,
    scope: str | None = None,
    steps_per_report: int | None = None,
    dialects: Mapping[str, Dialect] | None = None,
) -> Reading:
    """The log at *path*; what it does not say of devices and batch is taken from the arguments."""
    known = Facts(devices=devices, batch_per_device=batch_per_device)
    given = Given(
        known=known, case=False, protocol=protocol or Protocol(), scope=scope, steps_per_report=steps_per_report
    )
    return _read([Path(path)], [None], given, dialect, dialects)


def _read(
    paths: Sequence[Path],
    arrivals: Sequence[Arrival | None],
    given: Given,
    name: str | None,
    dialects: Mapping[str, Dialect] | None,
) -> Reading:
    try:
        dialect = recognise(paths, name, catalogue.known() if dialects is None else dialects)
        if given.steps_per_report and dialect.per_epoch and not dialect.epochs_are_steps:
            dialect = replace(dialect, every=given.steps_per_report, per_epoch=False)
        numbers = measure_logs(paths, arrivals, dialect, given)
    except Unreadable as error:
        status: Status = "failed" if error.failed else "unrecognised"
        return Reading(dialect=None, framework=None, model=None, scope=None, status=status, reason=message_of(error))
    return _judge(numbers)


# from numbers to a reading


def _judge(numbers: Numbers) -> Reading:
    run, found, told, final = numbers.run, numbers.merged, numbers.facts, numbers.final
    if numbers.throughput is None and final is not None:
        total = Throughput(items_per_s=final, unit=run.dialect.unit, method=FINAL, window=None)
        numbers = replace(numbers, throughput=total)
    measured = numbers.throughput
    endings = [lines for scan in run.scans if (lines := scan.behind.lines())]
    failure = next((hit for lines in endings if (hit := failures.failure(lines))), None)
    at_exit = failure if failure and has_trained(numbers) else None
    findings = tuple(_findings(numbers, at_exit))
    status, reason = judge_status(numbers, None if at_exit else failure)
    doubt = None if measured is None else find_doubt(numbers, measured)
    if doubt is not None:
        measured = None if measured is None else replace(measured, items_per_s=None)
        status, reason = (status, reason) if status == "failed" else ("doubtful", doubt)
    sure = None if measured is None or measured.items_per_s is None else grade(measured, findings)
    batches = {name: positive(run.said.get(name)) for name in ("global_batch", "accumulation")}  # what no case has
    stop = unfinished(run) if status == "incomplete" else None
    window = measured.window if measured else None
    parts = (scan.timers.breakdown(window) for scan in run.scans)
    scored = (scan.scores.scores(arrival) for scan, arrival in zip(run.scans, run.arrivals, strict=True) if scan.scores)
    return Reading(
        dialect=run.dialect.name,
        framework=run.dialect.framework,
        model=run.given.known.model or told.model or run.dialect.model,
        scope=_PUBLIC_SCOPE.get(found.scope),
        status=status,
        reason=reason,
        steps=found.steps,
        throughput=measured,
        reported_final=final,
        unit=run.dialect.unit,
        steps_reported=len(found.steps) + run.uncollected // max(1, found.printers),
        printers=found.printers,
        total_devices=told.devices,
        batch_per_device=None if run.dialect.epochs_are_steps else told.batch_on_device,
        breakdown=next((part for part in parts if part is not None), None),
        scores=next(filter(None, scored), ()),
        certainty=sure,
        findings=findings,
        unfinished=stop[0] if stop else None,
        items_per_epoch=told.items_per_epoch,
        in_epochs=found.in_epochs,
        printed={name: f"{value:g}" for name, value in batches.items() if value is not None},
        collectives=tuple(scan.collectives for scan in run.scans),
    )


def _findings(numbers: Numbers, at_exit: Failure | None) -> Iterator[Finding]:
    run, measured = numbers.run, numbers.throughput
    if at_exit:
        yield FailedAtExit(failure=at_exit.kind, line=at_exit.line, text=at_exit.text)
    for scan in run.scans[:1]:
        yield from filter(None, (scan.incidents.again, scan.incidents.resumed, scan.incidents.nan))
    yield from numbers.merged.findings
    yield from numbers.findings
    yield from contradictions(run.given.known, run.said)
    # a batch of sequences counts nothing where the rates printed are of tokens
    if numbers.facts.argument and measured and any(step.items is not None for step in numbers.merged.steps):
        yield BatchFromArgument(text=numbers.facts.argument)
    yield from _devices_assumed(numbers)
    if skipped := sum(scan.skipped for scan in run.scans):
        yield LineLeftOut(bytes=skipped)
    if measured is not None and measured.items_per_s is not None and numbers.final is not None:
        difference = numbers.final / measured.items_per_s - 1
        if abs(difference) > DISAGREE:
            yield FinalDisagrees(
                final_items_per_s=numbers.final, items_per_s=measured.items_per_s, difference=difference
            )


def _devices_assumed(numbers: Numbers) -> Iterator[Finding]:
    run, devices = numbers.run, numbers.run.given.known.devices
    if numbers.throughput is None or numbers.throughput.window is None or numbers.merged.printers > 1:
        return
    if run.given.case or devices in (None, 1):
        return
    told = any(
        name in run.said for name in ("devices", "world_size", "devices_per_node", "global_batch", "epoch_items")
    )
    counted = any(one.rate or one.items or one.consumed or one.global_batch or one.steps_per_s for one in run.records)
    if devices is not None and not told and not counted and numbers.facts.global_batch is None:
        yield DevicesAssumed(devices=devices)

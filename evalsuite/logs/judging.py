"""What the numbers of a log are worth: its status, the doubts about it, what is found beside them."""

import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from evalsuite.core import findings as rules
from evalsuite.core.messages import Message, join
from evalsuite.core.model import Breakdown, Certainty, Finding, Score, Status, Step, Throughput
from evalsuite.logs.scan.collectors import CollectiveLines
from evalsuite.logs.scan.scan import Failure, find_failure
from evalsuite.logs.steps.merging import Facts, facts
from evalsuite.logs.steps.numbers import (
    FINAL,
    Numbers,
    explain_grade,
    find_doubt,
    grade,
    has_trained,
    judge_status,
    unfinished,
)
from evalsuite.logs.text.records import positive

_PUBLIC_SCOPE = {"global": "global", "per_device": "per_device", "own": "per_device"}
DISAGREE = rules.FinalDisagrees.limit
COUNT_DEVICES = frozenset(
    {"devices", "world_size", "listed_devices", "devices_per_node", "global_batch", "epoch_items"}
)  # facts
BEGINS_AGAIN = rules.BeginsAgain | rules.SeveralRuns
_COUNTS = operator.attrgetter("rate", "items", "consumed", "global_batch", "steps_per_s")  # of a record
FEWEST_STEPS = 3  # reports; fewer may be all that a run came to


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
    shape: str | None = None  # what the log was read by, where it has no dialect
    reading: str = "window"  # which of the readings gave it

    @property
    def certainty_reason(self) -> str:
        if self.certainty is None or self.throughput is None:
            return ""
        return explain_grade(self.certainty, self.throughput)


def judge(numbers: Numbers) -> Reading:
    run, merged, told, final = numbers.run, numbers.merged, numbers.facts, numbers.final
    if numbers.throughput is None and final is not None:
        total = Throughput(items_per_s=final, unit=run.dialect.unit, method=FINAL, window=None)
        numbers = replace(numbers, throughput=total)
    measured = numbers.throughput
    failure = next((hit for scan in run.scans if (hit := find_failure(scan.behind.lines()))), None)
    at_exit = failure if failure and has_trained(numbers) else None
    tells = measured is not None or len(merged.steps) >= FEWEST_STEPS  # else a run that died is no run
    died = failure if failure and not at_exit and tells and not run.given.case else None
    findings = tuple(_findings(numbers, at_exit))
    status, reason = judge_status(numbers, None if at_exit or died else failure)
    why = died.reason if died else None
    if why is not None:
        status, reason = "partial" if status == "ok" else status, join(reason, why)
    doubt, refused = find_doubt(numbers, measured) if measured else (None, False)
    noted = (*findings, *measured.findings) if measured else findings
    if noted and status in ("ok", "partial") and not run.given.case and (unlike := _unlike_others(findings, measured)):
        status, reason = "doubtful", join(unlike, why)
    if doubt and status != "failed":
        status, reason = "doubtful", join(doubt, why if refused else reason)
    measured = replace(measured, items_per_s=None) if measured and refused else measured
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
        scope=_PUBLIC_SCOPE.get(merged.scope),
        status=status,
        reason=reason,
        steps=merged.steps,
        throughput=measured,
        reported_final=final,
        unit=run.dialect.unit,
        steps_reported=len(merged.steps) + run.uncollected // max(1, merged.printers),
        printers=merged.printers,
        total_devices=told.devices,
        batch_per_device=None if run.dialect.epochs_are_steps else told.batch_on_device,
        breakdown=next((part for part in parts if part is not None), None),
        scores=next(filter(None, scored), ()),
        certainty=sure,
        findings=findings,
        unfinished=stop[0] if stop else None,
        items_per_epoch=told.items_per_epoch,
        in_epochs=merged.in_epochs,
        printed={name: f"{value:g}" for name, value in batches.items() if value is not None},
        collectives=tuple(scan.collectives for scan in run.scans),
    )


def _unlike_others(findings: Sequence[Finding], measured: Throughput | None) -> str | None:
    if any(isinstance(finding, BEGINS_AGAIN) for finding in findings):
        return Message("logs.several_starts")
    if measured and any(isinstance(finding, rules.SteepDrift) for finding in measured.findings):
        return Message("logs.read_drift")
    if stall := stall_of(measured):
        return Message("logs.read_stall", share=stall.share, seconds=stall.seconds)
    apart = rest_of(measured)
    return Message("logs.read_rest", steps=apart.steps, difference=apart.difference) if apart else None


def rest_of(measured: Throughput | None) -> rules.RestDiffers | None:
    rest = (finding for finding in measured.findings if isinstance(finding, rules.RestDiffers)) if measured else ()
    return next((finding for finding in rest if abs(finding.difference) > rules.RestDiffers.doubtful), None)


def stall_of(measured: Throughput | None) -> rules.LongStall | None:
    stalls = (finding for finding in measured.findings if isinstance(finding, rules.LongStall)) if measured else ()
    return next((finding for finding in stalls if finding.share > rules.LongStall.doubtful), None)


def _findings(numbers: Numbers, at_exit: Failure | None) -> Iterator[Finding]:
    run, measured = numbers.run, numbers.throughput
    if at_exit:
        yield rules.FailedAtExit(failure=at_exit.kind, line=at_exit.line, text=at_exit.text)
    for scan in run.scans[:1]:
        yield from filter(None, (scan.incidents.again, scan.incidents.resumed, scan.incidents.nan))
    yield from numbers.merged.findings
    yield from numbers.findings
    known, own, forward = run.given.known, facts(Facts(), run.said), positive(run.said.get("batch_per_device"))
    pairs = (("devices", known.devices, own.devices), ("batch_per_device", known.batch_per_device, own.batch_on_device))
    for what, given, printed in pairs:
        if given is None or printed is None or math.isclose(given, printed):
            continue
        if what == "devices" or given != forward:
            yield rules.ContradictsLog(what=what, given=given, printed=printed)
    # a batch of sequences counts nothing where the rates printed are of tokens
    if numbers.facts.argument and measured and any(step.items is not None for step in numbers.merged.steps):
        yield rules.BatchFromArgument(text=numbers.facts.argument)
    devices, unsaid = run.given.known.devices, COUNT_DEVICES.isdisjoint(run.said) and not run.given.case
    if measured and measured.window and unsaid and devices not in (None, 1) and numbers.merged.printers <= 1:
        counts = any(any(_COUNTS(record)) for record in run.records)
        if devices and numbers.facts.global_batch is None and not counts:
            yield rules.DevicesAssumed(devices=devices)
    if skipped := sum(scan.skipped for scan in run.scans):
        yield rules.LineLeftOut(bytes=skipped)
    if measured is not None and measured.items_per_s is not None and numbers.final is not None:
        difference = numbers.final / measured.items_per_s - 1
        if abs(difference) > DISAGREE:
            yield rules.FinalDisagrees(
                final_items_per_s=numbers.final, items_per_s=measured.items_per_s, difference=difference
            )

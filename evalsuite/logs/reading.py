"""What a log says: which dialect it is, its steps, its throughput over all devices, or why there is none.

Nothing here starts anything or asks the time: the same bytes give the same reading.
"""

import functools
import operator
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from evalsuite.contracts.dialect import NO_DIGITS, NO_ITEMS, Dialect
from evalsuite.core import findings as rules
from evalsuite.core.messages import Message, join, message_of
from evalsuite.core.model import (
    RATES,
    Breakdown,
    Case,
    Certainty,
    Finding,
    Log,
    Protocol,
    Score,
    Status,
    Step,
    Throughput,
)
from evalsuite.logs import catalogue
from evalsuite.logs.scan.collectors import CollectiveLines
from evalsuite.logs.scan.scan import Failure, Quiet, find_failure
from evalsuite.logs.steps.merging import Facts, contradictions
from evalsuite.logs.steps.numbers import (
    FINAL,
    Given,
    Numbers,
    Pass,
    compute_numbers,
    explain_grade,
    find_doubt,
    grade,
    has_trained,
    in_steps,
    judge_status,
    measure_logs,
    two_figures,
    unfinished,
)
from evalsuite.logs.steps.throughput import disagreement
from evalsuite.logs.steps.window import CLOCKS
from evalsuite.logs.text.arrivals import Arrival, read_arrivals
from evalsuite.logs.text.intact import ALTERED, is_altered_log
from evalsuite.logs.text.logfile import Piece, Unreadable, chunks, kind
from evalsuite.logs.text.records import count, positive
from evalsuite.logs.unknown.starts import choose_start
from evalsuite.logs.unknown.whole import SMALL_BYTES, over_all

if TYPE_CHECKING:
    from evalsuite.logs.unknown.groups import Group

_PUBLIC_SCOPE = {"global": "global", "per_device": "per_device", "own": "per_device"}
DISAGREE = rules.FinalDisagrees.limit
COUNT_DEVICES = frozenset(
    {"devices", "world_size", "listed_devices", "devices_per_node", "global_batch", "epoch_items"}
)  # facts
_AGAIN = rules.BeginsAgain | rules.SeveralRuns
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

    @property
    def certainty_reason(self) -> str:
        if self.certainty is None or self.throughput is None:
            return ""
        return explain_grade(self.certainty, self.throughput)


def read_run(
    logs: Sequence[Log],
    case: Case,
    dialect: str | None = None,
    *,
    scope: str | None = None,
    steps_per_report: int | None = None,
    shape: str | None = None,
    dialects: Mapping[str, Dialect] | None = None,
    ended_well: bool = False,
    items_per_batch: int | None = None,
) -> Reading:
    """The run of *case* whose processes wrote *logs*. *dialect* is the one its recipe names; else it is found.

    Where all processes *ended_well* and the window is complete, the complaints of a host that printed no step are no
    failure: torchrun says there that the first host has already left.
    """
    known = Facts(
        devices=case.total_devices,
        nodes=case.nodes,
        batch_per_device=case.batch_per_device,
        items_per_batch=items_per_batch,
        model=case.model,
    )
    asked = Given(known=known, case=True, protocol=case.protocol, scope=scope, ended_well=ended_well, shape=shape)
    given = replace(asked, steps_per_report=steps_per_report)
    return _read([log.path for log in logs], [read_arrivals(log.arrivals) for log in logs], given, dialect, dialects)


def read_file(
    *paths: Path,
    arrivals: Sequence[Path | None] = (),
    dialect: str | None = None,
    devices: int | None = None,
    batch_per_device: float | None = None,
    protocol: Protocol | None = None,
    scope: str | None = None,
    steps_per_report: int | None = None,
    shape: str | None = None,
    dialects: Mapping[str, Dialect] | None = None,
) -> Reading:
    """The log at *paths*, or those of one run; what it does not say of devices and batch is taken from the arguments.

    *arrivals*: what an agent noted of when the lines of each arrived, which is its clock.
    """
    known = Facts(devices=devices, batch_per_device=batch_per_device)
    asked = Given(known=known, case=False, protocol=protocol or Protocol(), scope=scope, shape=shape)
    given = replace(asked, steps_per_report=steps_per_report)
    noted = [read_arrivals(path) if path else None for path in arrivals or [None] * len(paths)]
    return _read(paths, noted, given, dialect, dialects)


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
        reading = _judge_or_count_steps(measure_logs(paths, arrivals, dialect, given), paths)
        again = not given.case and len(paths) == 1 and any(isinstance(finding, _AGAIN) for finding in reading.findings)
        reading = _read_one_start(reading, paths, arrivals, dialect, given) if again else reading
    except Unreadable as error:
        status: Status = "failed" if error.failed else "unrecognised"
        reading = Reading(dialect=None, framework=None, model=None, scope=None, status=status, reason=message_of(error))
        if error.final:
            return reading
    final = reading.throughput
    if name is None and reading.steps and final is None and reading.status == "partial" and not given.case:
        by_bars = _read_by_shape(paths, arrivals, given, reading, bars=True)
        return reading if by_bars.throughput is None else by_bars
    if name is not None or reading.steps or (final and given.case):
        return reading
    if final is None:
        return _read_by_shape(paths, arrivals, given, reading, bars=None)
    steps = _read_by_shape(paths, arrivals, given, replace(reading, throughput=None), bars=False)
    return _deny_total(final, float(reading.printed.get("global_batch", 0)), steps) or reading


def _read_one_start(
    whole: Reading, paths: Sequence[Path], arrivals: Sequence[Arrival | None], dialect: Dialect, given: Given
) -> Reading:
    """Of several in one file that which `choose_start` chooses, with the batch and devices printed before it."""
    if (start := choose_start(paths[0], dialect, given)) is None:
        return whole
    own = _judge_or_count_steps(measure_logs(paths, arrivals, dialect, replace(given, lines=start.lines)), paths)
    if own.throughput is None:
        return whole
    findings = [finding for finding in own.findings if not isinstance(finding, _AGAIN | rules.Restarted)]
    reason = join(start.reason, own.reason, start.died)
    return replace(own, status="doubtful", reason=reason, findings=(rules.Restarted(attempts=start.count), *findings))


def _deny_total(final: Throughput, batch: float, steps: Reading) -> Reading | None:
    measured, alike = steps.throughput, steps.unit == final.unit
    scale = 1.0 if alike else batch if steps.unit in NO_ITEMS else 0.0
    if not (measured and measured.items_per_s and final.items_per_s and scale):
        return None
    apart = disagreement(measured.items_per_s, measured.method, final.items_per_s / scale, final.method)
    if apart.factor < rules.BatchDoubted.limit:
        return None
    return replace(steps, reason=join(two_figures(apart, measured), steps.reason))


# without a dialect


def _read_by_shape(
    paths: Sequence[Path], arrivals: Sequence[Arrival | None], given: Given, silent: Reading, *, bars: bool | None
) -> Reading:
    """By the heaviest group of lines that has a counter and a time; *silent*: what else is said of the log.

    *bars*: by these alone, or by no bar, since an evaluation may draw one.
    """
    from evalsuite.core.redaction import redact
    from evalsuite.logs.unknown.groups import groups  # slow, and few logs have no dialect

    grouped = groups(paths[0]) if paths else []
    if bars is not None:
        grouped = [group for group in grouped if bool(group.dialect and group.dialect.redrawn) == bars]
    shape = next(iter(grouped), None)
    if shape and shape.by_epoch and given.steps_per_report:
        counted = {"step": shape.roles["epoch"], **shape.roles}
        shape = replace(shape, dialect=replace(shape.by_epoch, each=given.steps_per_report), roles=counted)
    if shape is None or (shape.dialect is None and silent.status == "failed" and "step" not in shape.roles):
        return silent
    shape = replace(shape, text=redact(shape.text))
    if shape.dialect is None:
        roles = Message("logs.shape_roles", roles=shape.outline) if shape.roles else ""
        nearly = Message("logs.shape_nearly", line=shape.line, text=shape.text, roles=roles, why=shape.lacks)
        died = silent.reason if silent.status == "failed" else None  # it trained, and died
        known = silent.reason if silent.dialect else None
        return replace(silent, status="unrecognised" if died else silent.status, reason=join(known, nearly, died))
    size = paths[0].stat().st_size
    start = choose_start(paths[0], shape.dialect, given) if len(paths) == 1 and size < 4 * SMALL_BYTES else None
    try:
        given = replace(given, lines=start.lines if start else None, all_records=size < SMALL_BYTES)
        run = _measure_by_shape(paths, arrivals, shape.dialect, given)
    except Unreadable as error:
        return replace(silent, reason=join(_taken_for(shape, silent), message_of(error)))
    result = asked = silent
    for variant in _variants(run, counted={"step", "seconds"} & shape.roles.keys()):
        if variant.dialect.scope == "auto" and asked.total_devices not in (None, 1):
            break  # whose rate it is, is asked
        numbers = over_all(compute_numbers(variant))
        if "argued_parts" in run.said and numbers.facts.batch_from_outside and not numbers.rated:
            continue  # is a step of theirs a part of an optimiser's step?
        result = _judge(numbers)
        if result.throughput is not None:
            break
        by_steps = variant.dialect.unit in NO_ITEMS and "rate" not in shape.roles  # then no batch would help
        asked = asked if asked.steps and not by_steps else result
    result = replace(result if result.throughput else asked, dialect=None, shape=shape.shape)
    taken = join(_taken_for(shape, silent), start.reason if start else None)
    if result.throughput is None or result.throughput.items_per_s is None:
        return replace(result, status="doubtful", reason=join(taken, result.reason))
    if given.shape == shape.shape and start is None:
        return result
    died = next((silence.reason for silence in (result, silent) if silence.status == "failed"), None)
    inside = Message("logs.log_validated") if all(record.evaluated for record in run.records) else None
    accept = Message("logs.shape_accept", shape=shape.shape)
    return replace(result, status="doubtful", reason=join(taken, inside, accept, start.died if start else died))


def _measure_by_shape(
    paths: Sequence[Path], arrivals: Sequence[Arrival | None], dialect: Dialect, given: Given
) -> Pass:
    """Where an evaluation with a stamp stands before every report, the steps count from that stamp."""
    from evalsuite.logs.unknown.groups import begun_by_evaluations

    run = measure_logs(paths, arrivals, dialect, given).run
    many = len(run.records) > 1 and (run.records[-1].step or 0) - (run.records[0].step or 0) > len(run.records)
    if not (many and dialect.evaluation and all(record.gap and record.stamp_s for record in run.records[1:])):
        return run  # or counts epochs
    begun = measure_logs(paths, arrivals, begun_by_evaluations(dialect), given).run
    return begun if any(record.begins for record in begun.records) else run


def _taken_for(shape: "Group", silent: Reading) -> Message:
    told = {"line": shape.line, "text": shape.text, "roles": shape.outline}
    if silent.dialect and silent.steps:
        return Message("logs.read_beside", dialect=silent.dialect, **told)
    return Message("logs.read_by_shape", **told)


def _variants(run: Pass, *, counted: Collection[str]) -> Iterator[Pass]:
    yield run
    if counted:
        yield in_steps(run)
    if run.dialect.scope != "per_device":
        yield replace(run, dialect=replace(run.dialect, scope="auto"))


# from numbers to a reading


def _judge_or_count_steps(numbers: Numbers, paths: Sequence[Path]) -> Reading:
    reading, run = _judge(numbers), numbers.run
    settled = run.given.case or reading.status in ("ok", "failed", "unrecognised") or numbers.merged.in_epochs
    if settled or numbers.final or (numbers.throughput and not _is_denied_batch(numbers, numbers.throughput)):
        return _judge_whole(reading, numbers, paths) or reading
    counts = any(record.step is not None or record.interval or record.step_s for record in run.records)
    if not run.dialect.every and not counts:
        return reading  # nothing counts the steps of a report
    if run.uncollected and paths[0].stat().st_size < SMALL_BYTES:
        run = _collect_all(run, paths)
    counted = _judge(over_all(compute_numbers(in_steps(run))))
    if counted.throughput is None or counted.throughput.items_per_s is None:
        return reading
    if numbers.throughput and counted.throughput.method not in CLOCKS:
        return reading
    return replace(counted, status="doubtful", reason=join(reading.reason, Message("logs.read_in_steps")))


def _judge_whole(reading: Reading, numbers: Numbers, paths: Sequence[Path]) -> Reading | None:
    """Of a log for which its window does not speak, and which is small: over all that it printed after its warm-up."""
    run, measured = numbers.run, reading.throughput
    if measured is None or measured.items_per_s is None or not (_rest_of(measured) or _stall_of(measured)):
        return None
    by_time = measured.method not in (RATES, FINAL) and run.dialect.averaging != "cumulative"
    asked = run.given.case or run.given.protocol != Protocol()  # for a window
    again = any(isinstance(finding, _AGAIN) for finding in reading.findings)  # then one start is chosen
    if not by_time or asked or again or len(paths) > 1 or paths[0].stat().st_size > SMALL_BYTES:
        return None
    window = compute_numbers(_collect_all(run, paths))
    if (whole := over_all(window)) is window or not whole.throughput:
        return None
    told = replace(whole.throughput, findings=(*whole.throughput.findings, *measured.findings))
    reason = join(reading.reason, Message("logs.read_whole"))
    return replace(_judge(whole), throughput=told, status="doubtful", reason=reason)


def _collect_all(run: Pass, paths: Sequence[Path]) -> Pass:
    return measure_logs(paths, run.arrivals, run.dialect, replace(run.given, all_records=True)).run


def _is_denied_batch(numbers: Numbers, measured: Throughput) -> bool:
    steps = numbers.merged.steps
    seldom = numbers.run.dialect.averaging == "step" and any(step.steps > 1 for step in steps)
    stamped = any(step.stamp_s is not None for step in steps)
    return seldom and stamped and measured.method == RATES and not measured.implied_batch


def _judge(numbers: Numbers) -> Reading:
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
    if any(isinstance(finding, _AGAIN) for finding in findings):
        return Message("logs.several_starts")
    if measured and any(isinstance(finding, rules.SteepDrift) for finding in measured.findings):
        return Message("logs.read_drift")
    if stall := _stall_of(measured):
        return Message("logs.read_stall", share=stall.share, seconds=stall.seconds)
    apart = _rest_of(measured)
    return Message("logs.read_rest", steps=apart.steps, difference=apart.difference) if apart else None


def _rest_of(measured: Throughput | None) -> rules.RestDiffers | None:
    rest = (finding for finding in measured.findings if isinstance(finding, rules.RestDiffers)) if measured else ()
    return next((finding for finding in rest if abs(finding.difference) > rules.RestDiffers.doubtful), None)


def _stall_of(measured: Throughput | None) -> rules.LongStall | None:
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
    yield from contradictions(run.given.known, run.said)
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


# which dialect: by the shapes of its lines, before any pattern is tried

SNIFF_BYTES = 3 << 14  # in which a dialect that says more is looked for
LOOK_BACK_BYTES = 1 << 12
THOROUGH_BYTES = 1 << 22  # of a log in whose first lines no dialect fits, every chunk is looked at so far
SAMPLED_BYTES = 1 << 25
SAMPLED_CHUNKS, SELDOM = 8, 64  # and after that one of so many up to there, and one of so many later, before all are
_LINE_BYTES = 4096


class Sniffer:
    """Finds the dialects that fit a piece of log.

    The lines of a log are alike but for their numbers: what is left when numbers are taken out is a handful of
    shapes, and only a dialect whose literal text is in one of them is tried on the lines themselves.
    """

    def __init__(self, dialects: Iterable[Dialect]) -> None:
        self._dialects = tuple(dialects)

    @cached_property
    def _shapes(self) -> dict[bytes, set[str]]:
        names: dict[bytes, set[str]] = {}
        for dialect in self._dialects:
            for line in dialect.telling:
                names.setdefault(line.shape, set()).add(dialect.name)
        return names

    def fits(self, text: bytes) -> list[Dialect]:
        """None, one, or several with equally many step lines; a dialect yields to one that says more (`yields_to`)."""
        plain = text.replace(b"\r", b"\n")
        examples = dict(zip(plain.translate(None, NO_DIGITS).split(b"\n"), plain.split(b"\n"), strict=True))
        shapes, example = b"\n".join(examples), b"\n".join(line[:_LINE_BYTES] for line in examples.values()) + b"\n"
        names = set().union(*(who for shape, who in self._shapes.items() if shape in shapes))
        likely = [dialect for dialect in self._dialects if dialect.name in names]
        fitting = [
            dialect
            for dialect in likely
            if any(
                line.fields is None or line.read(match) is not None
                for line in dialect.telling
                for where in (text if b"\n" in line.sample else example,)  # else one line of each shape is enough
                if line.literal in where
                for match in line.compiled.finditer(where)
            )
        ]
        names = {dialect.name for dialect in fitting}
        strong = [dialect for dialect in fitting if not names.intersection(dialect.yields_to)]
        if len(strong) < 2:
            return strong
        counts = {dialect: lines_found(text, dialect) for dialect in strong}
        best = max(counts.values())
        return [dialect for dialect, count in counts.items() if count == best]

    def stronger(self, text: bytes, fitting: list[Dialect]) -> list[Dialect]:
        """*fitting*, or the dialects it yields to whose lines come later in *text*."""
        names = {name for dialect in fitting for name in dialect.yields_to}
        better = [dialect for dialect in self._dialects if dialect.name in names and lines_found(text, dialect)]
        strongest = {dialect.name for dialect in better}
        return [dialect for dialect in better if not strongest.intersection(dialect.yields_to)] or fitting


@functools.lru_cache(maxsize=8)
def _sniffer(dialects: tuple[Dialect, ...]) -> Sniffer:
    """Cached: to make it costs as much as to read a short log."""
    return Sniffer(dialects)


def recognise(paths: Sequence[Path], name: str | None, dialects: Mapping[str, Dialect]) -> Dialect:
    """The dialect called *name*, or the one that fits. Raises Unreadable if none or several do."""
    if name is not None:
        return catalogue.chosen(name, dialects)
    for path in paths:
        fitting = find_dialects(path, _sniffer(tuple(dialects.values())))
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            names = " and ".join(dialect.name for dialect in fitting)
            raise Unreadable(Message("logs.parse_equally", names=names))
    raise _explain_silence(paths, dialects.values())


def find_dialects(path: Path, sniffer: Sniffer) -> list[Dialect]:
    """None, one, or several that fit equally. Raises Unreadable.

    Judged by the first lines that any dialect knows. Of a long preamble every so many chunks are looked at first, then
    its end; the others only if nothing is found there.
    """
    fitting: list[Dialect] = []
    text, passed_over = b"", set[int]()
    for place, chunk in enumerate(chunks(path, bare=True)):
        seldom = SELDOM if chunk.offset > SAMPLED_BYTES else SAMPLED_CHUNKS
        if not fitting and chunk.offset > THOROUGH_BYTES and place % seldom:
            text = chunk.text
            passed_over.add(place)
            continue
        text = text + chunk.text if fitting else text[-LOOK_BACK_BYTES:] + chunk.text
        fitting = fitting or sniffer.fits(text)
        if fitting and (len(text) >= SNIFF_BYTES or not any(dialect.yields_to for dialect in fitting)):
            break
    fitting = fitting or sniffer.fits(text)
    if not fitting and passed_over:
        for place, chunk in enumerate(chunks(path, bare=True)):
            if place in passed_over and (fitting := sniffer.fits(text := chunk.text)):
                break
    return sniffer.stronger(text[:SNIFF_BYTES], fitting) if any(dialect.yields_to for dialect in fitting) else fitting


def _explain_silence(paths: Sequence[Path], dialects: Iterable[Dialect]) -> Unreadable:
    if not paths:
        return Unreadable(Message("logs.parse_none"))
    nothing, skipped = True, 0
    for path in paths:
        quiet = Quiet()
        for chunk in chunks(path):
            if nothing and (other := kind(chunk.text)):
                return Unreadable(Message("logs.parse_other", other=other))
            quiet.add(Piece(chunk=chunk))
            nothing, skipped = False, skipped + chunk.skipped
        if failure := find_failure(quiet.lines()):
            return Unreadable(failure.reason, failed=True)
    if nothing:
        return Unreadable(Message("logs.parse_empty"))
    if skipped:
        return Unreadable(Message("logs.parse_long_lines", n=skipped))
    if is_altered_log(paths[0], dialects):
        return Unreadable(ALTERED)
    return Unreadable(Message("logs.parse_unknown"), final=False)


def lines_found(text: bytes, dialect: Dialect) -> int:
    steps, finals = ([line for line in lines if line.telling] for lines in (dialect.step, dialect.final))
    return count(text, steps) or count(text, finals)

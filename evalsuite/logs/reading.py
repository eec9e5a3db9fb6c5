"""What a log says: its readings are one list, and the first that applies is taken (docs/decisions.md, 23).

Nothing here starts anything or asks the time: the same bytes give the same reading.
"""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from evalsuite.contracts.dialect import NO_ITEMS, Dialect
from evalsuite.core import findings as rules
from evalsuite.core.messages import Message, join, message_of
from evalsuite.core.model import FINAL, RATES, Case, Log, Protocol, Status
from evalsuite.logs import catalogue
from evalsuite.logs.formatting import rate
from evalsuite.logs.judging import BEGINS_AGAIN, UNLIKE, find_unlike, judge, two_figures
from evalsuite.logs.judging import PUBLIC_SCOPE as PUBLIC_SCOPE
from evalsuite.logs.judging import Reading as Reading
from evalsuite.logs.recognition import recognise
from evalsuite.logs.steps.merging import Facts
from evalsuite.logs.steps.numbers import Given, Numbers, compute_numbers, in_steps, is_nearly, measure_logs
from evalsuite.logs.steps.throughput import disagreement
from evalsuite.logs.steps.window import CLOCKS
from evalsuite.logs.text.logfile import Unreadable
from evalsuite.logs.text.records import Arrival, read_arrivals
from evalsuite.logs.unknown.starts import choose_start
from evalsuite.logs.unknown.whole import SMALL_BYTES, over_all


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
    found = _read(paths, noted, given, dialect, dialects)
    if scope and found.dialect and found.unit not in NO_ITEMS and PUBLIC_SCOPE[scope] != found.scope:
        found = replace(found, reason=join(Message("logs.scope_kept", given=scope, own=found.scope), found.reason))
    counted = found.throughput is not None and found.throughput.items_per_s is not None
    if (devices, batch_per_device, scope) == (None, None, None) or (counted and found.unit not in NO_ITEMS):
        return found
    alone = _read(paths, noted, replace(given, known=Facts(), scope=None), dialect, dialects)
    denied = devices not in (None, 1) and alone.certainty == "assumed scope"  # several are not one
    less = counted and (denied or alone.unit in NO_ITEMS)
    if alone.throughput is None or alone.throughput.items_per_s is None or less:
        return found  # which says as much
    unsaid = counted and devices and alone.throughput.method == RATES  # in steps: a rate of items is there, not whose
    why = Message("logs.log_whose") if unsaid else found.reason
    return replace(alone, status="doubtful", reason=join(Message("logs.answer_denied", why=why), alone.reason))


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The logs of a run, and what the window of their dialect says of them: a value, or why there is none."""

    paths: Sequence[Path]
    arrivals: Sequence[Arrival | None]
    given: Given
    by_name: bool  # the dialect was named, not found
    window: Reading
    numbers: Numbers | None = None  # None: no dialect reads them
    refused: bool = False  # they are no whole text, or no log
    again: bool = False  # one file holds several trainings
    evaluated: bool = False  # the only figure is a total, and evaluations lie inside
    unlike: bool = False  # by its times it is unlike the rest of a small log, and nobody asked for a window
    speaks: bool = False  # the window has a number whose items are known, or none is to be had by counting steps


@dataclass(frozen=True)
class LogReading:
    """One way to read a log: the condition under which it applies, and what it says, if it says anything."""

    name: str
    applies: Callable[[Evidence], bool]
    read: Callable[[Evidence], Reading | None]


def _read(
    paths: Sequence[Path],
    arrivals: Sequence[Arrival | None],
    given: Given,
    name: str | None,
    dialects: Mapping[str, Dialect] | None,
) -> Reading:
    seen = partial(Evidence, paths=paths, arrivals=arrivals, given=given, by_name=name is not None)
    try:
        dialect = recognise(paths, name, catalogue.known() if dialects is None else dialects)
        if given.steps_per_report and dialect.per_epoch and not dialect.epochs_are_steps:
            dialect = replace(dialect, every=given.steps_per_report, per_epoch=False)
        known = dialect.knows_scope and not given.case  # what is said of many logs is not true of this one
        numbers = measure_logs(paths, arrivals, dialect, replace(given, scope=None) if known else given)
        window, measured, steps = judge(numbers), numbers.throughput, numbers.merged.steps
        stamped = any(step.steps > 1 for step in steps) and any(step.stamp_s is not None for step in steps)
        by_rates = measured and measured.method == RATES and not measured.implied_batch
        denied = dialect.averaging == "step" and stamped and by_rates  # by the stamps
        settled = given.case or window.status in ("ok", "failed", "unrecognised") or numbers.merged.in_epochs
        by_time = measured and measured.method != FINAL and dialect.averaging != "cumulative"
        plain = not given.case and given.protocol == Protocol() and len(paths) == 1
        noted = [each for each in window.throughput.findings if isinstance(each, UNLIKE)] if window.throughput else []
        evidence = seen(
            window=window,
            numbers=numbers,
            evaluated=measured is None and numbers.final is not None and any(s.evaluated for s in numbers.run.scans),
            unlike=bool(noted and by_time and plain and paths[0].stat().st_size <= SMALL_BYTES and find_unlike(noted)),
            again=any(isinstance(finding, BEGINS_AGAIN) for finding in window.findings),
            speaks=bool(settled or numbers.final or (measured and not denied)),
        )
    except Unreadable as error:
        evidence = seen(window=_refuse(error), refused=error.final)
    try:
        found = ((each.name, each.read(evidence)) for each in READINGS if each.applies(evidence))
        return next(replace(reading, reading=name) for name, reading in found if reading is not None)
    except Unreadable as error:  # all of its records say what the first ones did not
        return replace(_refuse(error), reading="refused")


def _refuse(error: Unreadable) -> Reading:
    status: Status = "failed" if error.failed else "unrecognised"
    return Reading(dialect=None, framework=None, model=None, scope=None, status=status, reason=message_of(error))


def _read_one_start(seen: Evidence) -> Reading | None:
    """Reads the start chosen by choose_start, with the batch and devices printed before it."""
    assert seen.numbers is not None
    dialect = seen.numbers.run.dialect
    if (start := choose_start(seen.paths[0], dialect, seen.given)) is None:
        return None
    given = replace(seen.given, lines=start.lines)
    own = _read(seen.paths, seen.arrivals, given, dialect.name, {dialect.name: dialect})
    if own.dialect is None or own.throughput is None:
        return own if own.dialect is None else None
    findings = [finding for finding in own.findings if not isinstance(finding, BEGINS_AGAIN | rules.Restarted)]
    batch = Message("logs.read_start_batch", batch=own.batch_per_device) if own.batch_per_device else None
    reason = join(start.reason, batch, own.reason, start.died)
    return replace(own, status="doubtful", reason=reason, findings=(rules.Restarted(attempts=start.count), *findings))


def _read_whole(seen: Evidence) -> Reading | None:
    """Over all that a small log printed after its warm-up."""
    assert seen.numbers is not None and seen.window.throughput is not None
    if seen.window.throughput.items_per_s is None:
        return None
    run = seen.numbers.run
    window = measure_logs(seen.paths, run.arrivals, run.dialect, replace(run.given, all_records=True))
    if (whole := over_all(window)) is window or not whole.throughput:
        return None
    paces = whole.throughput.step_time_s if whole.throughput.method == RATES else ()
    if paces and not is_nearly(statistics.median(paces), statistics.fmean(paces)):
        return None  # nor does their mean
    told = replace(whole.throughput, findings=(*whole.throughput.findings, *seen.window.throughput.findings))
    reason = join(seen.window.reason, Message("logs.read_whole"))
    return replace(judge(whole), throughput=told, status="doubtful", reason=reason)


def _read_in_steps(seen: Evidence) -> Reading | None:
    """In steps/s, where devices or batch are unknown."""
    assert seen.numbers is not None
    run = seen.numbers.run
    rated = None if seen.given.case or seen.by_name else _read_shape(seen, beside=run.dialect)
    if rated and rated.throughput and rated.throughput.items_per_s and rated.unit not in NO_ITEMS:
        return rated  # what another line says of items is more
    since = len(run.records) == 1 and run.dialect.averaging == "cumulative" and not seen.given.case
    if since and (bars := _read_shape(seen, bars=True)):  # its mean has all before the excerpt inside
        return bars
    if run.dialect.every is None and not any(r.step is not None or r.interval or r.step_s for r in run.records):
        return None
    if run.uncollected and seen.paths[0].stat().st_size < SMALL_BYTES:
        run = measure_logs(seen.paths, run.arrivals, run.dialect, replace(run.given, all_records=True)).run
    counted = judge(over_all(compute_numbers(in_steps(run))))
    if counted.throughput is None or counted.throughput.items_per_s is None:
        return None
    if seen.numbers.throughput and counted.throughput.method not in CLOCKS:
        return None
    return replace(counted, status="doubtful", reason=join(seen.window.reason, Message("logs.read_in_steps")))


# formats that nobody declared


def _read_shape(seen: Evidence, *, bars: bool | None = None, beside: Dialect | None = None) -> Reading | None:
    from evalsuite.logs.unknown.by_shape import read_by_shape  # slow, and few logs have no dialect

    silent = replace(seen.window, throughput=None) if bars is False else seen.window
    told = seen.numbers.run.said if bars and seen.numbers else {}
    found = read_by_shape(seen.paths, seen.arrivals, seen.given, silent, bars=bars, beside=beside, said=told)
    if found is silent or (bars and not found.throughput):
        return None
    total = silent.throughput if bars else None
    if total is None or total.items_per_s is None:
        return found
    own = found.throughput.items_per_s if found.throughput and found.unit == total.unit else None
    if own is None or is_nearly(own, total.items_per_s):
        return None
    inside = Message("logs.total_evaluated", rate=rate(total.items_per_s), unit=total.unit)
    return replace(found, reported_final=silent.reported_final, reason=join(found.reason, inside))


def _deny_total(seen: Evidence) -> Reading | None:
    """The steps that no dialect reads, where the log's own total contradicts them."""
    steps, final = _read_shape(seen, bars=False), seen.window.throughput
    measured = steps.throughput if steps else None
    if not (steps and measured and measured.items_per_s and final and final.items_per_s):
        return None
    batch = float(seen.window.printed.get("global_batch", 0)) if steps.unit in NO_ITEMS else 0.0
    scale = 1.0 if steps.unit == final.unit else batch
    if not scale:
        return None
    apart = disagreement(measured.items_per_s, measured.method, final.items_per_s / scale, final.method)
    if apart.factor < rules.BatchDoubted.limit:
        return None
    return replace(steps, reason=join(two_figures(apart, measured), steps.reason))


READINGS = (
    LogReading("refused", lambda seen: seen.refused, lambda seen: seen.window),
    LogReading(
        "one_start",
        lambda seen: seen.again and not (seen.given.case or seen.given.lines) and len(seen.paths) == 1,
        _read_one_start,
    ),
    LogReading("whole_log", lambda seen: seen.unlike and seen.speaks and not seen.again, _read_whole),
    LogReading("steps_alone", lambda seen: seen.numbers is not None and not seen.speaks, _read_in_steps),
    LogReading(
        "bars",
        lambda seen: (
            seen.window.status == "partial"
            and ((seen.window.steps and seen.window.throughput is None) or seen.evaluated)
            and not (seen.given.case or seen.by_name)
        ),
        lambda seen: _read_shape(seen, bars=True),
    ),
    LogReading("shape", lambda seen: not (seen.by_name or seen.window.steps or seen.window.throughput), _read_shape),
    LogReading("shape_not_total", lambda seen: not (seen.by_name or seen.window.steps or seen.given.case), _deny_total),
    LogReading("window", lambda seen: True, lambda seen: seen.window),
)

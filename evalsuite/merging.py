"""From reports to steps: what every rank repeats is counted once, what each rank says of itself is summed.

The attempt with the most steps is the run.
"""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evalsuite import streams as streams_of
from evalsuite.dialect import Dialect
from evalsuite.jobfacts import Facts, batch_per_device
from evalsuite.model import Finding, Step
from evalsuite.records import Record
from evalsuite.reports import Report, reports

Arrival = Callable[[int], float | None]
"""When the byte before an offset of a log arrived."""


@dataclass(frozen=True, kw_only=True)
class Merged:
    """The steps of the run, and how they came about."""

    steps: tuple[Step, ...]
    scope: str  # whose rate was printed, as it was found out: "global", "per_device" or "own"
    printers: int = 0
    findings: tuple[Finding, ...] = ()


def merged(
    files: Sequence[Sequence[Record]],
    dialect: Dialect,
    facts: Facts,
    *,
    arrivals: Sequence[Arrival | None] = (),
    scope: str | None = None,
) -> Merged:
    """The steps of the run whose log *files* (one per process or node) hold these records.

    *arrivals* belong to the files. *scope* overrules the dialect: a recipe may know whose rate its script prints.
    """
    spoke = [number for number, records in enumerate(files) if records]
    if not spoke:
        return Merged(steps=(), scope=scope or dialect.scope)
    attempts = [streams_of.attempts(files[number], dialect, facts.devices) for number in spoke]
    chosen = [max(reversed(found), key=streams_of.size) for found in attempts]
    streams = [reports(stream, dialect) for attempt in chosen for stream in attempt]
    whose, findings = _scope(streams, dialect, scope or dialect.scope, facts)
    job = _Job(
        printed_by_all=_factor(len(streams), facts, whose),
        steps_counted=(facts.nodes if dialect.steps_times_nodes else 1),
        items_per_step=facts.items_per_step,
        epochs=dialect.per_epoch and not dialect.epochs_are_steps,
        items_per_batch=facts.items_per_batch,
        arrival=arrivals[spoke[0]] if arrivals else None,
    )
    restarts = max(len(found) for found in attempts)
    return Merged(
        steps=tuple(_steps(streams, len(chosen[0]), job)),
        scope=whose,
        printers=len(streams),
        findings=(*findings, *(_restart_finding(restarts) if restarts > 1 else ())),
    )


def _restart_finding(attempts: int) -> list[Finding]:
    return [
        Finding(
            code="restarted",
            severity="note",
            text=f"the log holds {attempts} attempts; the one with the most steps is read.",
            values=(("attempts", str(attempts)),),
        )
    ]


# whose rate was printed


def _scope(streams: list[list[Report]], dialect: Dialect, scope: str, facts: Facts) -> tuple[str, list[Finding]]:
    """Settles `auto` and `unstated`: by the clock where batch and devices are known; `auto` else by who prints."""
    if scope not in ("auto", "unstated"):
        return scope, []
    if facts.devices == 1 or (scope == "auto" and len(streams) == 1 and facts.devices is None):
        return "global", []
    by_clock = None if dialect.per_epoch else _scope_by_clock(streams[0], facts)
    if by_clock or scope == "unstated":
        return by_clock or scope, []
    if len(streams) == 1:
        return "global", [_assumed("global", "one process prints")]
    if dialect.tagged_print_all and streams[0][0].record.rank is not None:
        return "global", [_assumed("global", "an MPI launcher started the processes")]
    return "own", [_assumed("own", f"{len(streams)} workers print")]


def _scope_by_clock(stream: list[Report], facts: Facts) -> str | None:
    """Does the printed rate fit one device's batch, or the whole job's, in the time that passed?"""
    timed = [report for report in stream if report.stamp_s is not None and report.rate is not None]
    batch = batch_per_device(facts)
    if not facts.devices or not batch or len(timed) < 4:
        return None
    steps, seconds = timed[-1].index - timed[0].index, timed[-1].stamp_s - timed[0].stamp_s
    if steps <= 0 or seconds <= 0:
        return None
    share = statistics.median(report.rate for report in timed) * seconds / (steps * batch)
    return "global" if share > math.sqrt(facts.devices) else "own"


def _assumed(scope: str, why: str) -> Finding:
    return Finding(
        code="scope_assumed",
        severity="flag",
        text=f"the log does not say whose rate it prints; {scope} is assumed, because {why}. Say --scope to be sure.",
        values=(("scope", scope), ("why", why)),
    )


def _factor(printers: int, facts: Facts, scope: str) -> float | None:
    """What the mean of the printed rates is multiplied with to be that of all devices; None if that is not known."""
    if scope == "global":
        return 1.0
    if scope == "unstated":
        return None
    if scope == "own" and printers > 1 and facts.devices in (None, printers):
        return float(printers)
    if scope == "own" and printers > 1 and printers == facts.nodes:
        return float(printers)
    return None if facts.devices is None else float(facts.devices)


# reports → steps


@dataclass(frozen=True, kw_only=True)
class _Job:
    """What turns the reports of a step into the step of the whole job."""

    printed_by_all: float | None  # factor from one printer's rate to that of all devices
    steps_counted: int | None  # how often the printed steps/s count one step; None if that is not known
    items_per_step: float | None
    epochs: bool  # a report without a number of steps is an epoch, and not a step
    items_per_batch: float
    arrival: Arrival | None


def _steps(streams: list[list[Report]], clock: int, job: _Job) -> list[Step]:
    """One step for each number that a stream reports.

    Times are taken from the first *clock* streams, those of the first file: one node's clock, never two (D21).
    """
    if len(streams) == 1:
        return [_step([report], [report], job) for report in streams[0]]
    at_index: dict[int, list[Report]] = {}
    timed: dict[int, list[Report]] = {}
    for number, stream in enumerate(streams):
        for report in stream:
            at_index.setdefault(report.index, []).append(report)
            if number < clock:
                timed.setdefault(report.index, []).append(report)
    return [_step(at_index[index], timed.get(index, []), job) for index in sorted(at_index)]


def _step(reports: list[Report], timed: list[Report], job: _Job) -> Step:
    one = reports[0] if len(reports) == 1 else _middle(reports)
    items = _items(one, job)
    ends = one if not timed else timed[0] if len(timed) == 1 else max(timed, key=lambda report: report.record.end)
    return Step(
        index=one.index,
        steps=one.steps,
        items=items,
        seconds=one.seconds,
        items_per_s=_rate(one, items, job),
        stamp_s=_latest(timed),
        arrival_s=job.arrival(ends.record.end) if job.arrival and timed else None,
        loss=one.record.loss,
        line=ends.record.line,
        after_pause=one.pause,
    )


def _middle(reports: list[Report]) -> Report:
    """What several printers say of one step, as one report: median times, mean rate."""
    rates = [report.rate for report in reports if report.rate is not None]
    return reports[0]._replace(
        steps=statistics.median_low([report.steps for report in reports]),
        seconds=_median([report.seconds for report in reports]),
        items=_median([report.items for report in reports]),
        rate=math.fsum(rates) / len(rates) if rates else None,
        pause=any(report.pause for report in reports),
    )


def _items(report: Report, job: _Job) -> float | None:
    """Items of the whole job in a report: as printed, or the batch times the steps."""
    if report.items is not None:
        return report.items * job.items_per_batch
    if report.record.global_batch is not None:
        return report.record.global_batch * job.items_per_batch * report.steps
    unknown = job.items_per_step is None or (
        job.epochs and report.record.interval is None and report.record.step is None
    )
    return None if unknown else job.items_per_step * report.steps


def _rate(report: Report, items: float | None, job: _Job) -> float | None:
    """The script's own figure, over all devices."""
    if report.rate is not None:
        return None if job.printed_by_all is None else report.rate * job.printed_by_all
    if report.record.steps_per_s is not None and items is not None and job.steps_counted:
        return report.record.steps_per_s / job.steps_counted * items / report.steps
    return items / report.seconds if items is not None and report.seconds is not None else None


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def _latest(timed: list[Report]) -> float | None:
    if len(timed) == 1:
        return timed[0].stamp_s
    return max((report.stamp_s for report in timed if report.stamp_s is not None), default=None)

"""From increments to steps: what every rank repeats is counted once, what each rank says of itself is summed.

The attempt with the most steps is the run.
"""

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from evalsuite.dialect import Dialect
from evalsuite.findings import Copied, JobAssumedLauncher, JobAssumedOnePrints, OwnAssumed, Restarted
from evalsuite.logs.steps import streams as streams_of
from evalsuite.logs.steps.increments import Increment, increments_of, tick_s
from evalsuite.logs.steps.job import Facts, batch_per_device
from evalsuite.logs.text.arrivals import Arrival
from evalsuite.logs.text.records import Record
from evalsuite.model import Finding, Step


@dataclass(frozen=True, kw_only=True)
class Merged:
    """The steps of the run."""

    steps: tuple[Step, ...]
    scope: str  # "global", "per_device" or "own"
    printers: int = 0
    tick_s: float | None = None  # of a clock that counts whole seconds
    findings: tuple[Finding, ...] = ()


def merge_records(
    files: Sequence[Sequence[Record]],
    dialect: Dialect,
    facts: Facts,
    *,
    arrivals: Sequence[Arrival | None] = (),
    scope: str | None = None,
) -> Merged:
    """The steps of the run whose *files* (one per process or node) hold these records, and their *arrivals*.

    *scope* overrules the dialect: a recipe may know whose rate its script prints.
    """
    spoke = [number for number, records in enumerate(files) if records]
    if not spoke:
        return Merged(steps=(), scope=scope or dialect.scope)
    printed = [streams_of.streams(files[number], dialect.number_repeats) for number in spoke]
    copies = max(map(streams_of.copies, printed))
    attempts = [streams_of.attempts(found, dialect, facts.devices) for found in printed]
    chosen = [max(reversed(found), key=streams_of.size) for found in attempts]
    streams = [increments_of(stream, dialect) for attempt in chosen for stream in attempt]
    whose, findings = _scope(streams, dialect, scope or dialect.scope, facts)
    rated = any(increment.rate is not None for stream in streams for increment in stream)
    job = _Job(
        printed_by_all=_factor(len(streams), facts, whose),
        steps_counted=(facts.nodes if dialect.steps_times_nodes else 1),
        items_per_step=_items_per_step(facts, dialect, rated=rated),
        epochs=dialect.per_epoch and not dialect.epochs_are_steps,
        items_per_epoch=facts.items_per_epoch if dialect.per_epoch else None,
        items_per_batch=facts.items_per_batch or 1.0,
        arrival=arrivals[spoke[0]] if arrivals else None,
    )
    restarts = max(len(found) for found in attempts)
    return Merged(
        steps=tuple(_steps(streams, len(chosen[0]), job)),
        scope=whose,
        printers=len(streams),
        tick_s=max(filter(None, (tick_s(stream, dialect) for stream in itertools.chain(*chosen))), default=None),
        findings=(
            *findings,
            *([Restarted(attempts=restarts)] if restarts > 1 else ()),
            *([Copied(copies=copies)] if copies > 1 else ()),
        ),
    )


# whose rate was printed


def _scope(streams: list[list[Increment]], dialect: Dialect, scope: str, facts: Facts) -> tuple[str, list[Finding]]:
    """Settles `auto` and `unstated`: by the clock where batch and devices are known; `auto` else by who prints."""
    if scope not in ("auto", "unstated"):
        return scope, []
    if facts.devices == 1 or (scope == "auto" and len(streams) == 1 and facts.devices is None):
        return "global", []
    by_clock = None if dialect.per_epoch or not facts.counts(dialect.unit) else _scope_by_clock(streams[0], facts)
    if by_clock or scope == "unstated":
        return by_clock or scope, []
    if len(streams) == 1:
        return "global", [JobAssumedOnePrints()]
    if dialect.tagged_print_all and streams[0][0].record.rank is not None:
        return "global", [JobAssumedLauncher()]
    return "own", [OwnAssumed(printers=len(streams))]


def _scope_by_clock(stream: list[Increment], facts: Facts) -> str | None:
    """One device's batch, or the whole job's, by the time that passed."""
    timed = [
        (increment.step, increment.stamp_s, increment.rate)
        for increment in stream
        if increment.stamp_s is not None and increment.rate is not None and not increment.record.relayed
    ]
    batch = batch_per_device(facts)
    if not facts.devices or not batch or len(timed) < 4:
        return None
    (first, began, _), (last, ended, _) = timed[0], timed[-1]
    steps, seconds = last - first, ended - began
    if steps <= 0 or seconds <= 0:
        return None
    share = statistics.median(rate for _, _, rate in timed) * seconds / (steps * batch)
    return "global" if share > math.sqrt(facts.devices) else "own"


def _items_per_step(facts: Facts, dialect: Dialect, *, rated: bool) -> float | None:
    """Of the whole job; None where the batch counts something else than the rates, or no step is told apart."""
    if dialect.epochs_are_steps and facts.batch_from_outside:
        return None
    fits = facts.counts(dialect.unit) if rated else facts.may_count(dialect.unit)
    return facts.items_per_step if fits else None


def _factor(printers: int, facts: Facts, scope: str) -> float | None:
    """From the mean printed rate to that of all devices; None if not known."""
    if scope == "global":
        return 1.0
    if scope == "unstated":
        return None
    if scope == "own" and printers > 1 and facts.devices in (None, printers):
        return float(printers)
    if scope == "own" and printers > 1 and printers == facts.nodes:
        return float(printers)
    return None if facts.devices is None else float(facts.devices)


# increments → steps


@dataclass(frozen=True, kw_only=True)
class _Job:
    """What turns the increments of a step into the step of the whole job."""

    printed_by_all: float | None  # factor from one printer's rate to that of all devices
    steps_counted: int | None  # how often the printed steps/s count one step
    items_per_step: float | None
    epochs: bool  # is an increment without a number of steps an epoch?
    items_per_epoch: float | None  # where every increment is an epoch
    items_per_batch: float
    arrival: Arrival | None


def _steps(streams: list[list[Increment]], clock: int, job: _Job) -> list[Step]:
    """One for each step number. Times are of the first *clock* streams: one node's clock, never two (D21)."""
    if len(streams) == 1:
        return [_step(increment, increment.record, increment.stamp_s, job) for increment in streams[0]]
    at_index: dict[int, list[Increment]] = {}
    timed: dict[int, list[Increment]] = {}
    for number, stream in enumerate(streams):
        for increment in stream:
            at_index.setdefault(increment.step, []).append(increment)
            if number < clock:
                timed.setdefault(increment.step, []).append(increment)
    return [_step_of_several(at_index[index], timed.get(index, []), job) for index in sorted(at_index)]


def _step_of_several(increments: list[Increment], timed: list[Increment], job: _Job) -> Step:
    """*timed*: those whose clock is taken."""
    one = increments[0] if len(increments) == 1 else _middle(increments)
    if not timed:
        return _step(one, one.record, None, replace(job, arrival=None))
    ends = max(timed, key=lambda increment: increment.record.end)
    return _step(one, ends.record, _latest(timed), job)


def _step(one: Increment, record: Record, at: float | None, job: _Job) -> Step:
    said, relayed, arrival = one.record, record.relayed, job.arrival
    items = _items(one, said, job)
    values = (
        one.step,
        one.steps,
        items,
        one.seconds,
        _rate(one, items, job),
        None if relayed else at,
        None if arrival is None else arrival(record.end),
        at if relayed else None,
        said.loss,
        record.line,
        one.pause,
        said.parts,
    )
    return tuple.__new__(Step, values)  # half of what Step(…) costs


def _middle(increments: list[Increment]) -> Increment:
    """Several printers of one step as one increment: median times, mean rate."""
    rates = [increment.rate for increment in increments if increment.rate is not None]
    return increments[0]._replace(
        steps=statistics.median_low([increment.steps for increment in increments]),
        seconds=_median([increment.seconds for increment in increments]),
        items=_median([increment.items for increment in increments]),
        rate=math.fsum(rates) / len(rates) if rates else None,
        pause=any(increment.pause for increment in increments),
    )


def _items(increment: Increment, said: Record, job: _Job) -> float | None:
    """As printed, or the batch times the steps."""
    if increment.items is not None:
        return increment.items * job.items_per_batch
    if said.global_batch is not None:
        return said.global_batch * job.items_per_batch * increment.steps
    if job.items_per_step is None or (job.epochs and said.interval is None and said.step is None):
        return None  # a whole epoch
    items = job.items_per_step * increment.steps
    return items if job.items_per_epoch is None else _with_last_batch(items, job)


def _with_last_batch(items: float, job: _Job) -> float:
    """The last batch of a data set may be what it had left."""
    epoch, batch = job.items_per_epoch, job.items_per_step
    return epoch if epoch is not None and batch is not None and items - batch < epoch <= items else items


def _rate(increment: Increment, items: float | None, job: _Job) -> float | None:
    """Over all devices."""
    if increment.rate is not None:
        return None if job.printed_by_all is None else increment.rate * job.printed_by_all
    if increment.record.steps_per_s is not None and items is not None and job.steps_counted:
        return increment.record.steps_per_s / job.steps_counted * items / increment.steps
    return items / increment.seconds if items is not None and increment.seconds is not None else None


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def _latest(timed: list[Increment]) -> float | None:
    if len(timed) == 1:
        return timed[0].stamp_s
    return max((increment.stamp_s for increment in timed if increment.stamp_s is not None), default=None)

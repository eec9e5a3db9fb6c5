"""What the records of a log make as numbers: its steps, the facts of its job, the throughput of the whole job.

A batch size that contradicts what is printed is not believed, and neither is a scope that a log's own total denies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evalsuite.dialect import Dialect, Scope
from evalsuite.findings import BatchDoubted
from evalsuite.logs.scan.scan import Scan
from evalsuite.logs.steps import merging as steps_room
from evalsuite.logs.steps import window
from evalsuite.logs.steps.job import Facts
from evalsuite.logs.steps.job import facts as facts_of
from evalsuite.logs.text.records import positive
from evalsuite.model import TIMES, Finding, Protocol, Step, Throughput, Window

DOUBT = BatchDoubted.limit  # a clock this many times away from the printed rate was multiplied by a wrong batch
SAME_LINE = 1.1  # a rate and a time of one line are nearer than that, with the right batch
NEARLY = 0.1  # a factor of the devices is told from noise at this distance


@dataclass(frozen=True, kw_only=True)
class Given:
    """What the caller knows and wants."""

    known: Facts
    case: bool  # is it known from a case, whose recipe chose it?
    protocol: Protocol
    scope: str | None
    ended_well: bool = False  # did every process end with exit code 0?


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """What the scans make as numbers."""

    said: Mapping[str, bytes | float]  # by the logs, of batch and devices
    facts: Facts  # what they say, and what is known from outside
    merged: steps_room.Merged
    throughput: Throughput | None
    final: float | None  # the log's own figure over all devices
    complete: bool  # is the window as long as asked?
    findings: tuple[Finding, ...] = ()


def numbers_of(
    scans: Sequence[Scan],
    arrivals: Sequence[steps_room.Arrival | None],
    dialect: Dialect,
    asked: Given,
) -> Numbers:
    """The numbers of the *scans* of one run, under the first scope that their own total does not deny."""
    said: dict[str, bytes | float] = {}
    for scan in scans:
        said = {**scan.facts, **said}
    facts = facts_of(asked.known, said, asked.case)
    tried: list[Numbers] = []
    final = None if positive(said.get("resumed_step")) else _final(scans, dialect, facts)
    for whose in (asked.scope, *_other_scopes(asked.scope, dialect)):
        found = steps_room.merged([scan.records for scan in scans], dialect, facts, arrivals=arrivals, scope=whose)
        measured, complete = window.throughput(
            found.steps,
            unit=dialect.unit,
            protocol=asked.protocol,
            warmed_up=dialect.warmed_up,
            epochs=in_epochs(found.steps, dialect),
            trust_stamps=dialect.trust_stamps,
            tick_s=found.tick_s,
        )
        measured = None if warmup_alone(scans, found.steps, dialect, asked.protocol) else measured
        numbers = Numbers(said=said, facts=facts, merged=found, throughput=measured, final=final, complete=complete)
        tried.append(numbers)
        if not _contradicted(numbers):
            break
    else:
        numbers = tried[0]
    given = not asked.case and asked.known.batch_per_device is not None
    rated = any(record.rate is not None for scan in scans for record in scan.records)
    doubt = _batch_doubt(numbers, said, dialect, rated=rated) if given else None
    if doubt is None:
        return numbers
    without = replace(asked, known=replace(asked.known, batch_per_device=None))
    printed = numbers_of(scans, arrivals, dialect, without)
    return replace(printed, findings=(doubt,)) if printed.throughput or printed.final else numbers


def _batch_doubt(
    numbers: Numbers, said: Mapping[str, bytes | float], dialect: Dialect, *, rated: bool
) -> Finding | None:
    """Is the clock so far from what the log prints that the batch size given must be wrong? *rated*: it prints rates.

    Where both are apart by the number of devices, it may also be that the rate is another's than the dialect says.
    """
    measured, devices = numbers.throughput, numbers.facts.devices
    if (
        measured is None
        or measured.items_per_s is None
        or measured.window is None
        or measured.is_mean_of_rates
        or "batch_per_device" in said
        or "global_batch" in said
    ):
        return None
    total = numbers.final if dialect.scope == "global" else None
    printed = window.mean_rate(within(numbers.merged.steps, measured.window)) if rated else total
    if printed is None:
        return None
    factor = printed / measured.items_per_s
    limit = SAME_LINE if measured.method == TIMES and rated else DOUBT
    if 1 / limit < factor < limit or (devices and _nearly(max(factor, 1 / factor), devices)):
        return None
    return BatchDoubted(clock_items_per_s=measured.items_per_s, printed_items_per_s=printed, factor=factor)


def within(steps: Sequence[Step], span: Window) -> list[Step]:
    """The *steps* of the window *span*."""
    return [step for step in steps if span.first_step <= step.index <= span.last_step]


def _nearly(factor: float, whole: float) -> bool:
    return abs(factor / whole - 1) < NEARLY


def warmup_alone(scans: Sequence[Scan], steps: Sequence[Step], dialect: Dialect, protocol: Protocol) -> bool:
    """Is the only report of a log one of its warm-up?"""
    records = [record for scan in scans for record in scan.records] if len(steps) == 1 else []
    since_start = any(record.mean_s is not None or record.elapsed_s is not None for record in records)
    warmed_up = dialect.warmed_up or in_epochs(steps, dialect)
    return window.warmup_alone(steps, protocol, warmed_up=warmed_up, since_start=since_start)


def in_epochs(steps: Sequence[Step], dialect: Dialect) -> bool:
    """Does each report cover an epoch, and nobody knows of how many steps?"""
    return dialect.per_epoch and (dialect.epochs_are_steps or not any(step.steps > 1 for step in steps))


def _other_scopes(scope: str | None, dialect: Dialect) -> tuple[Scope, ...]:
    """What a log's own total can prove its step lines to be, against what they say."""
    return () if scope or not dialect.final or dialect.final_scope != "global" else ("global", "per_device")


def _contradicted(numbers: Numbers) -> bool:
    """Is the printed figure away from the log's own total by a whole factor of the devices?"""
    devices, printed = numbers.facts.devices, numbers.throughput and numbers.throughput.printed_items_per_s
    if not devices or devices == 1 or not printed or not numbers.final:
        return False
    ratio = max(numbers.final / printed, printed / numbers.final)
    return _nearly(ratio, devices)


def _final(scans: Sequence[Scan], dialect: Dialect, facts: Facts) -> float | None:
    last = next((scan.final for scan in scans if scan.final is not None), None)
    if last is None or dialect.final_scope == "global":
        return last
    return None if facts.devices is None else last * facts.devices

"""From records to steps: what every rank repeats is counted once, what each rank says of itself is summed.

One printer's records make a stream, in which the step number only grows. Streams that run side by side are
ranks of one attempt; a stream that begins after the others have ended is a restart. The attempt with the most
steps is the run.
"""

import itertools
import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evalsuite.dialect import Dialect
from evalsuite.model import Finding, Step
from evalsuite.records import DAY_S, HALF_DAY_S, Record

Stream = list[Record]


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What is known of the run beside its steps, from the options, the case, or the log itself."""

    devices: int | None = None
    nodes: int | None = None
    batch_per_device: float | None = None
    global_batch: float | None = None  # per optimiser step
    items_per_batch: float = 1.0  # tokens in a sequence, where the unit is tokens
    model: str | None = None


@dataclass(frozen=True, kw_only=True)
class Merged:
    """The steps of the run, and how they came about."""

    steps: tuple[Step, ...]
    scope: str  # whose rate was printed, as it was found out: "global", "per_device" or "own"
    printers: int = 0
    attempts: int = 0
    findings: tuple[Finding, ...] = ()


def merged(
    files: Sequence[Sequence[Record]],
    dialect: Dialect,
    facts: Facts,
    *,
    arrivals: Sequence[Callable[[int], float | None]] = (),
    scope: str | None = None,
) -> Merged:
    """The steps of the run whose log *files* (one per process or node) hold these records.

    *arrivals*: for each file, when the byte before an offset arrived. *scope* overrules the dialect: a recipe
    may know whose rate its script prints.
    """
    spoke = [number for number, records in enumerate(files) if records]
    if not spoke:
        return Merged(steps=(), scope=scope or dialect.scope)
    attempts = [_attempts(files[number], dialect, facts.devices) for number in spoke]
    chosen = [max(reversed(found), key=_size) for found in attempts]
    streams = [_counted(stream, dialect) for attempt in chosen for stream in attempt]
    clock = len(chosen[0])  # the streams of the first file: one node's clock is used, never two (D21)
    arrival = arrivals[spoke[0]] if arrivals else None
    whose, findings = _scope(streams, scope or dialect.scope, facts)
    restarts = max(len(found) for found in attempts)
    return Merged(
        steps=tuple(_steps(streams, clock, arrival, facts, whose)),
        scope=whose,
        printers=len(streams),
        attempts=restarts,
        findings=(*findings, *(_restart_finding(restarts) if restarts > 1 else ())),
    )


# records → streams → attempts


def _attempts(records: Sequence[Record], dialect: Dialect, devices: int | None) -> list[list[Stream]]:
    """The streams of one file, in groups that ran side by side."""
    streams = [stream for stream in _streams(records, dialect) if stream]
    streams = _without_copies(streams, dialect)
    if devices and len(streams) == devices and _same_steps(streams):
        return [streams]  # ranks whose output was written one after the other
    groups: list[list[Stream]] = []
    for stream in sorted(streams, key=lambda stream: stream[0].end):
        if groups and stream[0].end < max(other[-1].end for other in groups[-1]):
            groups[-1].append(stream)
        else:
            groups.append([stream])
    return groups


def _streams(records: Sequence[Record], dialect: Dialect) -> list[Stream]:
    """Each record joins the stream of its rank whose last step number is the nearest below its own."""
    by_rank: dict[str | None, list[Stream]] = {}
    for record in records:
        streams = by_rank.setdefault(record.rank, [])
        if record.key is None:
            streams[:] = streams or [[]]
            streams[0].append(record)
            continue
        open_streams = [stream for stream in streams if stream[-1].key < record.key]
        if open_streams:
            max(open_streams, key=lambda stream: (stream[-1].key, stream[-1].end)).append(record)
        else:
            streams.append([record])
    return [stream for streams in by_rank.values() for stream in streams]


def _without_copies(streams: list[Stream], dialect: Dialect) -> list[Stream]:
    """One of each set of streams that say the same to the last digit: a second handler, or a repeated figure."""
    kept: dict[tuple, Stream] = {}
    for stream in streams:
        rank = None if dialect.scope == "global" else stream[0].rank
        said = tuple((record.key, record.rate, record.step_s, record.report_s, record.loss) for record in stream)
        untagged = dialect.scope != "global" and rank is None
        kept.setdefault((rank, said, stream[0].stamp_s if untagged else 0), stream)
    return list(kept.values())


def _same_steps(streams: list[Stream]) -> bool:
    first = [record.key for record in streams[0]]
    return len(streams) > 1 and all([record.key for record in stream] == first for stream in streams)


def _size(attempt: list[Stream]) -> int:
    return max(len(stream) for stream in attempt)


def _restart_finding(attempts: int) -> list[Finding]:
    return [
        Finding(
            code="restarted",
            severity="note",
            text=f"the log holds {attempts} attempts; the one with the most steps is read.",
            values=(("attempts", str(attempts)),),
        )
    ]


# step numbers that count over the whole run


@dataclass(frozen=True, kw_only=True, slots=True)
class _Report:
    """A record with its place in the run: the end of step *index*, *steps* after the report before."""

    record: Record
    index: int
    steps: int
    pause: bool
    stamp_s: float | None
    seconds: float | None  # of the whole report, by the script's own clock
    rate: float | None  # items per second of the printer, in this report alone
    items: float | None  # of the whole job in this report, where the log says


def _counted(stream: Stream, dialect: Dialect) -> list[_Report]:
    usual = _usual_interval(stream, dialect)
    base = 1 if _zero_based(stream, usual, dialect) else 0
    found: list[_Report] = []
    for record in stream:
        found.append(_report(record, found[-1] if found else None, base, usual, dialect))
    return found


def _report(record: Record, before: _Report | None, base: int, usual: int, dialect: Dialect) -> _Report:
    index, steps = _place(record, before, base, usual, dialect)
    new_epoch = before is not None and record.epoch != before.record.epoch and not dialect.per_epoch
    done = _Done(
        now=None if record.step is None else record.step + base - dialect.mean_since,
        before=_done_before(before, new_epoch, base, dialect),
        steps=steps,
    )
    return _Report(
        record=record,
        index=index,
        steps=steps,
        pause=record.gap or new_epoch,
        stamp_s=_unwrapped(record, before),
        seconds=_seconds(record, before, done),
        rate=_increment(record, before, done) if dialect.averaging == "cumulative" else record.rate,
        items=_items(record, before),
    )


def _done_before(before: _Report | None, new_epoch: bool, base: int, dialect: Dialect) -> int | None:
    if before is None or new_epoch or before.record.step is None:
        return None
    return before.record.step + base - dialect.mean_since


def _zero_based(stream: Stream, usual: int, dialect: Dialect) -> bool:
    """Is the first step numbered 0? Then the 20th is 19, which is what a log of every 20th step shows."""
    if dialect.zero_based is not None:
        return dialect.zero_based
    numbers = [record.step for record in stream if record.step is not None]
    return 0 in numbers or (usual > 1 and bool(numbers) and (numbers[0] + 1) % usual == 0)


def _usual_interval(stream: Stream, dialect: Dialect) -> int:
    """Training steps between two reports, where the line does not say."""
    if dialect.every:
        return dialect.every
    pairs = itertools.pairwise(stream)
    gaps = [b.step - a.step for a, b in pairs if a.epoch == b.epoch and a.step is not None and b.step is not None]
    return max(1, statistics.mode(gaps)) if gaps else 1


def _place(record: Record, before: _Report | None, base: int, usual: int, dialect: Dialect) -> tuple[int, int]:
    """(number of the step in the run, steps since the report before)."""
    if record.step is None:
        steps = max(1, int(record.interval or usual))
        return (before.index if before else 0) + steps, steps
    step = max(1, record.step + base)
    if before is None:
        return step, max(1, min(step, int(record.interval or usual)))
    if dialect.steps_restart == "epoch" and record.epoch != before.record.epoch:
        rest = max(0, (before.record.of or 0) - (before.record.step or 0) - base)
        return before.index + rest + step, max(1, min(step, int(record.interval or step)))
    steps = max(1, step - max(1, (before.record.step or 0) + base))
    return before.index + steps, steps


def _unwrapped(record: Record, before: _Report | None) -> float | None:
    """The stamp, a day later where the time of day has passed midnight."""
    stamp = record.stamp_s
    if stamp is None or before is None or before.stamp_s is None:
        return stamp
    days = round((before.stamp_s - stamp) / DAY_S) if stamp < before.stamp_s - HALF_DAY_S else 0
    return stamp + DAY_S * max(0, days)


# whose rate was printed


def _scope(streams: list[list[_Report]], scope: str, facts: Facts) -> tuple[str, list[Finding]]:
    """Settles `auto`: by the clock where batch and devices are known, else by who prints."""
    if scope != "auto":
        return scope, []
    if facts.devices == 1 or (len(streams) == 1 and facts.devices is None):
        return "global", []
    by_clock = _scope_by_clock(streams[0], facts)
    if by_clock:
        return by_clock, []
    if len(streams) == 1:
        return "global", [_assumed("global", "one process prints")]
    tagged = streams[0][0].record.rank is not None
    if tagged:
        return "global", [_assumed("global", "an MPI launcher started the processes")]
    return "own", [_assumed("own", f"{len(streams)} workers print")]


def _scope_by_clock(stream: list[_Report], facts: Facts) -> str | None:
    """Does the printed rate fit one device's batch, or the whole job's, in the time that passed?"""
    devices, batch = facts.devices, facts.batch_per_device
    timed = [report for report in stream if report.stamp_s is not None and report.rate is not None]
    if not devices or not batch or len(timed) < 4:
        return None
    steps, seconds = timed[-1].index - timed[0].index, timed[-1].stamp_s - timed[0].stamp_s
    if steps <= 0 or seconds <= 0:
        return None
    share = statistics.median(report.rate for report in timed) * seconds / (steps * batch)
    return "global" if share > math.sqrt(devices) else "own"


def _assumed(scope: str, why: str) -> Finding:
    return Finding(
        code="scope_assumed",
        severity="flag",
        text=f"the log does not say whose rate it prints; {scope} is assumed, because {why}. Say --scope to be sure.",
        values=(("scope", scope), ("why", why)),
    )


# figures of one report alone: a cumulative mean becomes the increment since the report before


@dataclass(frozen=True, kw_only=True)
class _Done:
    """How many steps a cumulative mean is over, now and at the report before (None: another mean, or none)."""

    now: int | None
    before: int | None
    steps: int

    @property
    def increments(self) -> bool:
        return self.now is not None and self.before is not None and 0 < self.before < self.now

    @property
    def first(self) -> bool:
        """Is the mean over this report alone?"""
        return self.now == self.steps


def _seconds(record: Record, before: _Report | None, done: _Done) -> float | None:
    if record.report_s is not None:
        return record.report_s
    if record.elapsed_s is not None:
        began = before.record.elapsed_s if before else 0.0
        return None if began is None else _above_zero(record.elapsed_s - began)
    if record.step_s is not None and (done.steps == 1 or record.mean_s is None):
        return record.step_s * done.steps
    if record.mean_s is None:
        return None
    if done.increments and before.record.mean_s is not None:
        return _above_zero(record.mean_s * done.now - before.record.mean_s * done.before)
    return record.mean_s * done.steps


def _increment(record: Record, before: _Report | None, done: _Done) -> float | None:
    """The rate over this report alone. With r the mean rate after n steps, n ÷ r is the time since the start
    in units of one step's items, so the increment needs no batch size."""
    if record.rate is None or not done.increments:
        return record.rate if done.first or before is None or done.before is None or done.before <= 0 else None
    if before.record.rate is None:
        return None
    units = done.now / record.rate - done.before / before.record.rate
    return (done.now - done.before) / units if units > 0 else None


def _items(record: Record, before: _Report | None) -> float | None:
    if record.items is not None or record.consumed is None:
        return record.items
    began = before.record.consumed if before else None
    return None if began is None else _above_zero(record.consumed - began)


def _above_zero(value: float) -> float | None:
    return value if value > 1e-9 else None


# streams → steps


def _steps(streams: list[list[_Report]], clock: int, arrival: Callable | None, facts: Facts, scope: str) -> list[Step]:
    """One step for each number that a stream reports; times are taken from the first *clock* streams."""
    at_index: dict[int, list[_Report]] = {}
    timed: dict[int, list[_Report]] = {}
    for number, stream in enumerate(streams):
        for report in stream:
            at_index.setdefault(report.index, []).append(report)
            if number < clock:
                timed.setdefault(report.index, []).append(report)
    factor = _factor(len(streams), facts, scope)
    batch = _global_batch(facts)
    return [_step(at_index[i], timed.get(i, []), arrival, factor, batch, facts) for i in sorted(at_index)]


def _step(
    reports: list[_Report],
    timed: list[_Report],
    arrival: Callable[[int], float | None] | None,
    factor: float | None,
    batch: float | None,
    facts: Facts,
) -> Step:
    steps = statistics.median_low([report.steps for report in reports])
    seconds = _median([report.seconds for report in reports])
    items = _median([report.items for report in reports]) or _batch_items(reports, batch, steps)
    items = None if items is None else items * facts.items_per_batch
    rates = [rate for rate in (_rate(report, batch, facts) for report in reports) if rate is not None]
    last = max(reports, key=lambda report: report.record.end)
    return Step(
        index=reports[0].index,
        steps=steps,
        items=items,
        seconds=seconds,
        items_per_s=_total(rates, factor, items, seconds),
        stamp_s=_latest([report.stamp_s for report in timed]),
        arrival_s=_latest([arrival(report.record.end) for report in timed]) if arrival else None,
        loss=next((report.record.loss for report in reports if report.record.loss is not None), None),
        line=last.record.line if not timed else max(report.record.line for report in timed),
        after_pause=any(report.pause for report in reports),
    )


def _total(rates: list[float], factor: float | None, items: float | None, seconds: float | None) -> float | None:
    """The rate over all devices: mean of the printers × what one of them stands for."""
    if rates:
        return None if factor is None else statistics.fmean(rates) * factor
    return items / seconds if items is not None and seconds is not None else None


def _rate(report: _Report, batch: float | None, facts: Facts) -> float | None:
    if report.rate is not None:
        return report.rate
    if report.record.steps_per_s is not None and batch is not None:
        return report.record.steps_per_s * batch * facts.items_per_batch
    return None


def _batch_items(reports: list[_Report], batch: float | None, steps: int) -> float | None:
    printed = _median([report.record.global_batch for report in reports])
    batch = printed if printed is not None else batch
    return None if batch is None else batch * steps


def _factor(printers: int, facts: Facts, scope: str) -> float | None:
    """What the mean of the printed rates is multiplied with; None if that is not known."""
    if scope == "global":
        return 1.0
    if scope == "own" and (printers > 1 or facts.devices is None):
        whole_job = facts.devices is None or printers in (facts.devices, facts.nodes)
        return float(printers) if printers > 1 and whole_job else facts.devices
    return None if facts.devices is None else float(facts.devices)


def _global_batch(facts: Facts) -> float | None:
    if facts.global_batch is not None:
        return facts.global_batch
    if facts.batch_per_device is None or facts.devices is None:
        return None
    return facts.batch_per_device * facts.devices


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def _latest(values: Sequence[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)

"""From a stream to increments: step numbers over the whole run, and figures of one increment alone.

A cumulative mean becomes what was added since the increment before, and is never averaged.
"""

import itertools
import math
import operator
import statistics
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evalsuite.contracts.dialect import Dialect
from evalsuite.logs.text.records import DAY_S, HALF_DAY_S, Record


class Increment(NamedTuple):
    """A record that ends step *step*, *steps* after the increment before."""

    record: Record
    step: int
    steps: int
    pause: bool
    stamp_s: float | None
    seconds: float | None  # by the script's own clock
    rate: float | None  # items per second of the printer
    items: float | None  # of the whole job


_WHOLE = 1e-6  # seconds: of rounding, in what is computed from a mean
JOINED = 10.0  # ticks of a coarse clock in an increment


_BEGINS = operator.attrgetter("begins")
_FIGURES = operator.attrgetter("rate", "steps_per_s", "step_s", "report_s", "mean_s", "elapsed_s")


def increments_of(stream: Sequence[Record], dialect: Dialect) -> list[Increment]:
    stream = _with_times(stream, dialect.mean_reports) if dialect.mean_reports else stream
    by_stamps = bool(dialect.clock_s) and all(
        record.stamp_s is not None and record.mean_s is None and record.elapsed_s is None for record in stream
    )
    stream = _by_stamps(stream) if by_stamps else stream
    if dialect.clock_s:  # records so far apart, by their means since the epoch began, and the ends of shorter epochs
        apart_s = JOINED * dialect.clock_s
        epochs = [[*records] for _, records in itertools.groupby(stream, operator.attrgetter("epoch"))]
        stream = [one for records in epochs for one in _joined_of_epoch(records, apart_s, ends=len(epochs) > 1)]
    base, usual = _numbering(stream, dialect)
    increments: list[Increment] = []
    before = begun = None
    left_out = False
    bracketed = any(map(_BEGINS, stream))
    for record in stream:
        if record.begins:
            begun = record
            continue
        if bracketed and begun is None:  # its beginning is unknown
            before = Increment(record, before.step if before else 0, 0, False, None, None, None, None)
            continue
        before = _increment(record if begun is None else _timed(record, begun), before, base, usual, dialect)
        begun = None
        stamped = record.stamp_s is not None and not any(_FIGURES(record))  # then a clock leaves it out
        if (record.gap and dialect.evaluation_inside and not stamped) or (by_stamps and before.pause):
            left_out = True
            continue
        increments.append(before._replace(pause=True) if left_out else before)  # no stamp tells where it began
        left_out = False
    training = [increment for increment in increments if not increment.record.evaluated]
    return training if len(training) > 1 else increments  # all, where each has an evaluation inside


def _by_stamps(stream: Sequence[Record]) -> list[Record]:
    """Seconds since the first record, where stamps of whole seconds are all there is."""
    timed: list[Record] = []
    at = began = stream[0].stamp_s or 0.0
    for record in stream:
        stamp = record.stamp_s or 0.0
        days = round((at - stamp) / DAY_S) if stamp < at - HALF_DAY_S else 0  # the time of day has passed midnight
        at = stamp + DAY_S * days
        timed.append(record._replace(elapsed_s=at - began))
    return timed


def _with_times(stream: Sequence[Record], most: int) -> list[Record]:
    timed: list[Record] = []
    for number, record in enumerate(stream):
        since, at = timed[max(0, number - most)] if timed else None, None if timed else 0.0
        if since and None not in (record.step, since.step, since.elapsed_s) and record.steps_per_s:
            at = (since.elapsed_s or 0.0) + ((record.step or 0) - (since.step or 0)) / record.steps_per_s
        timed.append(record._replace(elapsed_s=at, steps_per_s=None))
    return timed


def _joined_of_epoch(records: Sequence[Record], seconds: float, *, ends: bool) -> list[Record]:
    """A pause passes on to the next."""
    kept: list[Record] = []
    passed: list[Record] = []
    paused = False
    for record in records:
        before = kept[-1] if kept else None
        began, ended = before and _since_epoch_s(before), _since_epoch_s(record)
        paused = paused or record.gap
        if began is None or ended is None or ended - began >= seconds:
            lines = [] if before is None or paused else [before, *passed, record]
            kept.append(record._replace(gap=paused, parts=tuple(_parts(lines))))
            paused = False
            passed = []
        elif before is not None:
            passed.append(record)
    if ends and passed and len(kept) == 1:
        last = next(record for record in passed if _since_epoch_s(record) == _since_epoch_s(passed[-1]))
        kept.append(last._replace(gap=paused))
    return kept


def _parts(lines: Sequence[Record]) -> Iterator[tuple[int, float]]:
    told = [(line.step, at) for line in lines if line.step is not None and (at := _since_epoch_s(line)) is not None]
    for (first, began), (last, ended) in itertools.pairwise(told):
        if last > first:
            yield last - first, ended - began


def tick_s(stream: Sequence[Record]) -> float | None:
    """Of a coarse clock: 1 s where it counts whole seconds and nothing finer is printed with them."""
    told = [seconds for record in stream if (seconds := _since_epoch_s(record)) is not None]
    whole = all(math.isclose(seconds, round(seconds), abs_tol=_WHOLE) for seconds in told)
    return 1.0 if told and whole else None


def _since_epoch_s(record: Record) -> float | None:
    if record.step is None or record.mean_s is None:
        return record.elapsed_s
    return record.step * record.mean_s


def _timed(record: Record, begun: Record) -> Record:
    seconds = _difference(record.stamp_s, begun.stamp_s)
    items = _difference(record.consumed, begun.consumed)
    return record._replace(
        report_s=seconds if seconds is not None and seconds > 0 else None,
        interval=record.interval or begun.interval,
        items=None if items is None else _above_zero(items),
        consumed=record.consumed if items is None else None,
    )


def _difference(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None else after - before


def _increment(record: Record, before: Increment | None, base: int, usual: int, dialect: Dialect) -> Increment:
    new_epoch = before is not None and record.epoch != before.record.epoch
    restart = new_epoch and dialect.steps_restart != "never"
    index, steps = _numbers(record, before, base, usual, restart, dialect.each)
    new_epoch = new_epoch and not dialect.per_epoch
    cumulative = dialect.averaging == "cumulative"
    mean_s, stamp, items = record.mean_s, record.stamp_s, record.items
    began = before.stamp_s if before else None
    if stamp is not None and began is not None and stamp < began - HALF_DAY_S:
        stamp += DAY_S * round((began - stamp) / DAY_S)  # the time of day has passed midnight
    alone_s = record.step_s if steps == 1 or mean_s is None else None  # a mean tells more
    seconds, rate = None, record.rate
    if cumulative or (mean_s is not None and alone_s is None):
        seconds, rate = _added(record, None if new_epoch else before, base - dialect.mean_since, steps)
    if record.report_s is not None:
        own = record.interval if record.step is not None and record.interval else steps
        seconds = record.report_s * max(1.0, steps / own)  # of 20 iterations, where lines between are lost
    elif record.elapsed_s is not None:
        passed = _difference(record.elapsed_s, before.record.elapsed_s if before else 0.0)
        seconds = None if passed is None else _above_zero(passed)
    values = (
        record,
        index * dialect.each,
        steps * dialect.each,
        record.gap or new_epoch,
        stamp,
        seconds if alone_s is None else alone_s * steps,
        rate if cumulative else record.rate,
        items if items is None and record.consumed is None else _items(record, before, steps, dialect),
    )
    return tuple.__new__(Increment, values)  # half of what Increment(…) costs


_ENOUGH = 50  # increments


def _numbering(stream: Sequence[Record], dialect: Dialect) -> tuple[int, int]:
    """(What printed numbers lack, steps between two increments where the line does not say).

    A log of every 20th step that is numbered from 0 shows 19.
    """
    numbered = [(record.epoch, record.step) for record in stream[:_ENOUGH] if record.step is not None]
    gaps = [after - before for (epoch, before), (same, after) in itertools.pairwise(numbered) if epoch == same]
    usual = dialect.every or (max(1, statistics.mode(gaps)) if gaps else 1)
    if dialect.zero_based is not None:
        return int(dialect.zero_based), usual
    steps = [record.step for record in stream if record.step is not None]
    return int(0 in steps or (usual > 1 and bool(steps) and (steps[0] + 1) % usual == 0)), usual


def _numbers(
    record: Record, before: Increment | None, base: int, usual: int, restart: bool, each: int
) -> tuple[int, int]:
    if record.step is None:
        steps = max(1, int(record.interval or usual))
        return (before.step // each if before else 0) + steps, steps
    step = record.step + base
    step = step if step > 1 else 1
    own = record.interval or (None if record.since is None else record.step - record.since)
    if before is None:
        return step, max(1, min(step, int(own or usual)))
    if restart:
        rest = max(0, (before.record.of or 0) - (before.record.step or 0) - base)
        return before.step // each + rest + step, max(1, min(step, int(own or step)))
    earlier = (before.record.step or 0) + base
    steps = step - (earlier if earlier > 1 else 1)
    steps = steps if steps > 1 else 1
    return before.step // each + steps, steps


def _added(now: Record, before: Increment | None, offset: int, steps: int) -> tuple[float | None, float | None]:
    """(Seconds, rate) that this increment added to the means since the run (or the epoch) began.

    n ÷ r, the mean rate after n steps, is the time since the start in units of one step's items: no batch is needed.
    """
    seconds, rate = None if now.mean_s is None else now.mean_s * steps, now.rate
    earlier = before.record if before else now
    n, m = (now.step or 0) + offset, (earlier.step or 0) + offset
    if before is None or now.step is None or earlier.step is None or not 0 < m < n:
        return seconds, rate
    if now.mean_s is not None and earlier.mean_s is not None:
        seconds = _above_zero(now.mean_s * n - earlier.mean_s * m)
    units = n / rate - m / earlier.rate if rate is not None and earlier.rate is not None else 0.0
    return seconds, (n - m) / units if units > 0 else None


def _items(record: Record, before: Increment | None, steps: int, dialect: Dialect) -> float | None:
    if record.consumed is None:
        alone = dialect.averaging == "step" and record.step is not None
        return record.items if record.items is None or not alone else record.items * steps
    items = _difference(record.consumed, before.record.consumed if before else None)
    return None if items is None else _above_zero(items)


def _above_zero(value: float) -> float | None:
    return value if value > 1e-9 else None

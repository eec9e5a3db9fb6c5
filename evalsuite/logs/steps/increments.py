"""From a stream to increments: step numbers over the whole run, and figures of one increment alone.

A cumulative mean becomes what was added since the increment before, and is never averaged.
"""

import itertools
import math
import operator
import statistics
from collections.abc import Sequence
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
_ENOUGH = 50  # increments
LEAST = 1e-9  # seconds or items that have passed
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
    # what printed numbers lack, and the steps between two increments where the line does not say
    numbered = [(record.epoch, record.step) for record in stream[:_ENOUGH] if record.step is not None]
    gaps = [after - before for (epoch, before), (same, after) in itertools.pairwise(numbered) if epoch == same]
    usual = dialect.every or (max(1, statistics.mode(gaps)) if gaps else 1)
    steps = [record.step for record in stream if record.step is not None]
    late = usual > 1 and bool(steps) and (steps[0] + 1) % usual == 0  # every 20th step, numbered from 0, shows 19
    base = int(0 in steps or late) if dialect.zero_based is None else int(dialect.zero_based)
    increments: list[Increment] = []
    before = begun = None
    left_out = False
    bracketed = any([record.begins for record in stream])
    for record in stream:
        if record.begins:
            begun = record
            continue
        if bracketed and begun is None:  # its beginning is unknown
            before = Increment(record, before.step if before else 0, 0, False, None, None, None, None)
            continue
        before = _increment(record if begun is None else _timed(record, begun), before, base, usual, dialect)
        begun = None
        inside = record.gap and dialect.evaluation_inside  # what has a stamp alone, a clock leaves out
        if (inside and (record.stamp_s is None or any(_FIGURES(record)))) or (by_stamps and before.pause):
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
        at = stamp + (DAY_S * round((at - stamp) / DAY_S) if stamp < at - HALF_DAY_S else 0)  # past midnight
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
        began, ended = _since_epoch_s(kept[-1]) if kept else None, _since_epoch_s(record)
        paused = paused or record.gap
        if began is None or ended is None or ended - began >= seconds:
            lines = [] if paused or not kept else [*kept[-1:], *passed, record]
            told = [(line.step, at) for line in lines if line.step and (at := _since_epoch_s(line)) is not None]
            pairs = [(b[0] - a[0], b[1] - a[1]) for a, b in itertools.pairwise(told) if b[0] > a[0]]
            kept.append(record._replace(gap=paused, parts=tuple(pairs)))
            paused = False
            passed = []
        else:
            passed.append(record)
    if ends and passed and len(kept) == 1:
        last = next(record for record in passed if _since_epoch_s(record) == _since_epoch_s(passed[-1]))
        kept.append(last._replace(gap=paused))
    return kept


def tick_s(stream: Sequence[Record]) -> float | None:
    """Of a coarse clock: 1 s where it counts whole seconds and nothing finer is printed with them."""
    told = [seconds for record in stream if (seconds := _since_epoch_s(record)) is not None]
    return 1.0 if told and all(math.isclose(seconds, round(seconds), abs_tol=_WHOLE) for seconds in told) else None


def _since_epoch_s(record: Record) -> float | None:
    return record.elapsed_s if record.step is None or record.mean_s is None else record.step * record.mean_s


def _timed(record: Record, begun: Record) -> Record:
    return record._replace(
        report_s=_passed(record.stamp_s, begun.stamp_s),
        interval=record.interval or begun.interval,
        items=_passed(record.consumed, begun.consumed),
        consumed=record.consumed if begun.consumed is None else None,
    )


def _passed(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None or after - before <= LEAST else after - before


def _increment(record: Record, before: Increment | None, base: int, usual: int, dialect: Dialect) -> Increment:
    each, said, earlier = dialect.each, record.step, before.record if before else None
    new_epoch = earlier is not None and record.epoch != earlier.epoch
    falls = earlier is not None and said is None and (record.consumed or 0.0) < (earlier.consumed or 0.0)  # likewise
    index = before.step // each if before else 0
    if said is None:
        steps = max(1, int(record.interval or usual))
        index += steps
    else:
        step = said + base if said + base > 1 else 1  # as max(), whose calls cost as much as all else here
        if earlier is not None and not (new_epoch and dialect.steps_restart != "never"):
            began = (earlier.step or 0) + base
            steps = step - (began if began > 1 else 1)
            steps = steps if steps > 1 else 1
            index += steps
        else:
            index += step + (max(0, (earlier.of or 0) - (earlier.step or 0) - base) if earlier else 0)
            own = record.interval or (None if record.since is None else said - record.since)
            steps = max(1, min(step, int(own or (step if earlier else usual))))
    new_epoch = new_epoch and not dialect.per_epoch
    cumulative = dialect.averaging == "cumulative"
    mean_s, stamp, since = record.mean_s, record.stamp_s, before.stamp_s if before else None
    if stamp is not None and since is not None and stamp < since - HALF_DAY_S:
        stamp += DAY_S * round((since - stamp) / DAY_S)  # the time of day has passed midnight
    alone_s = record.step_s if steps == 1 or mean_s is None else None  # a mean tells more
    seconds, rate = None, record.rate
    if cumulative or (mean_s is not None and alone_s is None):
        seconds, rate = _added(record, None if new_epoch else earlier, base - dialect.mean_since, steps)
    if record.report_s is not None:
        own_steps = record.interval if said is not None and record.interval else steps
        seconds = record.report_s * max(1.0, steps / own_steps)  # of 20 iterations, where lines between are lost
    elif record.elapsed_s is not None:
        seconds = _passed(record.elapsed_s, earlier.elapsed_s if earlier else 0.0)
    items = record.items
    if record.consumed is not None:
        items = _passed(record.consumed, earlier.consumed if earlier else None)
    elif items is not None and dialect.averaging == "step" and said is not None:
        items *= steps
    values = (
        record,
        index * each,
        steps * each,
        record.gap or new_epoch or falls,
        stamp,
        seconds if alone_s is None else alone_s * steps,
        rate if cumulative else record.rate,
        items,
    )
    return tuple.__new__(Increment, values)  # half of what Increment(…) costs


def _added(now: Record, earlier: Record | None, offset: int, steps: int) -> tuple[float | None, float | None]:
    """(Seconds, rate) that this increment added to the means since the run (or the epoch) began.

    n ÷ r, the mean rate after n steps, is the time since the start in units of one step's items: no batch is needed.
    """
    seconds, rate = None if now.mean_s is None else now.mean_s * steps, now.rate
    if earlier is None or now.step is None or earlier.step is None:
        return seconds, rate
    n, m = now.step + offset, earlier.step + offset
    if not 0 < m < n:
        return seconds, rate
    if now.mean_s is not None and earlier.mean_s is not None:
        seconds = _passed(now.mean_s * n, earlier.mean_s * m)
    units = n / rate - m / earlier.rate if rate is not None and earlier.rate is not None else 0.0
    return seconds, (n - m) / units if units > 0 else None

"""From records to streams of one printer, in which the step number only grows, and to attempts of the run.

Streams side by side are ranks of one attempt; one that begins after the others have ended is a restart.
"""

import itertools
import operator
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from evalsuite.contracts.dialect import Dialect
from evalsuite.core.findings import SeveralRuns
from evalsuite.core.model import by_key
from evalsuite.logs.text.records import Record, find_places, place

Stream = list[Record]
_NOWHERE = (-1, -1)
FAR, MOST, FEWEST_TURNS = 3, 0.8, 3  # usual intervals; of the turns
LONG = 10  # records on average; ranks side by side take turns sooner


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """The run in one file: the streams of its longest attempt."""

    streams: list[Stream]
    attempts: int = 1
    as_long: int = 1  # attempts as long as half of it, or a tenth before it
    beside: list[Stream] = field(default_factory=list)  # of the same ranks at the same time
    copies: int = 1  # runs that say the same to the last digit, one after the other


def find_run(records: Sequence[Record], dialect: Dialect, devices: int | None) -> Attempt:
    places = [(record.epoch or 0, record.step or 0) for record in records]
    told = (0, 0) not in places or all(record.step is not None or record.epoch is not None for record in records)
    if told and len({record.rank for record in records}) == 1 and all(map(operator.lt, places, places[1:])):
        return Attempt(streams=[[*records]])  # one printer that counts up, as in nearly all logs
    streams = _pieces(records, dialect) or _streams(records, dialect.number_repeats)
    said, half = [*map(_printed, records)], len(records) // 2
    twice = said[:half] == said[half:] and len({*said}) == half >= FEWEST_OF_COPY
    if twice and len(streams) == 1 and place(records[0]) is None:  # reports without a number: nothing else tells it
        return Attempt(streams=[[*records[:half]]], copies=2)
    whole = sorted((stream for stream in streams if len(stream) > 1), key=lambda stream: stream[0].end)
    behind = (pair for pair in itertools.pairwise(whole) if pair[0][-1].end < pair[1][0].end)
    copies = 1 + sum(_copied(two, one, at_once=two[0].stamp_s is not None) for one, two in behind)
    attempts = _attempts(streams, dialect, devices)

    def length(attempt: list[Stream]) -> int:  # of a bar by its steps: a slow one is drawn more often
        return max((stream[-1].step or 0) if dialect.redrawn else len(stream) for stream in attempt)

    lengths = [*map(length, attempts)]
    longest = max(reversed(attempts), key=length)
    limits = itertools.chain([SeveralRuns.earlier] * attempts.index(longest), itertools.repeat(SeveralRuns.share))
    as_long = sum(length >= limit * max(lengths) for length, limit in zip(lengths, limits, strict=False))
    others = [stream for attempt in attempts if attempt is not longest for stream in attempt]
    spans = [(stream[0].rank, stream[0].end, stream[-1].end) for stream in longest]
    beside = [of for of in others if any(of[0].rank == rank and a < of[-1].end < z for rank, a, z in spans)]
    return Attempt(streams=longest, attempts=len(attempts), as_long=as_long, copies=copies, beside=beside)


def _attempts(streams: list[Stream], dialect: Dialect, devices: int | None) -> list[list[Stream]]:
    if len(streams) == 1:
        return [streams]
    streams = _without_copies(streams, dialect)
    numbered = [[place(record) for record in stream] for stream in streams]
    if devices and len(streams) == devices > 1 and all(places == numbered[0] for places in numbered):
        return [streams]  # ranks whose output was written one after the other
    if all(stream[0].rank is not None for stream in streams):  # the first of every rank, then the second, of a restart
        by_rank = by_key((stream[0].rank, stream) for stream in streams).values()
        return [[stream for stream in row if stream] for row in itertools.zip_longest(*by_rank)]
    groups: list[list[Stream]] = []
    for stream in sorted(streams, key=lambda stream: stream[0].end):
        if groups and stream[0].end < max(other[-1].end for other in groups[-1]):
            groups[-1].append(stream)
        else:
            groups.append([stream])
    return groups


def _pieces(records: Sequence[Record], dialect: Dialect) -> list[Stream]:
    """In which the place only grows, where they are long: starts one after the other, not ranks side by side."""
    pairs = itertools.pairwise(find_places(records))
    falls = [number for number, (before, after) in enumerate(pairs, 1) if after <= before]
    untold = any(record.rank is not None for record in records) or not any(map(place, records))
    if dialect.number_repeats or untold or len(records) < LONG * (len(falls) + 1):
        return []
    return [[*records[begin:end]] for begin, end in itertools.pairwise((0, *falls, len(records)))]


def take_turns(places: Iterable[tuple[int, int]]) -> bool:
    """10, 510, 20, 520, 30: of two trainings in one file; ranks are near each other, or at the same step."""
    falls = [(high, low) for high, low in itertools.pairwise(dict.fromkeys(places)) if low < high]
    pairs = [*itertools.pairwise(falls)]
    usual = statistics.median([after[1] - low[1] for (_, low), (_, after) in pairs if low[0] == after[0]] or [0])
    far = [high[0] != low[0] or high[1] - low[1] > FAR * usual for high, low in falls]
    both = sum(before[0] < after[0] and before[1] < after[1] for before, after in pairs)
    return usual > 0 and min(sum(far), both + 1) > MOST * max(FEWEST_TURNS, len(falls))


def _streams(records: Sequence[Record], repeats: bool) -> list[Stream]:
    """Each record joins the stream of its rank with the nearest step number below its own."""
    by_rank: dict[str | None, tuple[list[Stream], list[tuple[int, int]]]] = {}  # streams, and where each has got to
    for record in records:
        own, last = by_rank.setdefault(record.rank, ([], []))
        here = place(record)
        # after an overflow of the gradients the same number comes again, or the one below
        if repeats and own and here and here[0] == last[-1][0] and 0 <= last[-1][1] - here[1] <= 1:
            while own[-1] and (place(own[-1][-1]) or here) >= here:
                own[-1].pop()
            own[-1].append(record)
            last[-1] = here
            continue
        behind = [place for place, got in enumerate(last) if here is None or got < here]
        number = max(behind, key=lambda place: (last[place], own[place][-1].end), default=None)
        if number is not None and here is None and (record.loss is not None or record.stamp_s is not None):
            before = own[number][-1]
            same = record == before._replace(line=record.line, end=record.end, gap=record.gap)
            if same and record.line - before.line <= 1:
                continue  # the line before once more
        if number is None:
            own.append([record])
            last.append(here or _NOWHERE)
        else:
            own[number].append(record)
            last[number] = here or last[number]
    return [stream for own, _ in by_rank.values() for stream in own]


def _without_copies(streams: list[Stream], dialect: Dialect) -> list[Stream]:
    """One of each set that says the same to the last digit: a second handler, or a repeated figure."""
    kept: dict[str | None, list[Stream]] = {}
    for stream in streams:
        rank = None if dialect.scope == "global" else stream[0].rank
        at_once = dialect.scope != "global" and rank is None and len({each.rate for each in stream}) < FEWEST_OF_COPY
        alike = kept.setdefault(rank, [])
        copy_of = next((other for other in alike if _copied(stream, other, at_once=at_once)), None)
        if copy_of is None:
            alike.append(stream)
        else:
            for number, (one, two) in enumerate(zip(copy_of, stream, strict=False)):
                copy_of[number] = one._replace(gap=one.gap or two.gap, loss=two.loss if one.loss is None else one.loss)
    return [stream for alike in kept.values() for stream in alike]


FEWEST_OF_COPY = 3  # reports that are all different, and then the same once more
AT_ONCE_S = 0.05  # between the lines of one callback: MXNet's Speedometer printed one for each metric


def _copied(stream: Stream, other: Stream, *, at_once: bool) -> bool:
    return abs(len(stream) - len(other)) <= 1 and all(
        _printed(one) == _printed(two)
        and (one.loss == two.loss or None in (one.loss, two.loss))
        and (not at_once or one.stamp_s == two.stamp_s or abs((one.stamp_s or 0) - (two.stamp_s or 0)) <= AT_ONCE_S)
        for one, two in zip(stream, other, strict=False)
    )


def _printed(record: Record) -> tuple[object, ...]:
    times = record.step_s, record.report_s, record.mean_s, record.elapsed_s
    return (place(record), record.rate, *times)

"""Several starts of a training in one file: where each begins, and which is read."""

import bisect
import copy
import re
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from evalsuite.contracts.dialect import Dialect
from evalsuite.core.messages import Message
from evalsuite.logs.formatting import rate
from evalsuite.logs.judging import find_doubt
from evalsuite.logs.scan.scan import Scan, find_failure, scan_log
from evalsuite.logs.steps.merging import Said
from evalsuite.logs.steps.numbers import Given, Pass, compute_numbers, in_steps
from evalsuite.logs.steps.streams import take_turns
from evalsuite.logs.text.logfile import chunks
from evalsuite.logs.text.records import Record, find_places

FAR = 3  # usual intervals
UNEQUAL, ALIKE = 0.1, 0.6
FEWEST, MOST = 3, 100
LEAST = 0.01  # of the longest: what is shorter was a trial

_EPOCH = re.compile(rb"(?i)(?<!best )\bepoch\W{0,3}(\d{1,9})\W*(?:/\s*\d|$)")
Places = Sequence[tuple[int, int]]


@dataclass(frozen=True, kw_only=True)
class Start:
    lines: tuple[int, int]  # with what is printed before its reports
    reason: Message
    died: str | None  # how the file ends, where that is badly
    count: int
    said: Said = field(default_factory=dict)  # before a bar of other work, which is no start


def find_starts(places: Places, of: int = 0) -> list[int]:
    """Where (epoch, step) goes back; none of mere epochs (of *of* steps), or of printers side by side."""
    pairs = list(pairwise(places))
    rising = [after[1] - before[1] for before, after in pairs if before[0] == after[0] and after[1] > before[1]]
    usual = statistics.median(rising) if rising else 1
    back = [b[0] < a[0] or (b[0] == a[0] and a[1] - b[1] > FAR * usual) for a, b in pairs]
    falls = [number for number, fell in enumerate(back, 1) if fell]
    around = [places[fall - 1 : fall + 2] for fall in falls if fall + 1 < len(places)]
    jumps = [end > begin and end[1] - low[1] > FAR * usual for begin, low, end in around]
    if sum(jumps) > len(falls) / 2 or take_turns(places):
        return []
    ends_at = [places[fall - 1] for fall in falls]
    longest = max(ends_at, default=(0, 0))
    least = longest[1] - max(usual, UNEQUAL * longest[1])
    in_epochs = all(end[0] == longest[0] and end[1] >= least for end in ends_at)
    in_epochs &= longest[1] >= of * (1 - UNEQUAL) and (len(falls) > 1 or of > 0 or longest in places[-1:])
    in_epochs &= len({epoch for epoch, _ in places}) == 1 and places[-1][1] <= longest[1] + usual
    return [] if in_epochs else falls


def _number_epochs(records: Sequence[Record], path: Path) -> Sequence[Record]:
    """By the lines above them, where these count on: Epoch 3/20"""
    lines = (each for chunk in chunks(path) for each in enumerate(chunk.text.split(b"\n"), chunk.first_line))
    heads = [(0, 0), *((line, int(match[1])) for line, text in lines if (match := _EPOCH.search(text)))]
    epochs = [heads[bisect.bisect(heads, (record.line + 1,)) - 1][1] for record in records]
    steps = [record.step or 0 for record in records]
    both = zip(pairwise(epochs), pairwise(steps), strict=True)
    begun = [after - before for (before, after), (step, new) in both if new < step]
    if begun.count(1) < ALIKE * len(begun):
        return records
    return [record._replace(epoch=epoch) for record, epoch in zip(records, epochs, strict=True)]


def choose_start(path: Path, dialect: Dialect, given: Given) -> Start | None:
    """The last that fills a window, else the last with a number."""
    scan = scan_log(path, dialect)
    of = min((record.of for record in scan.records if record.of), default=0)
    numbered = _number_epochs(scan.records, path) if dialect.steps_restart == "unnumbered" else scan.records
    falls = find_starts(find_places(numbered), of)
    if not falls or scan.uncollected:
        return None
    parts = [scan.records[begin:end] for begin, end in pairwise((0, *falls, len(scan.records)))]
    left_out = max(0, len(parts) - MOST)
    whose = "auto" if dialect.scope == "unstated" else dialect.scope
    in_items = all(record.items and record.step is None for record in scan.records)
    units = (dialect.unit,) if in_items else ("steps/s",) if dialect.final else ("steps/s", dialect.unit)
    for unit in units:  # no total of another start
        figures = list(_figures(parts[left_out:], scan, replace(dialect, unit=unit, scope=whose), given))
        if any(value for value, _ in figures):
            break
    counted = [sum(max(0, (b.step or 0) - (a.step or 0)) for a, b in pairwise(part)) for part in parts]
    long = [steps >= LEAST * max(counted) for steps in counted[left_out:]]
    best = max(range(len(figures)), key=lambda at: (long[at] and figures[at][1], figures[at][0] is not None, at))
    if figures[best][0] is None:
        return None
    others, number = [value for each, (value, _) in enumerate(figures) if each != best and value], left_out + best
    lines = (parts[number - 1][-1].line + 1 if number else 1, parts[number][-1].line)
    least, most = rate(min(others, default=0.0)), rate(max(others, default=0.0))
    apart = Message("logs.read_others", least=least, most=most, unit=unit) if least != most else None
    said = (apart or Message("logs.read_other", most=most, unit=unit)) if others else ""
    told = {"number": number + 1, "count": len(parts), "first": lines[0], "last": lines[1], "others": said}
    failure = None if scan.ended else find_failure(scan.quiet, dialect)
    died, reason = failure.reason if failure else None, Message("logs.read_start", **told)
    head = scan.facts.said if all(len(part) == 1 for part in parts[:-1]) else {}
    return Start(lines=lines, reason=reason, died=died, count=len(parts), said=head)


def _figures(
    parts: Sequence[list[Record]], scan: Scan, dialect: Dialect, given: Given
) -> Iterator[tuple[float | None, bool]]:
    for records in parts:
        own = copy.copy(scan)
        own.records, own.rest = records, replace(scan.rest, records=[])
        given = replace(given, scope=None)
        run = Pass(dialect=dialect, given=given, scans=[own], arrivals=[None], records=records)
        run = in_steps(run) if dialect.unit == "steps/s" else run
        numbers = compute_numbers(run) if len(records) >= FEWEST else None
        measured = numbers.throughput if numbers else None
        value = measured.items_per_s if numbers and measured and not find_doubt(numbers, measured)[1] else None
        yield value, bool(numbers and numbers.complete and value)

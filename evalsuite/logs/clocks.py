"""Every clock of a log held against the others: printed rates, times, counters of items and steps, its own total.

Each is so many a second of what it counts. One that counts steps is held with each number of items that a step is said
to hold; any two more than a tenth apart deny each other.
"""

import itertools
import math
import re
import statistics
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evalsuite.contracts.dialect import NO_ITEMS, PIECES
from evalsuite.core import findings as rules
from evalsuite.core.model import COUNTS, FINAL
from evalsuite.logs.steps.numbers import Numbers, is_nearly
from evalsuite.logs.steps.throughput import disagreement
from evalsuite.logs.text.records import Record

FEWEST = 3  # reports whose lines are looked at
OWN = 0.01  # of that which the dialect reads
LATE = 1.5  # a mean since the start, and a total, have the start inside
_RATES = re.compile(
    rb"(?i)(?:/|per[ _]?|_)s(?:ec(?:ond)?s?)?(?![a-z])|\b[a-z]?(?:ps|gs)\b|(?:samples?|tokens?)(?![a-z])"
)
_COUNTS = {**dict.fromkeys(PIECES, "tokens"), **dict.fromkeys(NO_ITEMS, "steps")}


class Clock(NamedTuple):
    name: str  # a method
    per_s: float
    counts: str  # "steps", "tokens" or "items"
    starts: bool = False  # is the start inside?


def contradictions(numbers: Numbers) -> Iterator[rules.ClockDisagrees]:
    """The clocks more than a tenth from the throughput of *numbers*, apart from those that it was chosen among."""
    measured = numbers.throughput
    if measured is None or measured.items_per_s is None or measured.window is None:
        return
    window = measured.window
    inside = [step for step in numbers.merged.steps if window.first_step <= step.index <= window.last_step]
    value = Clock(measured.method, measured.items_per_s, _COUNTS.get(measured.unit, "items"))
    told = [step.items / step.steps for step in inside if step.items is not None]
    per_step = {statistics.median(told)} if told else set[float]()
    others: list[Clock] = []
    first, last = (inside[0].line or 0, inside[-1].line or 0) if inside else (0, 0)
    texts = [(record, text) for scan in numbers.run.scans[:1] for record, text in scan.texts]
    texts = [(record, text) for record, text in texts if first <= record.line <= last]
    if len(texts) >= FEWEST and _RATES.search(texts[0][1]):
        others, rises = _of_lines(numbers, value, texts)
        others += [Clock(COUNTS, value.per_s * of / each, value.counts) for of in rises for each in per_step]
        per_step |= rises
    if numbers.final is not None and numbers.complete and not numbers.merged.in_epochs:
        paused = any(scan.evaluated or any(record.gap for record in scan.records) for scan in numbers.run.scans)
        if not (paused and numbers.final < value.per_s):  # evaluations are inside
            others.append(Clock(FINAL, numbers.final, value.counts, starts=True))
    for other in others:
        for items in [1.0] if other.counts == value.counts else per_step if other.counts == "steps" else []:
            per_s = other.per_s * items
            if not is_nearly(per_s, value.per_s) and not (other.starts and value.per_s / LATE < per_s < value.per_s):
                yield disagreement(value.per_s, value.name, per_s, other.name)


def _of_lines(numbers: Numbers, value: Clock, texts: Sequence[tuple[Record, bytes]]) -> tuple[list[Clock], set[float]]:
    """(The other rates that the lines of the reports print, and their times, items of a step by their counters)."""
    others, per_step = list[Clock](), set[float]()
    from evalsuite.logs.unknown import roles, words  # slow, and few lines print more than their dialect reads

    columns = roles.columns_of([text for _, text in texts])
    found = (each for each in roles.rates_of(columns) if each.kilo > 0)
    rates = [(each, statistics.median(roles.values_of(each.column)) * each.kilo) for each in found]
    read = {each for record, _ in texts for each in (record.rate, record.steps_per_s) if each}
    own = [rate for rate, per_s in rates if any(math.isclose(each, per_s, rel_tol=OWN) for each in read)]
    names, devices = {rate.name for rate in own}, numbers.facts.devices
    bars = b"%|" in texts[0][1] or b"\xe2\x94\x81" in texts[0][1]  # whose own rate is that of the last steps
    for rate, per_s in () if bars else rates:
        alike = rate.items in NO_ITEMS or rate.name in names  # others are rates of a part
        if rate not in own and alike and not rate.mean and (devices or not rate.each):
            others.append(Clock(COUNTS, per_s * ((devices or 1) if rate.each else 1), _COUNTS.get(rate.items, "items")))
    for column in columns.values():
        match = words.CONSUMED.search(column[0].label)
        counted = words.RATE.search(f"{match[0].strip(' /_').split('_')[-1]}/s") if match else None
        if counted and _COUNTS.get(words.items_of(counted), "items") == value.counts:
            both = ((record.step, slot.value) for (record, _), slot in zip(texts, column, strict=True))
            pairs = [(step, items) for step, items in both if step is not None and items is not None]
            rises = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in itertools.pairwise(pairs) if b[0] > a[0] and b[1] > a[1]]
            per_step |= {statistics.median(rises)} if len(rises) >= FEWEST - 1 else set()
    return others, per_step

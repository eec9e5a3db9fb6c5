"""What the devices of a run held at most, and what energy they took over the measured steps: by counters and logs.

Nothing is made up of a part: a device that was not read leaves the whole unsaid.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from evalsuite.dialect import Dialect
from evalsuite.logs import beside
from evalsuite.model import Window
from evalsuite.results.utilisation import Devices
from evalsuite.runs.columns import Recorded
from evalsuite.runs.store import Log

GIB = 1024**3
Reading = tuple[float, float]  # when, by the clock of the first host; the counter in joules


def sampled_memory_bytes(hosts: Mapping[str, Recorded]) -> float | None:
    """The most that one device of the job was seen to hold, of all that programs and the driver's context take."""
    held = (
        reading.memory_used_bytes
        for samples in hosts.values()
        for sample in samples.readings
        for reading in sample.gpus or ()
        if reading.index in _of_job(samples)
    )
    return max((each for each in held if each is not None), default=None)


def printed_memory_bytes(
    logs: Sequence[Log], dialect: Dialect | None, lines: tuple[int | None, int | None]
) -> float | None:
    """The most that one device held by the script's own line: what its allocator gave out or kept."""
    log = next(iter(logs), None)
    said = beside.also_printed(log.path, dialect, *lines) if log and dialect else None
    return said.memory_gib * GIB if said and said.memory_gib else None


def energy_j(hosts: Mapping[str, Recorded], window: Window | None, planned: Devices) -> float | None:
    """Joules that all devices of the job took over *window*, by their own counters; None where one was not read."""
    if window is None or window.begin_s is None or window.end_s is None:
        return None
    taken = [_between(series, window.begin_s, window.end_s) for series in _counters(hosts)]
    known = [each for each in taken if each is not None]
    return sum(known) if known and len(known) == len(taken) == planned.accelerators else None


def _of_job(samples: Recorded) -> frozenset[float | None]:
    return frozenset(gpu.index for gpu in samples.header.gpus or () if gpu.of_job is not False)


def _counters(hosts: Mapping[str, Recorded]) -> Iterator[list[Reading]]:
    """The readings of each device's counter in order of time, on the clock of the first host."""
    origin = next((samples.header.started_at_unix_s for samples in hosts.values()), None)
    for samples in hosts.values():
        start = samples.header.started_at_unix_s
        shift_s = start - origin if start is not None and origin is not None else 0.0
        for index in sorted(each for each in _of_job(samples) if each is not None):
            yield [
                (sample.at_s + shift_s, float(reading.energy_j))
                for sample in samples.readings
                for reading in sample.gpus or ()
                if reading.index == index and reading.energy_j is not None
            ]


def _between(readings: Sequence[Reading], begin_s: float, end_s: float) -> float | None:
    """How far a counter went from *begin_s* to *end_s*; None if it was not read on both sides, or ran backwards."""
    first, last = _at(readings, begin_s), _at(readings, end_s)
    backwards = any(after < before for (_, before), (_, after) in pairwise(readings))
    return None if first is None or last is None or backwards else last - first


def _at(readings: Sequence[Reading], at_s: float) -> float | None:
    """The counter at *at_s*, in a straight line between the two readings around it."""
    for (before_s, before), (after_s, after) in pairwise(readings):
        if before_s <= at_s <= after_s and after_s > before_s:
            return before + (after - before) * (at_s - before_s) / (after_s - before_s)
    return None

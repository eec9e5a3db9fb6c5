"""What the devices of a run held at most and what energy they took; one that was not read leaves the whole unsaid."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from evalsuite.dialect import Dialect
from evalsuite.logs import extra_metrics
from evalsuite.model import Window
from evalsuite.results.samples.utilisation import Devices
from evalsuite.runs.endings import AgentOutcome
from evalsuite.runs.samples import Samples, gpu_name
from evalsuite.runs.store import Log

if TYPE_CHECKING:
    from evalsuite.results.samples.sample_arrays import Floats

GIB = 1024**3
Counted = tuple["Floats", "Floats"]


def cpu_s(agents: Iterable[AgentOutcome]) -> float | None:
    found = [agent.group_cpu_s for agent in agents]
    known = [seconds for seconds in found if seconds is not None]
    return sum(known) if known and len(known) == len(found) else None


def sampled_memory_bytes(hosts: Mapping[str, Samples]) -> float | None:
    """The most that one device of the job was seen to hold, of all that programs and the driver's context take."""
    held = [most for samples in hosts.values() if (most := _most_held(samples)) is not None]
    return max(held, default=None)


def _most_held(samples: Samples) -> float | None:
    if not _of_job(samples):
        return None
    from evalsuite.results.samples.sample_arrays import table_of

    table = table_of(samples, "gpus.memory_used_bytes")
    found = [] if table is None else [table.row(device) for device in _of_job(samples)]
    each = [values[read].max() for values, read in filter(None, found) if read.any()]
    return float(max(each)) if each else None


def printed_memory_bytes(
    logs: Sequence[Log], dialect: Dialect | None, lines: tuple[int | None, int | None]
) -> float | None:
    """The most that one device held by the script's own line: what its allocator gave out or kept."""
    log = next(iter(logs), None)
    said = extra_metrics.also_printed(log.path, dialect, *lines) if log and dialect else None
    return said.memory_gib * GIB if said and said.memory_gib else None


def energy_j(hosts: Mapping[str, Samples], window: Window | None, planned: Devices) -> float | None:
    """Joules that all devices of the job took over *window*, by their own counters; None where one was not read."""
    if window is None or window.begin_s is None or window.end_s is None:
        return None
    taken = [_between(series, window.begin_s, window.end_s) for series in _counters(hosts)]
    known = [each for each in taken if each is not None]
    return sum(known) if known and len(known) == len(taken) == planned.accelerators else None


def _of_job(samples: Samples) -> list[str]:
    return sorted({gpu_name(gpu.index) for gpu in samples.header.gpus or () if gpu.of_job is not False})


def _counters(hosts: Mapping[str, Samples]) -> Iterator[Counted]:
    origin = next((samples.header.started_at_unix_s for samples in hosts.values()), None)
    for samples in hosts.values():
        if not _of_job(samples):
            continue
        start = samples.header.started_at_unix_s
        shift_s = start - origin if start is not None and origin is not None else 0.0
        from evalsuite.results.samples.sample_arrays import table_of, times_s

        table, at_s = table_of(samples, "gpus.energy_j"), times_s(samples) + shift_s
        for device in _of_job(samples):
            found = table.row(device) if table else None
            yield (at_s[found[1]], found[0][found[1]]) if found else (at_s[:0], at_s[:0])


def _between(readings: Counted, begin_s: float, end_s: float) -> float | None:
    """How far a counter went from *begin_s* to *end_s*; None if it was not read on both sides, or ran backwards."""
    _, counts = readings
    if (counts[1:] < counts[:-1]).any():
        return None
    first, last = _at(readings, begin_s), _at(readings, end_s)
    return None if first is None or last is None else last - first


def _at(readings: Counted, at_s: float) -> float | None:
    times_s, counts = readings
    before_s, after_s = times_s[:-1], times_s[1:]
    around = ((before_s <= at_s) & (at_s <= after_s) & (after_s > before_s)).nonzero()[0]
    if not around.size:
        return None
    place = around[0]
    share = (at_s - before_s[place]) / (after_s[place] - before_s[place])
    return float(counts[place] + (counts[place + 1] - counts[place]) * share)

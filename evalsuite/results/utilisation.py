"""Samples → how much of each resource the measured steps used, and how that went over time.

Pure. A mean is weighted with time and taken over the window alone (docs/report.md#definitions): a counter gives the
rate between two readings, cut at the window's edges; a gauge stands for the time around its reading, at most
one period long, and counts only if it was read inside the window. What was not measured is absent, and so is what was
measured on too few of the planned devices or in too little of the window: the mean of the rest would pass for that of
the job.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple, TypeVar

from evalsuite.documents import Gpu
from evalsuite.findings import DevicesIdle, ImpossibleSamples, ThinSamples
from evalsuite.model import Finding, Timeline, Utilisation, Window
from evalsuite.runs.columns import Recorded
from evalsuite.runs.samples import GpuReading, Header, Sample

LEAST_COVERAGE = ThinSamples.wanted
# Two clocks, that of the counter and ours, are never read at the same instant: a little above 100 % is full.
GRAIN_PERCENT = 2.0
JOB_CPU_GRAIN_PERCENT = 10.0  # the kernel gives a process's CPU time in steps of 10 ms (proc_pid_stat(5))
FEWEST_READINGS = 5  # a device may be read between two steps once or twice
DRAWN_READINGS = 1500  # a figure is some 1,000 points wide
BITS_PER_BYTE = 8
MEGA = 1e6

Values = Sequence[float | None]  # one a reading; None: not read
Part = TypeVar("Part")  # of a sample


class Bounds(NamedTuple):
    """The measured window on the run's clock."""

    begin_s: float
    end_s: float


class TimedValue(NamedTuple):
    """A value and the time that it stands for. A run has many thousands: a tuple is made fastest."""

    begin_s: float
    end_s: float
    at_s: float  # when it was read: where it is drawn
    value: float

    @property
    def seconds(self) -> float:
        return self.end_s - self.begin_s


@dataclass(frozen=True, kw_only=True)
class ReadingSeries:
    """One resource of one device or node: what was measured, in order of time and without overlap."""

    resource: str
    unit: str
    device: str | None
    cells: tuple[TimedValue, ...]
    capacity: float | None = None
    samples: int = 0
    rejected: int = 0
    summed: bool = False  # the job's figure is the sum over devices and nodes, not their mean


@dataclass(frozen=True, kw_only=True)
class _Samples:
    """One host's samples: header, and readings in order of time on the run's clock."""

    header: Header
    readings: tuple[Sample, ...]
    times_s: tuple[float, ...]
    host: str | None = None  # None: the only one
    stride: int = 1  # every Nth reading of the file is here

    @property
    def period_s(self) -> float:
        """Seconds from one reading to the next."""
        return self.stride / self.header.hz


@dataclass(frozen=True, kw_only=True)
class Devices:
    """What a run was to use; what was sampled of it may be less."""

    nodes: int
    accelerators: int  # over all nodes; 0 for a run on CPUs


def of_job(
    hosts: Mapping[str, Recorded], window: Window, clock: str | None = None, planned: Devices | None = None
) -> tuple[tuple[Utilisation, ...], tuple[Finding, ...]]:
    """The job's use of each resource over *window*: one figure a resource, whatever the devices and nodes.

    Percentages, temperatures, clocks and watts are means over the devices (or nodes), bytes and rates are
    sums over them; the single devices are in `timeline`. A resource of which too little of the window, or too few of
    the *planned* devices and nodes, were sampled has no figure (D18). The window is on the clock of the host *clock*,
    the first by default; the others' samples are brought to it by the time of day at which each agent started.
    """
    if window.begin_s is None or window.end_s is None or window.end_s <= window.begin_s:
        return (), ()
    span = Bounds(window.begin_s, window.end_s)
    near = [_near(samples, span) for samples in _on_one_clock(hosts, clock)]
    every = [one for samples in near for one in _series(samples, span)]
    figures = (_utilisation(same, span, _expected(same, near, planned)) for same in _by_resource(every))
    used = tuple(figure for figure in figures if figure is not None)
    enough = tuple(figure for figure in used if figure.coverage >= LEAST_COVERAGE)
    return enough, (*_findings(every, used), *_idle(every, planned))


def _expected(same: Sequence[ReadingSeries], hosts: Sequence[_Samples], planned: Devices | None) -> int:
    """How many devices or nodes there would be a series of, had all that were planned been read."""
    resource, missing = same[0].resource, (planned.nodes / len(hosts)) if planned and hosts else 1.0
    if resource.startswith(("gpu", "pcie")):
        return max(len(same), planned.accelerators if planned else 0)
    if resource.startswith("disk"):
        return max(len(same), round(missing * sum(len(one.header.disks or ()) for one in hosts)))
    if resource.startswith("network"):
        ports = sum(name != "lo" for one in hosts for name in one.header.interfaces or {})
        return max(len(same), round(missing * ports))
    return max(len(same), planned.nodes if planned else len(hosts))


def _idle(every: Sequence[ReadingSeries], planned: Devices | None) -> Iterator[Finding]:
    """Of the accelerators that the job could see fewer were ever busy than it was to use."""
    read = [one for one in every if one.resource == "gpu" and one.samples >= FEWEST_READINGS]
    busy = sum(any(cell.value > 0 for cell in one.cells) for one in read)
    if planned and busy < planned.accelerators <= len(read):
        yield DevicesIdle(busy=busy, planned=planned.accelerators)


def timeline(samples: Recorded, window: Window | None) -> Timeline:
    """How the use of each resource went over the whole run, on one host: a point where each was read.

    Of a long run every k-th reading is drawn, so that there are at most DRAWN_READINGS.
    """
    host = next(iter(_on_one_clock({"": samples}, None)))
    every = _series(_thinned(host), None)
    drawn = []
    for same in _by_resource(every):
        drawn += [_together(same), *(same if len(same) > 1 or same[0].resource.startswith("gpu") else ())]
    return Timeline(
        window=window,
        series={
            (one.resource, one.device): tuple((round(cell.at_s, 6), cell.value) for cell in one.cells)
            for one in drawn
            if one.cells
        },
        units={one.resource: one.unit for one in drawn},
    )


# from the samples of hosts to series


def _on_one_clock(hosts: Mapping[str, Recorded], clock: str | None) -> list[_Samples]:
    first = clock or next(iter(hosts), "")
    origin = hosts[first].header.started_at_unix_s if first in hosts else None
    found = []
    for host, samples in hosts.items():
        start = samples.header.started_at_unix_s
        shift_s = start - origin if start is not None and origin is not None else 0.0
        readings = _in_order(samples.readings)
        found.append(
            _Samples(
                header=samples.header,
                readings=tuple(readings),
                times_s=tuple(reading.at_s + shift_s for reading in readings),
                host=host if len(hosts) > 1 else None,
            )
        )
    return found


def _thinned(samples: _Samples) -> _Samples:
    every = -(-len(samples.readings) // DRAWN_READINGS) or 1
    return replace(samples, readings=samples.readings[::every], times_s=samples.times_s[::every], stride=every)


def _near(samples: _Samples, window: Bounds) -> _Samples:
    """The readings inside the window and the neighbours of its edges; the others could not count."""
    first = max(0, bisect_right(samples.times_s, window.begin_s) - 1)
    last = bisect_left(samples.times_s, window.end_s) + 1
    return replace(samples, readings=samples.readings[first:last], times_s=samples.times_s[first:last])


def _in_order(samples: Iterable[Sample]) -> list[Sample]:
    """The readings, less those that do not come after the one before them (D21)."""
    kept: list[Sample] = []
    for sample in samples:
        if not kept or sample.at_s > kept[-1].at_s:
            kept.append(sample)
    return kept


def _series(samples: _Samples, window: Bounds | None) -> list[ReadingSeries]:
    """All series of one host, cut to *window* if there is one; those without a value are left out."""
    made = [*_node_series(samples, window), *_disk_series(samples, window)]
    made += [*_network_series(samples, window), *_gpu_series(samples, window)]
    return [one for one in made if one.cells or one.rejected]


def _node_series(samples: _Samples, window: Bounds | None) -> Iterator[ReadingSeries]:
    total, cores = samples.header.memory_total_bytes, samples.header.cpu_count
    trees = [sample.tree for sample in samples.readings]
    cpu = _spans(samples, [sample.cpu_percent for sample in samples.readings])
    yield _checked("cpu", cpu, window, limit=100.0 + GRAIN_PERCENT, unit="%", capacity=100.0, device=samples.host)
    if total:
        taken = [sample.memory_used_bytes for sample in samples.readings]
        used = _gauge(samples, [None if it is None else 100.0 * it / total for it in taken], window)
        yield _checked(
            "memory", used, window, limit=100.0 + GRAIN_PERCENT, unit="%", capacity=100.0, device=samples.host
        )
    if cores:
        spent = _rates(samples, _each(trees, lambda tree: tree.cpu_s))
        busy = [cell._replace(value=100.0 * cell.value / cores) for cell in spent]
        limit = 100.0 + JOB_CPU_GRAIN_PERCENT
        yield _checked("job_cpu", busy, window, limit=limit, unit="%", capacity=100.0, device=samples.host)
    resident = _gauge(samples, _each(trees, lambda tree: tree.memory_bytes), window)
    capacity = _scaled(total)
    yield _checked("job_memory", resident, window, unit="bytes", capacity=capacity, summed=True, device=samples.host)


def _disk_series(samples: _Samples, window: Bounds | None) -> Iterator[ReadingSeries]:
    for name in samples.header.disks or ():
        known = [(sample.disks or {}).get(name) for sample in samples.readings]
        for resource, unit, counts in (
            ("disk_read", "bytes/s", _each(known, lambda disk: disk.read_bytes)),
            ("disk_write", "bytes/s", _each(known, lambda disk: disk.write_bytes)),
            ("disk_operations", "1/s", _each(known, lambda disk: disk.read_operations + disk.write_operations)),
        ):
            rates = _rates(samples, counts)
            yield _checked(resource, rates, window, unit=unit, device=_label(samples, name), summed=True)


def _network_series(samples: _Samples, window: Bounds | None) -> Iterator[ReadingSeries]:
    for name, about in (samples.header.interfaces or {}).items():
        known = [(sample.interfaces or {}).get(name) for sample in samples.readings]
        received, sent = _each(known, lambda port: port.received_bytes), _each(known, lambda port: port.sent_bytes)
        capacity = about.speed_mbit_s * MEGA / BITS_PER_BYTE if about.speed_mbit_s else None
        ways = {"network_receive": received, "network_send": sent}
        for resource, counts in {"loopback": received}.items() if name == "lo" else ways.items():
            rates = _rates(samples, counts)
            device = _label(samples, name)
            yield _checked(resource, rates, window, unit="bytes/s", device=device, capacity=capacity, summed=True)


def _gpu_series(samples: _Samples, window: Bounds | None) -> Iterator[ReadingSeries]:
    for gpu in samples.header.gpus or ():
        if gpu.of_job is False:
            continue
        read = [_of_device(sample, gpu) for sample in samples.readings]
        power_limit_w = _scaled(gpu.power_limit_w)
        for resource, unit, values, capacity in (
            ("gpu", "%", _each(read, lambda one: one.utilisation_percent), 100.0),
            ("gpu_memory", "%", [_memory_percent(one, gpu) for one in read], 100.0),
            ("gpu_power", "W", _each(read, lambda one: one.power_w), power_limit_w),
            ("gpu_temperature", "°C", _each(read, lambda one: one.temperature_c), None),
            ("gpu_sm_clock", "MHz", _each(read, lambda one: one.sm_clock_mhz), None),
            ("gpu_memory_clock", "MHz", _each(read, lambda one: one.memory_clock_mhz), None),
            ("pcie_receive", "bytes/s", _each(read, lambda one: one.pcie_received_bytes_per_s), None),
            ("pcie_send", "bytes/s", _each(read, lambda one: one.pcie_sent_bytes_per_s), None),
        ):
            reach_s = samples.header.pcie_period_s if resource.startswith("pcie") else None
            yield _checked(
                resource,
                _gauge(samples, values, window, reach_s),
                window,
                unit=unit,
                device=_label(samples, f"gpu{gpu.index}"),
                capacity=capacity,
                limit=100.0 + GRAIN_PERCENT if unit == "%" else math.inf,
                summed=unit == "bytes/s",
            )


def _each(parts: Iterable[Part | None], value: Callable[[Part], float | None]) -> Values:
    """The *value* of each of *parts*; None where there is no part."""
    return [None if part is None else value(part) for part in parts]


def _of_device(sample: Sample, gpu: Gpu) -> GpuReading | None:
    return next((reading for reading in sample.gpus or () if reading.index == gpu.index), None)


def _memory_percent(reading: GpuReading | None, gpu: Gpu) -> float | None:
    if reading is None or not gpu.memory_total_bytes:
        return None
    return _scaled(reading.memory_used_bytes, 100.0 / gpu.memory_total_bytes)


def _scaled(value: float | None, factor: float = 1.0) -> float | None:
    return None if value is None else value * factor


# from readings to cells


def _spans(samples: _Samples, values: Values) -> list[TimedValue]:
    """A value that each reading gives for the time since the reading before it."""
    found = zip(pairwise(samples.times_s), values[1:], strict=True)
    return [
        TimedValue(begin_s=begin, end_s=end, at_s=end, value=float(it)) for (begin, end), it in found if it is not None
    ]


def _rates(samples: _Samples, counts: Values) -> list[TimedValue]:
    """How fast a counter went from one reading to the next, per second.

    The agent's last reading may follow hard on the one before it; that one is passed over then, since the
    grain of the counters would be taken for a peak.
    """
    known = [(at_s, count) for at_s, count in zip(samples.times_s, counts, strict=True) if count is not None]
    if len(known) > 2 and known[-1][0] - known[-2][0] < samples.period_s / 2:
        del known[-2]
    return [
        TimedValue(begin_s=begin, end_s=end, at_s=end, value=(after - before) / (end - begin))
        for (begin, before), (end, after) in pairwise(known)
    ]


def _gauge(
    samples: _Samples,
    values: Values,
    window: Bounds | None,
    period_s: float | None = None,
) -> list[TimedValue]:
    """Readings of an instant: each stands for the time around it, up to half-way to its neighbours.

    *period_s* is the time between two readings, where it is not that between two samples.
    """
    read = zip(samples.times_s, values, strict=True)
    inside = [(at_s, float(it)) for at_s, it in read if it is not None and _holds(window, at_s)]
    reach_s = max(samples.period_s, period_s or 0.0)
    cells = []
    for place, (at_s, it) in enumerate(inside):
        begin, end = at_s - reach_s, at_s + reach_s
        if place > 0:
            begin = at_s - min((at_s - inside[place - 1][0]) / 2, 0.75 * reach_s)
        if place < len(inside) - 1:
            end = at_s + min((inside[place + 1][0] - at_s) / 2, 0.75 * reach_s)
        cells.append(TimedValue(begin_s=begin, end_s=end, at_s=at_s, value=it))
    return cells


def _holds(window: Bounds | None, at_s: float) -> bool:
    return window is None or window.begin_s <= at_s <= window.end_s


def _checked(
    resource: str,
    cells: Iterable[TimedValue],
    window: Bounds | None,
    *,
    unit: str,
    device: str | None,
    limit: float = math.inf,
    capacity: float | None = None,
    summed: bool = False,
) -> ReadingSeries:
    """The series of the cells inside the window, without those that cannot be (D18)."""
    inside = [cell for cell in _cut(cells, window) if cell.seconds > 0]
    sound = [cell for cell in inside if 0 <= cell.value <= limit]
    if unit == "%":
        sound = [cell if cell.value <= 100 else cell._replace(value=100.0) for cell in sound]
    return ReadingSeries(
        resource=resource,
        unit=unit,
        device=device,
        cells=tuple(sound),
        capacity=capacity,
        samples=len(sound),
        rejected=len(inside) - len(sound),
        summed=summed,
    )


def _cut(cells: Iterable[TimedValue], window: Bounds | None) -> Iterable[TimedValue]:
    if window is None:
        return cells
    return (_inside(cell, window.begin_s, window.end_s) for cell in cells)


def _inside(cell: TimedValue, begin_s: float, end_s: float) -> TimedValue:
    if begin_s <= cell.begin_s and cell.end_s <= end_s:
        return cell
    return TimedValue(
        begin_s=max(cell.begin_s, begin_s), end_s=min(cell.end_s, end_s), at_s=cell.at_s, value=cell.value
    )


# from series to the job


def _by_resource(every: Sequence[ReadingSeries]) -> list[list[ReadingSeries]]:
    grouped: dict[str, list[ReadingSeries]] = {}
    for one in every:
        grouped.setdefault(one.resource, []).append(one)
    return list(grouped.values())


def _job(same: Sequence[ReadingSeries]) -> ReadingSeries:
    """One series for the job: the sum over devices where that means something, else all their cells."""
    if same[0].summed and len(same) > 1:
        return _together(same)
    cells = tuple(cell for one in same for cell in one.cells)
    return replace(
        same[0], device=None, cells=cells, samples=sum(one.samples for one in same), capacity=_capacity(same)
    )


def _together(same: Sequence[ReadingSeries]) -> ReadingSeries:
    """The sum (or mean) of the devices at each instant at which all of them were measured."""
    if len(same) == 1:
        return replace(same[0], device=None)
    edges = sorted({edge for one in same for cell in one.cells for edge in (cell.begin_s, cell.end_s)})
    places = [0] * len(same)
    cells = []
    for begin, end in pairwise(edges):
        held = []
        for which, one in enumerate(same):
            while places[which] < len(one.cells) and one.cells[places[which]].end_s <= begin:
                places[which] += 1
            if places[which] < len(one.cells) and one.cells[places[which]].begin_s <= begin:
                held.append(one.cells[places[which]])
        if len(held) == len(same):
            total = sum(cell.value for cell in held) / (1 if same[0].summed else len(held))
            at_s = min(max(held[0].at_s, begin), end)
            cells.append(TimedValue(begin_s=begin, end_s=end, at_s=at_s, value=total))
    return replace(
        same[0],
        device=None,
        cells=tuple(cells),
        samples=min(one.samples for one in same),
        capacity=_capacity(same),
    )


def _capacity(same: Sequence[ReadingSeries]) -> float | None:
    known = [one.capacity for one in same if one.capacity is not None]
    if len(known) < len(same):
        return None
    return sum(known) if same[0].summed else sum(known) / len(known)


def _utilisation(same: Sequence[ReadingSeries], window: Bounds, expected: int) -> Utilisation | None:
    """The figures of one resource of the job; None if nothing of it lies in the window.

    *expected*: how many series there should be. Each device counts alike in a mean, however often it was read.
    """
    one = _job(same)
    if not one.cells:
        return None
    ordered = sorted(((cell.value, cell.seconds) for cell in one.cells), key=itemgetter(0))
    seconds = math.fsum(seconds for _, seconds in ordered)
    whole = (window.end_s - window.begin_s) * (expected / len(same) if one.summed else expected)
    return Utilisation(
        resource=one.resource,
        unit=one.unit,
        mean=_mean([one] if one.summed else same),
        p5=_percentile(ordered, 0.05 * seconds),
        p95=_percentile(ordered, 0.95 * seconds),
        samples=one.samples,
        coverage=min(1.0, seconds / whole),
        capacity=one.capacity,
        device=one.device,
    )


def _mean(same: Sequence[ReadingSeries]) -> float:
    """Over devices, of the mean over time of each."""
    means = [
        math.fsum(cell.value * cell.seconds for cell in one.cells) / math.fsum(cell.seconds for cell in one.cells)
        for one in same
        if one.cells
    ]
    return math.fsum(means) / len(means)


def _percentile(ordered: Sequence[tuple[float, float]], wanted_s: float) -> float:
    """The smallest of the *ordered* (value, seconds) below which the resource was for *wanted_s* at least."""
    passed_s = 0.0
    for value, seconds in ordered:
        passed_s += seconds
        if passed_s >= wanted_s:
            return value
    return ordered[-1][0]


def _findings(every: Sequence[ReadingSeries], used: Sequence[Utilisation]) -> tuple[Finding, ...]:
    thin = [one for one in used if one.coverage < LEAST_COVERAGE]
    bad = [one for one in every if one.rejected]
    found: list[Finding] = []
    if thin:
        named = tuple(sorted({one.resource for one in thin}))
        found.append(ThinSamples(resources=named, coverage=min(one.coverage for one in thin)))
    if bad:
        named = tuple(sorted({one.resource for one in bad}))
        found.append(ImpossibleSamples(resources=named, samples=sum(one.rejected for one in bad)))
    return tuple(found)


def _label(samples: _Samples, device: str) -> str:
    return device if samples.host is None else f"{samples.host}/{device}"

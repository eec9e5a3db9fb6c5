"""Samples → how much of each resource the measured steps used, and how that went over time.

Pure. A mean is weighted with time and taken over the window alone (docs/report.md#definitions): a counter gives the
rate between two readings, cut at the window's edges; a gauge stands for the time around its reading, at most
one period long, and counts only if it was read inside the window. What was not measured is absent.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

from evalsuite.findings import ImpossibleSamples, ThinSamples
from evalsuite.model import Finding, Timeline, Utilisation, Window

LEAST_COVERAGE = ThinSamples.wanted
# Two clocks, that of the counter and ours, are never read at the same instant: a little above 100 % is full.
GRAIN_PERCENT = 2.0
JOB_CPU_GRAIN_PERCENT = 10.0  # the kernel gives a process's CPU time in steps of 10 ms (proc_pid_stat(5))
DRAWN_READINGS = 1500  # a figure is some 1,000 points wide
BITS_PER_BYTE = 8
MEGA = 1e6


class Cell(NamedTuple):
    """A value and the time that it stands for. A run has many thousands: a tuple is made fastest."""

    begin_s: float
    end_s: float
    at_s: float  # when it was read: where it is drawn
    value: float

    @property
    def seconds(self) -> float:
        return self.end_s - self.begin_s


@dataclass(frozen=True, kw_only=True)
class Series:
    """One resource of one device or node: what was measured, in order of time and without overlap."""

    resource: str
    unit: str
    device: str | None
    cells: tuple[Cell, ...]
    capacity: float | None = None
    samples: int = 0
    rejected: int = 0
    summed: bool = False  # the job's figure is the sum over devices and nodes, not their mean


@dataclass(frozen=True, kw_only=True)
class _Samples:
    """One host's samples: header, and readings in order of time on the run's clock."""

    header: Mapping
    readings: tuple[Mapping, ...]
    times_s: tuple[float, ...]
    host: str | None = None  # None: the only one
    stride: int = 1  # every so many readings of the file are here

    @property
    def period_s(self) -> float:
        """Seconds from one reading to the next."""
        hz = _number(self.header.get("hz"))
        return self.stride / hz if hz and hz > 0 else 0.5 * self.stride


def of_job(
    hosts: Mapping[str, Sequence[Mapping]], window: Window, clock: str | None = None
) -> tuple[tuple[Utilisation, ...], tuple[Finding, ...]]:
    """The job's use of each resource over *window*: one figure a resource, whatever the devices and nodes.

    Percentages, temperatures, clocks and watts are means over the devices (or nodes), bytes and rates are
    sums over them; the single devices are in `timeline`. The window is on the clock of the host *clock*, the
    first by default; the others' samples are brought to it by the time of day at which each agent started.
    """
    if window.begin_s is None or window.end_s is None or window.end_s <= window.begin_s:
        return (), ()
    near = (_near(samples, window) for samples in _on_one_clock(hosts, clock))
    every = [one for samples in near for one in _series(samples, window)]
    figures = (_utilisation(_job(same), window, len(same)) for same in _by_resource(every))
    used = tuple(figure for figure in figures if figure is not None)
    return used, _findings(every, used)


def timeline(samples: Sequence[Mapping], window: Window | None) -> Timeline:
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


# from lines of samples.<host>.jsonl to series


def _on_one_clock(hosts: Mapping[str, Sequence[Mapping]], clock: str | None) -> list[_Samples]:
    headers = {host: _header(samples) for host, samples in hosts.items()}
    origin = _number(headers.get(clock or next(iter(hosts), ""), {}).get("started_at_unix_s"))
    found = []
    for host, samples in hosts.items():
        start = _number(headers[host].get("started_at_unix_s"))
        shift_s = start - origin if start is not None and origin is not None else 0.0
        readings = _in_order(samples)
        found.append(
            _Samples(
                header=headers[host],
                readings=tuple(reading for _, reading in readings),
                times_s=tuple(at_s + shift_s for at_s, _ in readings),
                host=host if len(hosts) > 1 else None,
            )
        )
    return found


def _thinned(samples: _Samples) -> _Samples:
    every = -(-len(samples.readings) // DRAWN_READINGS) or 1
    return replace(samples, readings=samples.readings[::every], times_s=samples.times_s[::every], stride=every)


def _near(samples: _Samples, window: Window) -> _Samples:
    """The readings inside the window and the neighbours of its edges; the others could not count."""
    first = max(0, bisect_right(samples.times_s, window.begin_s) - 1)
    last = bisect_left(samples.times_s, window.end_s) + 1
    return replace(samples, readings=samples.readings[first:last], times_s=samples.times_s[first:last])


def _header(samples: Sequence[Mapping]) -> Mapping:
    first = samples[0] if samples else {}
    return first if isinstance(first, Mapping) and first.get("header") else {}


def _in_order(samples: Sequence[Mapping]) -> list[tuple[float, Mapping]]:
    """Readings with their times; one that does not come after the one before it is left out (D21)."""
    kept: list[tuple[float, Mapping]] = []
    for sample in samples:
        at_s = _number(_at(sample, "at_s"))
        if at_s is not None and (not kept or at_s > kept[-1][0]):
            kept.append((at_s, sample))
    return kept


def _series(samples: _Samples, window: Window | None) -> list[Series]:
    """All series of one host, cut to *window* if there is one; those without a value are left out."""
    made = [*_node_series(samples, window), *_disk_series(samples, window)]
    made += [*_network_series(samples, window), *_gpu_series(samples, window)]
    return [one for one in made if one.cells or one.rejected]


def _node_series(samples: _Samples, window: Window | None) -> Iterable[Series]:
    total = _number(samples.header.get("memory_total_bytes"))
    cores = _number(samples.header.get("cpu_count"))
    node = {"device": samples.host}
    percent = {"unit": "%", "capacity": 100.0, **node}
    cpu = _spans(samples, lambda sample: _number(_at(sample, "cpu_percent")))
    yield _checked("cpu", cpu, window, limit=100.0 + GRAIN_PERCENT, **percent)
    if total:
        used = _gauge(samples, lambda sample: _share(_at(sample, "memory_used_bytes"), total), window)
        yield _checked("memory", used, window, limit=100.0 + GRAIN_PERCENT, **percent)
    if cores:
        busy = [
            cell._replace(value=100.0 * cell.value / cores)
            for cell in _rates(samples, lambda sample: _number(_at(sample, "tree", "cpu_s")))
        ]
        yield _checked("job_cpu", busy, window, limit=100.0 + JOB_CPU_GRAIN_PERCENT, **percent)
    resident = _gauge(samples, lambda sample: _number(_at(sample, "tree", "memory_bytes")), window)
    yield _checked("job_memory", resident, window, unit="bytes", capacity=total, summed=True, **node)


def _disk_series(samples: _Samples, window: Window | None) -> Iterable[Series]:
    for name in _names(samples, "disks"):
        for resource, unit, counters in (
            ("disk_read", "bytes/s", ("read_bytes",)),
            ("disk_write", "bytes/s", ("write_bytes",)),
            ("disk_operations", "1/s", ("read_operations", "write_operations")),
        ):
            rates = _rates(samples, lambda sample, n=name, c=counters: _total(sample, "disks", n, c))
            yield _checked(resource, rates, window, unit=unit, device=_label(samples, name), summed=True)


def _network_series(samples: _Samples, window: Window | None) -> Iterable[Series]:
    for name in _names(samples, "interfaces"):
        speed = _number(_at(samples.header, "interfaces", name, "speed_mbit_s"))
        capacity = speed * MEGA / BITS_PER_BYTE if speed else None
        ways = {"network_receive": "received_bytes", "network_send": "sent_bytes"}
        for resource, counter in {"loopback": "received_bytes"}.items() if name == "lo" else ways.items():
            rates = _rates(samples, lambda sample, n=name, c=counter: _total(sample, "interfaces", n, (c,)))
            device = _label(samples, name)
            yield _checked(resource, rates, window, unit="bytes/s", device=device, capacity=capacity, summed=True)


def _gpu_series(samples: _Samples, window: Window | None) -> Iterable[Series]:
    for gpu in _of_job(samples.header.get("gpus")):
        memory = _number(gpu.get("memory_total_bytes"))
        readings = _of_device(samples, gpu.get("index"))
        for resource, unit, field_name, scale, capacity in (
            ("gpu", "%", "utilisation_percent", 1.0, 100.0),
            ("gpu_memory", "%", "memory_used_bytes", 100.0 / memory if memory else None, 100.0),
            ("gpu_power", "W", "power_w", 1.0, _number(gpu.get("power_limit_w"))),
            ("gpu_temperature", "°C", "temperature_c", 1.0, None),
            ("gpu_sm_clock", "MHz", "sm_clock_mhz", 1.0, None),
            ("gpu_memory_clock", "MHz", "memory_clock_mhz", 1.0, None),
            ("pcie_receive", "bytes/s", "pcie_received_bytes_per_s", 1.0, None),
            ("pcie_send", "bytes/s", "pcie_sent_bytes_per_s", 1.0, None),
        ):
            if scale is None:
                continue
            reach_s = _number(samples.header.get("pcie_period_s")) if resource.startswith("pcie") else None
            cells = _gauge(readings, _field(field_name, scale), window, reach_s)
            yield _checked(
                resource,
                cells,
                window,
                unit=unit,
                device=_label(samples, f"gpu{gpu.get('index')}"),
                capacity=capacity,
                limit=100.0 + GRAIN_PERCENT if unit == "%" else math.inf,
                summed=unit == "bytes/s",
            )


def _of_job(gpus: object) -> list[Mapping]:
    """The devices that the job uses; all of them where the header does not say."""
    known = [gpu for gpu in gpus if isinstance(gpu, Mapping)] if isinstance(gpus, list) else []
    return [gpu for gpu in known if gpu.get("of_job", True)]


def _field(name: str, scale: float) -> Callable[[Mapping], float | None]:
    def value(reading: Mapping) -> float | None:
        found = _number(reading.get(name))
        return None if found is None else found * scale

    return value


def _of_device(samples: _Samples, index: object) -> _Samples:
    """The same samples, each reading that of one device alone."""
    return replace(samples, readings=tuple(_device(reading, index) for reading in samples.readings))


def _device(reading: Mapping, index: object) -> Mapping:
    devices = _at(reading, "gpus")
    for device in devices if isinstance(devices, list) else ():
        if isinstance(device, Mapping) and device.get("index") == index:
            return device
    return {}


# from readings to cells


def _spans(samples: _Samples, value: Callable[[Mapping], float | None]) -> list[Cell]:
    """A value that each reading gives for the time since the reading before it."""
    pairs = pairwise(zip(samples.times_s, samples.readings, strict=True))
    found = ((begin, end, value(reading)) for (begin, _), (end, reading) in pairs)
    return [Cell(begin_s=begin, end_s=end, at_s=end, value=it) for begin, end, it in found if it is not None]


def _rates(samples: _Samples, counter: Callable[[Mapping], float | None]) -> list[Cell]:
    """How fast a counter went from one reading to the next, per second.

    The agent's last reading may follow hard on the one before it; that one is passed over then, since the
    grain of the counters would be taken for a peak.
    """
    known = [(at_s, counter(reading)) for at_s, reading in zip(samples.times_s, samples.readings, strict=True)]
    known = [(at_s, count) for at_s, count in known if count is not None]
    if len(known) > 2 and known[-1][0] - known[-2][0] < samples.period_s / 2:
        del known[-2]
    return [
        Cell(begin_s=begin, end_s=end, at_s=end, value=(after - before) / (end - begin))
        for (begin, before), (end, after) in pairwise(known)
    ]


def _gauge(
    samples: _Samples,
    value: Callable[[Mapping], float | None],
    window: Window | None,
    period_s: float | None = None,
) -> list[Cell]:
    """Readings of an instant: each stands for the time around it, up to half-way to its neighbours.

    *period_s* is the time between two readings, where it is not that between two samples.
    """
    read = ((at_s, value(reading)) for at_s, reading in zip(samples.times_s, samples.readings, strict=True))
    inside = [(at_s, it) for at_s, it in read if it is not None and _holds(window, at_s)]
    reach_s = max(samples.period_s, period_s or 0.0)
    cells = []
    for place, (at_s, it) in enumerate(inside):
        begin, end = at_s - reach_s, at_s + reach_s
        if place > 0:
            begin = at_s - min((at_s - inside[place - 1][0]) / 2, 0.75 * reach_s)
        if place < len(inside) - 1:
            end = at_s + min((inside[place + 1][0] - at_s) / 2, 0.75 * reach_s)
        cells.append(Cell(begin_s=begin, end_s=end, at_s=at_s, value=it))
    return cells


def _holds(window: Window | None, at_s: float) -> bool:
    return window is None or window.begin_s <= at_s <= window.end_s


def _checked(
    resource: str,
    cells: Iterable[Cell],
    window: Window | None,
    *,
    unit: str,
    device: str | None,
    limit: float = math.inf,
    capacity: float | None = None,
    summed: bool = False,
) -> Series:
    """The series of the cells inside the window, without those that cannot be (D18)."""
    inside = [cell for cell in _cut(cells, window) if cell.seconds > 0]
    sound = [cell for cell in inside if 0 <= cell.value <= limit]
    if unit == "%":
        sound = [cell if cell.value <= 100 else cell._replace(value=100.0) for cell in sound]
    return Series(
        resource=resource,
        unit=unit,
        device=device,
        cells=tuple(sound),
        capacity=capacity,
        samples=len(sound),
        rejected=len(inside) - len(sound),
        summed=summed,
    )


def _cut(cells: Iterable[Cell], window: Window | None) -> Iterable[Cell]:
    if window is None:
        return cells
    return (_inside(cell, window.begin_s, window.end_s) for cell in cells)


def _inside(cell: Cell, begin_s: float, end_s: float) -> Cell:
    if begin_s <= cell.begin_s and cell.end_s <= end_s:
        return cell
    return Cell(begin_s=max(cell.begin_s, begin_s), end_s=min(cell.end_s, end_s), at_s=cell.at_s, value=cell.value)


# from series to the job


def _by_resource(every: Sequence[Series]) -> list[list[Series]]:
    grouped: dict[str, list[Series]] = {}
    for one in every:
        grouped.setdefault(one.resource, []).append(one)
    return list(grouped.values())


def _job(same: Sequence[Series]) -> Series:
    """One series for the job: the sum over devices where that means something, else all their cells."""
    if same[0].summed and len(same) > 1:
        return _together(same)
    cells = tuple(cell for one in same for cell in one.cells)
    return replace(
        same[0], device=None, cells=cells, samples=sum(one.samples for one in same), capacity=_capacity(same)
    )


def _together(same: Sequence[Series]) -> Series:
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
            cells.append(Cell(begin_s=begin, end_s=end, at_s=at_s, value=total))
    return replace(
        same[0],
        device=None,
        cells=tuple(cells),
        samples=min(one.samples for one in same),
        capacity=_capacity(same),
    )


def _capacity(same: Sequence[Series]) -> float | None:
    known = [one.capacity for one in same]
    if None in known:
        return None
    return sum(known) if same[0].summed else sum(known) / len(known)


def _utilisation(one: Series, window: Window, devices: int) -> Utilisation | None:
    """The figures of one series; None if nothing of it lies in the window."""
    if not one.cells:
        return None
    ordered = sorted(((cell.value, cell.seconds) for cell in one.cells), key=itemgetter(0))
    seconds = math.fsum(seconds for _, seconds in ordered)
    whole = (window.end_s - window.begin_s) * (1 if one.summed else devices)
    return Utilisation(
        resource=one.resource,
        unit=one.unit,
        mean=math.fsum(value * seconds for value, seconds in ordered) / seconds,
        p5=_percentile(ordered, 0.05 * seconds),
        p95=_percentile(ordered, 0.95 * seconds),
        samples=one.samples,
        coverage=min(1.0, seconds / whole),
        capacity=one.capacity,
        device=one.device,
    )


def _percentile(ordered: Sequence[tuple[float, float]], wanted_s: float) -> float:
    """The smallest of the *ordered* (value, seconds) below which the resource was for *wanted_s* at least."""
    passed_s = 0.0
    for value, seconds in ordered:
        passed_s += seconds
        if passed_s >= wanted_s:
            return value
    return ordered[-1][0]


def _findings(every: Sequence[Series], used: Sequence[Utilisation]) -> tuple[Finding, ...]:
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


# from JSON that may hold anything to numbers


def _at(found: object, *path: str) -> object:
    for name in path:
        if not isinstance(found, Mapping):
            return None
        found = found.get(name)
    return found


def _number(found: object) -> float | None:
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
        return None
    return float(found)


def _share(used: object, total: float) -> float | None:
    number = _number(used)
    return None if number is None else 100.0 * number / total


def _total(sample: Mapping, kind: str, name: str, counters: Sequence[str]) -> float | None:
    values = [_number(_at(sample, kind, name, counter)) for counter in counters]
    return None if None in values else sum(values)


def _names(samples: _Samples, kind: str) -> list[str]:
    known = samples.header.get(kind)
    return [str(name) for name in known] if isinstance(known, list | Mapping) else []


def _label(samples: _Samples, device: str) -> str:
    return device if samples.host is None else f"{samples.host}/{device}"

"""Samples → how much of each resource the measured steps used, and how that went over time. Means are weighted with
time over the window (docs/numbers.md). A counter gives the rate between two readings; a gauge holds for the time around
its reading. What was measured on too few of the planned devices, or in too little of the window, is absent. One
resource of all hosts follows the other, so that 1,000 devices fit into memory."""

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from evalsuite.core import paths
from evalsuite.core.decode import whole
from evalsuite.core.findings import ImpossibleSamples, OtherDevices, ThinSamples
from evalsuite.core.model import Case, Finding, Utilisation, Window, by_key
from evalsuite.runs.samples import Header, Samples, gpu_name

if TYPE_CHECKING:
    from evalsuite.results.samples.sample_arrays import Cells, Floats, Places, Readings, Readout

# The clocks of the counter and of the agent are never read at one instant: a little above 100 % is full.
FEWEST_READINGS = 5
FINER, FINER_SAMPLES = "gpus.utilisation_mean_percent", "gpus.utilisation_samples"
MOSTLY = 0.5  # of the readings
BITS_PER_BYTE = 8
MEGA = 1e6


class Bounds(NamedTuple):
    begin_s: float
    end_s: float


@dataclass(frozen=True, kw_only=True)
class Meter:
    of: Literal["host", "disk", "filesystem", "interface", "loopback", "accelerator"]
    quantities: tuple[str, ...]  # of the samples; their sum is meant
    unit: str
    counts: bool = False  # a counter, whose rate is meant
    limit: float = math.inf  # above it a value cannot be
    summed: bool = False
    rare: bool = False  # read at the period of PCIe traffic


METERS: Mapping[str, Meter] = {
    name: Meter(**{**meter, "quantities": tuple(meter["quantities"])})
    for name, meter in paths.read_data("meters.toml").items()
}


class Device(NamedTuple):
    name: str  # in the samples
    capacity: float | None = None
    whole: float | None = None


@dataclass(frozen=True, kw_only=True)
class ReadingSeries:
    """One resource of some devices that were read at the same times."""

    devices: tuple[Device, ...]
    cells: "Cells"
    taken: Sequence[int]  # samples of each
    rejected: int  # values that cannot be (D18)


@dataclass(frozen=True, kw_only=True)
class Devices:
    nodes: int
    accelerators: int  # over all nodes; 0 for a run on CPUs
    link_mbit: int | None = None

    @classmethod
    def of(cls, case: Case) -> "Devices":
        accelerators = case.total_devices if case.device != "cpu" else 0
        return cls(nodes=case.nodes, accelerators=accelerators, link_mbit=whole(case.option("link_mbit", "")))


def of_job(
    hosts: Mapping[str, Samples], window: Window, planned: Devices | None = None, only: Container[str] | None = None
) -> tuple[tuple[Utilisation, ...], tuple[Finding, ...]]:
    """The job's use of each resource over *window*, on the clock of the first host; of *only* some, without findings.
    Shares, temperatures, clocks and watts are means over devices or nodes, bytes and rates are sums. Where too little
    was sampled there is no figure (D18)."""
    if window.begin_s is None or window.end_s is None or window.end_s <= window.begin_s:
        return (), ()
    from evalsuite.results.samples.sample_arrays import FEW_HOSTS, DeviceSeries, on_one_clock

    span = Bounds(window.begin_s, window.end_s)
    near = [host.near(*span) for host in on_one_clock(hosts)]
    used, impossible, idle = list[Utilisation](), dict[str, int](), list[Finding]()
    asked = [name for name in METERS if only is None or name in only]
    # of many hosts one resource of accelerators follows the other, so that 1,000 devices fit into memory
    apart = by_key((name if METERS[name].of == "accelerator" else "", name) for name in asked).values()
    for names in [asked] if len(near) <= FEW_HOSTS else apart:
        others = tuple(dict.fromkeys(each for name in names[1:] and names for each in METERS[name].quantities))
        of_hosts = [_series(replace(host, others=host.others or others), names, span) for host in near]
        for resource in names:
            same = [series for found in of_hosts for series in _over_link(resource, found.get(resource, []), planned)]
            if rejected := sum(series.rejected for series in same):
                impossible[resource] = rejected
            if same and (figure := _utilisation(resource, same, span, _expected(resource, same, near, planned))):
                used.append(figure)
            if resource == "gpu":
                idle += _idle(same, planned)
    enough = tuple(figure for figure in used if figure.coverage >= ThinSamples.wanted)
    if only is not None:
        return enough, ()
    return enough, (
        *_findings(used, impossible),
        *idle,
        *_beyond(near, planned),
        *DeviceSeries(hosts=near, begin_s=span.begin_s, end_s=span.end_s).findings(),
    )


def _over_link(resource: str, of_host: Sequence[ReadingSeries], planned: Devices | None) -> Sequence[ReadingSeries]:
    """With the stated rate of the link for the interface's speed; of several interfaces none has a capacity."""
    if planned is None or planned.link_mbit is None or METERS[resource].of != "interface":
        return of_host
    alone = sum(len(series.devices) for series in of_host) == 1
    rate = planned.link_mbit * MEGA / BITS_PER_BYTE if alone else None
    return [replace(each, devices=tuple(device._replace(capacity=rate) for device in each.devices)) for each in of_host]


def _expected(
    resource: str, same: Sequence[ReadingSeries], hosts: Sequence["Readings"], planned: Devices | None
) -> int:
    number, missing = _number(same), (planned.nodes / len(hosts)) if planned and hosts else 1.0
    if METERS[resource].of == "accelerator":
        return max(number, planned.accelerators if planned else 0)
    if METERS[resource].of in ("disk", "filesystem", "interface"):
        return max(number, round(missing * sum(len(_devices(resource, host)) for host in hosts)))
    return max(number, planned.nodes if planned else len(hosts))


def _idle(same: Sequence[ReadingSeries], planned: Devices | None) -> Iterator[Finding]:
    rows = [row for use in same for row in use.cells.values]
    busy = [bool((row > 0).any()) for row in rows if (row == row).sum() >= FEWEST_READINGS]
    if planned and sum(busy) < planned.accelerators <= len(busy):
        yield OtherDevices(told="devices_busy", seen=sum(busy), planned=planned.accelerators)


def _beyond(hosts: Sequence["Readings"], planned: Devices | None) -> Iterator[Finding]:
    """Somebody else's devices are busy before the run begins."""
    from evalsuite.results.samples.sample_arrays import GPU_USE, table_of

    busy = 0
    for host in hosts:
        names = [gpu_name(gpu.index) for gpu in host.header.gpus or () if gpu.of_job is False]
        tables = (table_of(host.samples, GPU_USE, host.others), host.table(GPU_USE)) if names else ()
        for name in names:
            first, row = (table.row(name) if table else None for table in tables)
            if first is not None and row is not None and (row == row).sum() >= FEWEST_READINGS:
                busy += bool(first[first == first][0] == 0 and (row > 0).mean() > MOSTLY)
    if planned and planned.accelerators and busy:
        yield OtherDevices(told="others_busy", seen=busy, planned=planned.accelerators)


def _devices(resource: str, readings: "Readings") -> list[Device]:
    header, of = readings.header, METERS[resource].of
    if of == "host":
        return _host(resource, header)
    if of == "accelerator":
        return _accelerators(resource, readings)
    if of in ("disk", "filesystem"):
        return [Device(name=name) for name in (header.disks if of == "disk" else header.filesystems) or ()]
    return [
        Device(name=name, capacity=about.speed_mbit_s * MEGA / BITS_PER_BYTE if about.speed_mbit_s else None)
        for name, about in (header.interfaces or {}).items()
        if (name == "lo") == (of == "loopback")
    ]


def _host(resource: str, header: Header) -> list[Device]:
    total, cores = header.memory_total_bytes, header.cpu_count
    if resource == "memory":
        return [Device(name="", capacity=100.0, whole=float(total))] if total else []
    if resource == "job_cpu":
        return [Device(name="", capacity=100.0, whole=cores)] if cores else []
    if resource == "job_memory":
        return [Device(name="", capacity=None if total is None else float(total))]
    return [Device(name="", capacity=100.0)]


def _accelerators(resource: str, readings: "Readings") -> list[Device]:
    of_job = [gpu for gpu in readings.header.gpus or () if gpu.of_job is not False]
    if resource == "gpu_memory":
        return [Device(gpu_name(gpu.index), 100.0, whole) for gpu in of_job if (whole := gpu.memory_total_bytes)]
    if resource == "gpu_power":
        return [Device(gpu_name(gpu.index), gpu.power_limit_w) for gpu in of_job]
    return [Device(gpu_name(gpu.index), 100.0 if resource == "gpu" else None) for gpu in of_job]


def _series(readings: "Readings", resources: Iterable[str], window: Bounds) -> dict[str, list[ReadingSeries]]:
    from evalsuite.results.samples import sample_arrays

    rows = []
    for resource in resources:
        if table := _table(readings, resource):
            known = [device for device in _devices(resource, readings) if device.name in table.of]
            rows += [(resource, device, table.values[table.of.index(device.name)]) for device in known]
    finer = readings.table(FINER_SAMPLES) if _is_finer(readings) else None
    found: dict[str, list[ReadingSeries]] = {}
    kinds = [_kind(readings, resource) for resource, *_ in rows]
    for kind, places, values, read in sample_arrays.read_together(kinds, [row for *_, row in rows]):
        cells = _cells(readings, kind, values, read, window)
        if not cells.seconds.size:
            continue
        meters = [(METERS[resource], device.whole) for resource, device, _ in (rows[place] for place in places)]
        values, impossible = sample_arrays.possible(
            cells.values,
            wholes=[whole for _, whole in meters],
            limits=[meter.limit for meter, _ in meters],
            most=[100.0 if meter.unit == "%" else math.inf for meter, _ in meters],
        )
        for resource, same in by_key((rows[place][0], at) for at, place in enumerate(places)).items():
            of = tuple(rows[places[at]][1] for at in same)
            own = replace(cells, values=values[same[0] : same[-1] + 1])
            taken = own.known.sum(axis=1).tolist()
            if finer and resource == "gpu":
                counts = finer.values[[finer.of.index(device.name) for device in of]]
                counted = _cells(readings, kind, counts, read, window).values
                taken = [int(row[row == row].sum()) for row in counted]
            rejected = sum(impossible[same[0] : same[-1] + 1])
            found.setdefault(resource, []).append(ReadingSeries(devices=of, cells=own, taken=taken, rejected=rejected))
    return found


def _kind(readings: "Readings", resource: str) -> str:
    """How values come from readings."""
    meter = METERS[resource]
    if meter.counts:
        return "counts"
    if resource == "cpu" or (resource == "gpu" and _is_finer(readings)):
        return "since"
    return "rare" if meter.rare else "gauge"


def _is_finer(readings: "Readings") -> bool:
    """Whether each device of the job told the mean of its own samples, which are more than the sampler's moments."""
    told = readings.table(FINER)
    return told is not None and all(device.name in told.of for device in _accelerators("gpu", readings))


def _table(readings: "Readings", resource: str) -> "Readout | None":
    quantities = (FINER,) if resource == "gpu" and _is_finer(readings) else METERS[resource].quantities
    first, *others = map(readings.table, quantities)
    for other in others:
        if first is None or other is None or first.of != other.of:
            return None  # one line holds both, or neither
        first = first._replace(values=first.values + other.values)
    return first


def _cells(readings: "Readings", kind: str, rows: "Floats", read: "Places", window: Bounds) -> "Cells":
    """The values of *rows* where they were *read*, with the times that they hold for, cut to *window*."""
    from evalsuite.results.samples import sample_arrays

    times_s, period_s = readings.times_s, 1 / readings.header.hz
    if kind == "counts":
        cells = sample_arrays.rates(times_s[read], rows[:, read], period_s)
    elif kind == "since":  # the reading before; that of the first is unknown
        kept, ends_s = read if isinstance(read, slice) else read[1:], times_s[1:]
        cells = sample_arrays.Cells(begin_s=times_s[:-1][kept], end_s=ends_s[kept], values=rows[:, 1:][:, kept])
    else:
        reach_s = max(period_s, (readings.header.pcie_period_s or 0.0) if kind == "rare" else 0.0)
        cells = sample_arrays.gauge(times_s[read], rows[:, read], reach_s, window)
    return cells.inside(*window)


def _number(same: Iterable[ReadingSeries]) -> int:
    return sum(len(series.devices) for series in same)


def _capacity(resource: str, same: Sequence[ReadingSeries]) -> float | None:
    every = [device.capacity for series in same for device in series.devices]
    known = [capacity for capacity in every if capacity is not None]
    if len(known) < len(every):
        return None
    return sum(known) if METERS[resource].summed else sum(known) / len(known)


def _utilisation(resource: str, same: Sequence[ReadingSeries], window: Bounds, expected: int) -> Utilisation | None:
    from evalsuite.results.samples import sample_arrays

    meter, length_s = METERS[resource], window.end_s - window.begin_s
    taken = [number for series in same for number in series.taken]
    cells = [series.cells for series in same]
    parts = [sample_arrays.together(cells)] if meter.summed else cells
    shares = [each for cells in parts for each in sample_arrays.means(cells)]
    if not shares:
        return None
    values, seconds, whole_s = sample_arrays.flat(parts)
    p5, p95 = sample_arrays.percentiles(values, seconds, whole_s, (0.05, 0.95))
    return Utilisation(
        resource=resource,
        unit=meter.unit,
        mean=math.fsum(shares) / len(shares),
        p5=p5,
        p95=p95,
        samples=min(taken) if meter.summed else sum(taken),
        coverage=min(1.0, whole_s / (length_s * (expected / _number(same) if meter.summed else expected))),
        capacity=_capacity(resource, same),
    )


def _findings(used: Sequence[Utilisation], impossible: Mapping[str, int]) -> Iterator[Finding]:
    thin = [use for use in used if use.coverage < ThinSamples.wanted]
    if thin:
        named = tuple(sorted({use.resource for use in thin}))
        yield ThinSamples(resources=named, coverage=min(use.coverage for use in thin))
    if impossible:
        yield ImpossibleSamples(resources=tuple(sorted(impossible)), samples=sum(impossible.values()))

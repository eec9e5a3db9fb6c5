"""The samples of one host: a header, and the readings of its sensors in order of time.

A run has some hundred readings, and a report a thousand runs. A line that looks as the node agent writes it is taken
by `_plain` in a few microseconds; any other is read key by key, so that an error names what is wrong.
"""

import functools
import json
import sys
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

from evalsuite import decode
from evalsuite.decode import above
from evalsuite.documents import TRY, Document, Gpu, Interface
from evalsuite.errors import EvalsuiteError


@dataclass(frozen=True, kw_only=True)
class Header(Document):
    """What the readings are measured against. The first line of the file."""

    hz: Annotated[float, above(0)]  # readings per second, on the mean
    jitter: float | None = None  # share of a period by which each interval was varied; None: they were all alike
    started_at_unix_s: float | None = None  # the time of day at which the run's clock began
    clock_ahead_s: float | None = None  # of this host, of the evaluator's; None: not known
    cpu_count: float | None = None  # cores' worth of CPU time that is 100 %
    cpu_scope: str | None = None  # "machine", "container"
    cores: tuple[int, ...] | None = None
    memory_total_bytes: int | None = None
    memory_scope: str | None = None
    disks: tuple[str, ...] | None = None
    interfaces: Mapping[str, Interface] | None = None
    filesystems: Mapping[str, str] | None = None  # name → "lustre", "nfs", "nfs4"
    gpus: tuple[Gpu, ...] | None = None
    pcie_period_s: float | None = None  # from one reading to the next of what a device tells slowly: PCIe traffic

    def to_json(self) -> dict[str, object]:
        return {"header": True, **super().to_json()}

    @classmethod
    def from_json(cls, facts: object, where: Path | str) -> Self:
        """As `Document.from_json`. A header without a schema is of the first."""
        if not isinstance(facts, Mapping) or facts.get("header") is not True:
            raise EvalsuiteError(
                f"{where}: header: it is not true; expected the header before all samples. {decode.said(TRY)}"
            )
        return super().from_json({"schema": 1, **facts}, where)


# JSON tells 1 from 1.0, and nothing depends on it: what is counted in bytes may be either.


@dataclass(frozen=True, kw_only=True)
class DiskCounters:
    """What a disk has done since the machine started."""

    read_bytes: float
    write_bytes: float
    read_operations: float
    write_operations: float


@dataclass(frozen=True, kw_only=True)
class InterfaceCounters:
    """What an interface has carried since the machine started."""

    received_bytes: float
    sent_bytes: float


@dataclass(frozen=True, kw_only=True)
class FilesystemCounters:
    """What a file system on other machines has done for this one since it was mounted."""

    read_bytes: float
    write_bytes: float
    operations: float  # of data and metadata


@dataclass(frozen=True, kw_only=True)
class TreeReading:
    """The processes of the run on this host."""

    cpu_s: float  # CPU seconds since the start
    memory_bytes: float
    processes: float


@dataclass(frozen=True, kw_only=True)
class CoreReading:
    """How busy the cores were since the sample before: of hundreds, what tells an idle machine from a full core."""

    least_percent: float
    mean_percent: float
    most_percent: float
    above_90_percent: float  # how many cores


@dataclass(frozen=True, kw_only=True)
class GpuReading:
    """What an accelerator does at this instant."""

    index: float | None = None
    utilisation_percent: float | None = None
    utilisation_mean_percent: float | None = None  # of what the device measured itself since the reading before
    utilisation_least_percent: float | None = None
    utilisation_most_percent: float | None = None
    memory_used_bytes: float | None = None
    memory_utilisation_percent: float | None = None
    power_w: float | None = None
    power_mean_w: float | None = None  # likewise
    power_least_w: float | None = None
    power_most_w: float | None = None
    energy_j: float | None = None  # since the driver was loaded, by the device's own counter
    temperature_c: float | None = None
    sm_clock_mhz: float | None = None
    memory_clock_mhz: float | None = None
    pcie_received_bytes_per_s: float | None = None
    pcie_sent_bytes_per_s: float | None = None
    link_received_bytes: float | None = None  # over NVLink since the driver was loaded, all links together
    link_sent_bytes: float | None = None
    clock_limits: float | None = None  # why the clocks are not at their highest, a bit a reason as in nvml.h
    memory_errors_corrected: float | None = None  # since the driver was loaded
    memory_errors_uncorrected: float | None = None
    driver_errors: float | None = None  # critical ones that the driver reported since the run began: Xid
    sm_active_percent: float | None = None  # of the multiprocessors, since the reading before; Hopper and newer
    sm_occupancy_percent: float | None = None
    tensor_active_percent: float | None = None
    memory_bandwidth_percent: float | None = None


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One reading of the sensors. CPU percentages hold from the sample before to this one."""

    at_s: float  # since the run began
    cpu_percent: float | None = None
    cpu_percent_per_core: tuple[float | None, ...] | None = None  # on request; `cores` says it in short
    cores: CoreReading | None = None
    memory_used_bytes: float | None = None
    disks: Mapping[str, DiskCounters] | None = None
    interfaces: Mapping[str, InterfaceCounters] | None = None
    filesystems: Mapping[str, FilesystemCounters] | None = None
    tree: TreeReading | None = None
    gpus: tuple[GpuReading, ...] | None = None

    def to_json(self) -> dict[str, object]:
        return dict(decode.encode(self))

    @classmethod
    def from_json(cls, facts: object, where: Path | str) -> "Sample":
        """The sample in *facts*, a line of the file *where*. Raises EvalsuiteError with the file and the key."""
        try:
            return _plain(facts)
        except UNLIKELY:
            return decode.decode(cls, facts, where, TRY)


@dataclass(frozen=True, kw_only=True)
class Samples:
    """The samples of one host over a run."""

    header: Header
    readings: tuple[Sample, ...]

    @functools.cached_property
    def tables(self) -> "dict[str, Rows]":
        """The readings quantity by quantity."""
        return tables(self.readings)

    @property
    def span_s(self) -> tuple[float, float] | None:
        """When the first and the last reading were taken; None if there are none."""
        return (self.readings[0].at_s, self.readings[-1].at_s) if self.readings else None


def read(file: Path) -> Samples | None:
    """The samples in *file*; None if there is none yet. A half-written last line is left out."""
    header, readings = stream(file)
    return Samples(header=header, readings=tuple(readings)) if header else None


def stream(file: Path) -> tuple[Header | None, Iterator[Sample]]:
    """As `read`, one reading after the other."""
    found = _lines(file)
    number, facts = next(found, (0, None))
    header = Header.from_json(facts, f"{file}:{number}") if number else None
    return header, (Sample.from_json(facts, f"{file}:{at}") for at, facts in found)


def _lines(file: Path) -> Iterator[tuple[int, object]]:
    if not file.is_file():
        return
    with open(file, "rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield number, json.loads(line)
            except ValueError:
                return  # the agent was killed while it wrote this line
            except RecursionError as error:
                raise EvalsuiteError(f"{file}:{number}: {error}; expected a sample. {decode.said(TRY)}") from error


# quantity by quantity

ALONE = ("at_s", "cpu_percent", "memory_used_bytes")  # one number a reading
GPU_FIELDS = tuple(field.name for field in fields(GpuReading) if field.name != "index")
GPU_QUANTITIES = tuple((name, f"gpus.{name}") for name in GPU_FIELDS)

Rows = dict[str, list[float | None]]  # device → its value at each reading; None: not read


def tables(readings: Sequence[Sample]) -> dict[str, Rows]:
    """Quantity → device → its value at each of *readings*."""
    found: dict[str, Rows] = {}
    for place, sample in enumerate(readings):
        for name, device, number in flat(sample):
            table = found.setdefault(name, {})
            (table.get(device) or table.setdefault(device, [None] * len(readings)))[place] = number
    return found


def gpu_name(index: float | None) -> str:
    """What an accelerator is called among the devices of a quantity."""
    return str(int(index)) if index is not None and index == int(index) else str(index)


def flat(sample: Sample) -> Iterator[tuple[str, str, float]]:
    """(quantity, device, value) of all that was read at once."""
    for name in ALONE:
        if (found := getattr(sample, name)) is not None:
            yield name, "", found
    for place, percent in enumerate(sample.cpu_percent_per_core or ()):
        if percent is not None:
            yield "cpu_percent_per_core", str(place), percent
    for group in DEVICES:
        for device, counters in (getattr(sample, group) or {}).items():
            for name, number in vars(counters).items():
                yield f"{group}.{name}", device, number
    for part, about in (("cores", sample.cores), ("tree", sample.tree)):
        for name, number in vars(about).items() if about else ():
            yield f"{part}.{name}", "", number
    gpus = {gpu_name(gpu.index): gpu for gpu in reversed(sample.gpus or ())}  # of two with one number the first
    for device, gpu in reversed(gpus.items()):
        for name, quantity in GPU_QUANTITIES:
            if (number := getattr(gpu, name)) is not None:
                yield quantity, device, number


# the short way: a line as the agent writes it

Part = TypeVar("Part")
NUMBERS = frozenset({int, float})
NUMBERS_OR_NONE = NUMBERS | {type(None)}
UNLIKELY = (KeyError, TypeError, AttributeError, OverflowError)  # what the short way raises of any other line


def _plain(facts: Any) -> Sample:
    """The sample in *facts*, a line as the agent writes it. Raises one of UNLIKELY if it is anything else."""
    if type(facts) is not dict:
        raise TypeError
    parts: dict[str, object] = {}
    counts, readings = [facts["at_s"]], [facts.get("cpu_percent"), facts.get("memory_used_bytes")]
    for name, kind in DEVICES.items():
        if (found := facts.get(name)) is not None:
            parts[name] = {each: _whole_part(kind, of) for each, of in found.items()}
            for of in found.values():
                counts += of.values()
    for name, kind in PARTS.items():
        if (of := facts.get(name)) is not None:
            parts[name] = _whole_part(kind, of)
            counts += of.values()
    if (gpus := facts.get("gpus")) is not None:
        parts["gpus"] = tuple(_part(GpuReading, gpu) for gpu in _list(gpus))
        for gpu in gpus:
            readings += gpu.values()
    if (cores := facts.get("cpu_percent_per_core")) is not None:
        parts["cpu_percent_per_core"] = tuple(_list(cores))
        readings += cores
    _check(counts, NUMBERS)
    _check(readings, NUMBERS_OR_NONE)
    return _part(Sample, facts | parts)


def _part(cls: type[Part], facts: Any) -> Part:
    """A noun made of *facts*, whose keys may be its fields and no others.

    Its own `__init__` would take most of the time that a report spends on samples: it sets the fields of a frozen
    dataclass one by one.
    """
    if not facts.keys() <= NAMES[cls]:
        raise TypeError
    part = object.__new__(cls)
    vars(part).update(facts)
    return part


def _whole_part(cls: type[Part], facts: Any) -> Part:
    if len(facts) != len(NAMES[cls]):
        raise TypeError
    return _part(cls, facts)


def _list(found: Any) -> list[Any]:
    if type(found) is not list:
        raise TypeError
    return found


def _check(values: list[Any], kinds: Set[type]) -> None:
    if not kinds >= {*map(type, values)} or not abs(sum(filter(None, values))) <= sys.float_info.max:
        raise TypeError


DEVICES: Mapping[str, type] = {
    "disks": DiskCounters,
    "interfaces": InterfaceCounters,
    "filesystems": FilesystemCounters,
}
PARTS: Mapping[str, type] = {"tree": TreeReading, "cores": CoreReading}
NAMES: Mapping[type, frozenset[str]] = {
    cls: frozenset(field.name for field in fields(cls))
    for cls in (Sample, *DEVICES.values(), TreeReading, CoreReading, GpuReading)
}

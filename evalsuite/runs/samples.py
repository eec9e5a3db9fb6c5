"""The samples of one host: a header, and the readings of its sensors in order of time.

The node agent writes them as JSON lines, which are readable whenever it is killed. `columns` packs them at the end.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

from evalsuite import decode
from evalsuite.decode import above
from evalsuite.documents import TRY, Document, Gpu, Interface
from evalsuite.errors import EvalsuiteError

LARGEST = 1e18  # of any value
SCALES: Mapping[str, float] = {  # quantity → how many steps a unit has; docs/contracts.md#samples says why
    "at_s": 1_000_000,
    "cpu_percent": 100,
    "cpu_percent_per_core": 10,
    "memory_used_bytes": 1 / 1024,
    "cores.least_percent": 10,
    "cores.mean_percent": 100,
    "cores.most_percent": 10,
    "cores.above_90_percent": 1,
    "disks.read_bytes": 1 / 512,
    "disks.write_bytes": 1 / 512,
    "disks.read_operations": 1,
    "disks.write_operations": 1,
    "interfaces.received_bytes": 1,
    "interfaces.sent_bytes": 1,
    "filesystems.read_bytes": 1,
    "filesystems.write_bytes": 1,
    "filesystems.operations": 1,
    "tree.cpu_s": 1000,
    "tree.memory_bytes": 1 / 1024,
    "tree.processes": 1,
    "gpus.utilisation_percent": 10,
    "gpus.utilisation_mean_percent": 10,
    "gpus.utilisation_least_percent": 10,
    "gpus.utilisation_most_percent": 10,
    "gpus.memory_used_bytes": 1 / 1024,
    "gpus.memory_utilisation_percent": 10,
    "gpus.power_w": 10,
    "gpus.power_mean_w": 10,
    "gpus.power_least_w": 10,
    "gpus.power_most_w": 10,
    "gpus.energy_j": 10,
    "gpus.temperature_c": 10,
    "gpus.sm_clock_mhz": 1,
    "gpus.memory_clock_mhz": 1,
    "gpus.pcie_received_bytes_per_s": 1 / 1024,
    "gpus.pcie_sent_bytes_per_s": 1 / 1024,
    "gpus.link_received_bytes": 1 / 1024,
    "gpus.link_sent_bytes": 1 / 1024,
    "gpus.clock_limits": 1,
    "gpus.memory_errors_corrected": 1,
    "gpus.memory_errors_uncorrected": 1,
    "gpus.driver_errors": 1,
    "gpus.sm_active_percent": 10,
    "gpus.sm_occupancy_percent": 10,
    "gpus.tensor_active_percent": 10,
    "gpus.memory_bandwidth_percent": 10,
}
Reading = dict[tuple[str, str], float]  # (quantity, device; "" for what the host has one of) → value


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
            raise EvalsuiteError.of("runs.samples_header", path=where, advice=decode.said(TRY))
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


Rows = dict[str, list[float | None]]  # device → its value at each reading; None: not read


@dataclass(frozen=True, kw_only=True)
class Samples:
    """The samples of one host over a run, quantity by quantity."""

    header: Header
    tables: Mapping[str, Rows]  # "gpus.power_w" → device, "" for what the host has one of → values

    @property
    def span_s(self) -> tuple[float, float] | None:
        """When the first and the last reading were taken; None if there are none."""
        at_s = [at_s for at_s in self.tables.get("at_s", {}).get("", ()) if at_s is not None]
        return (at_s[0], at_s[-1]) if at_s else None


def read(file: Path) -> Samples | None:
    """The samples in the lines of *file*; None if there is none yet. A half-written last line is left out.

    Raises EvalsuiteError with file, line and quantity where a line is no reading.
    """
    header, readings = stream(file)
    return Samples(header=header, tables=tables(list(readings))) if header else None


def stream(file: Path) -> tuple[Header | None, Iterator[Reading]]:
    """The header, and one reading after the other. Raises as `read`."""
    found = _lines(file)
    number, facts = next(found, (0, None))
    header = Header.from_json(facts, f"{file}:{number}") if number else None
    return header, (reading(facts, f"{file}:{at}") for at, facts in found)


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
                raise EvalsuiteError.of(
                    "runs.samples_line", path=file, line=number, error=error, advice=decode.said(TRY)
                ) from error


def reading(facts: object, where: str) -> Reading:
    """The values in *facts*, a line of the file *where*. Raises EvalsuiteError with the quantity that is wrong."""
    if not isinstance(facts, dict) or facts.get("at_s") is None:
        raise EvalsuiteError.of("runs.samples_no_time", where=where, advice=decode.said(TRY))
    found: Reading = {}
    for name, device, value in _flat(facts):
        if value is None:
            continue
        if name not in SCALES:
            raise EvalsuiteError.of("runs.samples_no_quantity", where=where, name=name, advice=decode.said(TRY))
        if type(value) not in (int, float) or not abs(value) <= LARGEST:
            raise EvalsuiteError.of(
                "runs.samples_no_number", where=where, name=name, value=repr(value), advice=decode.said(TRY)
            )
        found.setdefault((name, device), value)  # of two devices with one number the first counts
    return found


def _flat(facts: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """(quantity, device, value) of a line."""
    for name, value in facts.items():
        if type(value) is dict:
            for device, part in value.items():
                if type(part) is dict:  # disks, interfaces, filesystems
                    for each, number in part.items():
                        yield f"{name}.{each}", device, number
                else:  # cores, tree
                    yield f"{name}.{device}", "", part
        elif type(value) is list:
            for place, part in enumerate(value):
                if type(part) is dict:  # gpus
                    device = gpu_name(part.get("index"))
                    for each, number in part.items():
                        if each != "index":
                            yield f"{name}.{each}", device, number
                else:
                    yield name, str(place), part
        else:
            yield name, "", value


def gpu_name(index: float | None) -> str:
    """What an accelerator is called among the devices of a quantity."""
    return str(int(index)) if isinstance(index, float) and index.is_integer() else str(index)


def tables(readings: Sequence[Reading]) -> dict[str, Rows]:
    """Quantity → device → its value at each of *readings*."""
    found: dict[str, Rows] = {}
    for place, reading in enumerate(readings):
        for (name, device), number in reading.items():
            rows = found.setdefault(name, {})
            (rows.get(device) or rows.setdefault(device, [None] * len(readings)))[place] = number
    return found

"""The samples of one host: a header and readings, as JSON lines until the agent ends and packs them (`columns`)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

from evalsuite.core import decode, files, paths
from evalsuite.core.decode import above
from evalsuite.core.documents import TRY, Document, Gpu, Interface

LARGEST = 1e18
SCALES: Mapping[str, float] = paths.read_data("sample_steps.toml")  # quantity → steps of a unit
Reading = dict[tuple[str, str], float]  # (quantity, device or "") → value


@dataclass(frozen=True, kw_only=True)
class Header(Document):
    """The first line: what the readings are measured against."""

    hz: Annotated[float, above(0)]  # readings per second, on the mean
    started_at_unix_s: float | None = None  # beginning of the run's clock
    cpu_count: float | None = None  # cores that are 100 %
    cores: tuple[int, ...] | None = None
    memory_total_bytes: int | None = None
    disks: tuple[str, ...] | None = None
    interfaces: Mapping[str, Interface] | None = None
    filesystems: Mapping[str, str] | None = None  # name → type: "lustre", "nfs"
    gpus: tuple[Gpu, ...] | None = None
    pcie_period_s: float | None = None  # between readings of PCIe traffic, which are slow

    def to_json(self) -> dict[str, object]:
        return {"header": True, **super().to_json()}

    @classmethod
    def from_json(cls, facts: object, where: Path | str) -> Self:
        """A header without a schema is of the first."""
        if not isinstance(facts, Mapping) or facts.get("header") is not True:
            raise decode.wrong(where, "header", decode.message("missing", expected="true"), TRY)
        return super().from_json({"schema": 1, **facts}, where)


# float also for bytes: JSON tells 1 from 1.0


@dataclass(frozen=True, kw_only=True)
class DiskCounters:
    """Since the machine started."""

    read_bytes: float
    write_bytes: float
    read_operations: float
    write_operations: float


@dataclass(frozen=True, kw_only=True)
class InterfaceCounters:
    """Since the machine started."""

    received_bytes: float
    sent_bytes: float


@dataclass(frozen=True, kw_only=True)
class FilesystemCounters:
    """A network file system since it was mounted."""

    read_bytes: float
    write_bytes: float
    operations: float  # on data and metadata


@dataclass(frozen=True, kw_only=True)
class TreeReading:
    cpu_s: float  # CPU seconds
    memory_bytes: float


@dataclass(frozen=True, kw_only=True)
class GpuReading:
    index: float | None = None
    utilisation_percent: float | None = None
    utilisation_mean_percent: float | None = None  # of the device's own samples since the reading before
    utilisation_samples: float | None = None  # how many those are
    memory_used_bytes: float | None = None
    power_w: float | None = None
    energy_j: float | None = None  # since the driver was loaded
    temperature_c: float | None = None
    sm_clock_mhz: float | None = None
    memory_clock_mhz: float | None = None
    pcie_received_bytes_per_s: float | None = None
    pcie_sent_bytes_per_s: float | None = None
    link_received_bytes: float | None = None  # over all NVLinks since the driver was loaded
    link_sent_bytes: float | None = None
    clock_limits: float | None = None  # why clocks are below the highest: a bit a reason, as in nvml.h
    memory_errors_uncorrected: float | None = None  # since the driver was loaded
    driver_errors: float | None = None  # critical ones (Xid) since the run began
    tensor_active_percent: float | None = None
    memory_bandwidth_percent: float | None = None


@dataclass(frozen=True, kw_only=True)
class Sample:
    """CPU percentages are since the sample before."""

    at_s: float  # since the run began
    cpu_percent: float | None = None
    memory_used_bytes: float | None = None
    disks: Mapping[str, DiskCounters] | None = None
    interfaces: Mapping[str, InterfaceCounters] | None = None
    filesystems: Mapping[str, FilesystemCounters] | None = None
    tree: TreeReading | None = None
    gpus: tuple[GpuReading, ...] | None = None

    def to_json(self) -> dict[str, object]:
        return dict(decode.encode(self))


Rows = dict[str, list[float | None]]  # device → values; None: not read


@dataclass(frozen=True, kw_only=True)
class Samples:
    header: Header
    tables: Mapping[str, Rows]  # "gpus.power_w" → device or "" → values

    @property
    def span_s(self) -> tuple[float, float] | None:
        at_s = [at_s for at_s in self.tables.get("at_s", {}).get("", ()) if at_s is not None]
        return (at_s[0], at_s[-1]) if at_s else None


def read(file: Path) -> Samples | None:
    """None without lines. Raises EvalsuiteError with file, line and quantity of a bad reading."""
    header, readings = stream(file)
    return Samples(header=header, tables=tables(list(readings))) if header else None


def stream(file: Path) -> tuple[Header | None, Iterator[Reading]]:
    lines = _lines(file)
    number, facts = next(lines, (0, None))
    header = Header.from_json(facts, f"{file}:{number}") if number else None
    return header, (reading(facts, f"{file}:{at}") for at, facts in lines)


def _lines(file: Path) -> Iterator[tuple[int, object]]:
    if not files.is_file(file):
        return
    with files.open_file(file) as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield number, json.loads(line)
            except ValueError:
                return  # half-written
            except RecursionError as error:
                raise decode.wrong(
                    f"{file}:{number}", "", decode.refusal(line, decode.message("object")), TRY
                ) from error


def reading(facts: object, where: str) -> Reading:
    """Raises EvalsuiteError with the wrong quantity of *facts*, the line *where*."""
    if not isinstance(facts, dict) or facts.get("at_s") is None:
        raise decode.wrong(where, "at_s", decode.message("missing", expected=decode.message("number")), TRY)
    values: Reading = {}
    for name, device, value in _flat(facts):
        if value is None or name not in SCALES:  # earlier versions recorded more
            continue
        if type(value) not in (int, float) or not abs(value) <= LARGEST:
            raise decode.wrong(where, name, decode.refusal(value, decode.message("number")), TRY)
        values.setdefault((name, device), value)  # of two devices with one number the first counts
    return values


def _flat(facts: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
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
    return str(int(index)) if isinstance(index, float) and index.is_integer() else str(index)


def tables(readings: Sequence[Reading]) -> dict[str, Rows]:
    by_name: dict[str, Rows] = {}
    for place, reading in enumerate(readings):
        for (name, device), number in reading.items():
            rows = by_name.setdefault(name, {})
            (rows.get(device) or rows.setdefault(device, [None] * len(readings)))[place] = number
    return by_name

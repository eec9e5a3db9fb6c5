"""The samples of one host in little space: each quantity of some thousand readings together, as steps and squeezed.

docs/contracts.md#samples describes the file. The node agent writes JSON lines while a run goes on, which are readable
whenever it is killed, and makes this file of them at the end. The standard library alone reads and writes it.
"""

import json
import struct
import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from pathlib import Path
from typing import Any, cast

from evalsuite import files
from evalsuite.decode import said
from evalsuite.documents import TRY
from evalsuite.errors import EvalsuiteError
from evalsuite.runs import samples
from evalsuite.runs.samples import (
    GPU_QUANTITIES,
    CoreReading,
    DiskCounters,
    FilesystemCounters,
    GpuReading,
    Header,
    InterfaceCounters,
    Rows,
    Sample,
    Samples,
    TreeReading,
    tables,
)

MAGIC = b"evalsuite samples 1\n"
BLOCK = 4096  # readings: half an hour at two a second, some 10 MB while they are packed
MOST_VALUES = 1 << 24  # of one quantity in one block that is read: a file that claims more was not written by us
MOST_FACTS_BYTES = 1 << 24
LARGEST = 1 << 62  # of a whole number
LENGTH = struct.Struct("<I")
STEPS = {1: "b", 2: "h", 4: "i", 8: "q"}  # bytes → the type code of `array`
BIT_LENGTHS = {8 * width - 1: width for width in STEPS}  # of a step → bytes

GPU_NAMES = frozenset(quantity for _, quantity in GPU_QUANTITIES)
RESOLUTIONS: Mapping[str, float] = {  # a value is kept as a whole number of these; docs/contracts.md#samples says why
    "at_s": 1e-6,
    "cpu_percent": 0.01,
    "cpu_percent_per_core": 0.1,
    "memory_used_bytes": 1024,
    "cores.least_percent": 0.1,
    "cores.mean_percent": 0.01,
    "cores.most_percent": 0.1,
    "cores.above_90_percent": 1,
    "disks.read_bytes": 512,
    "disks.write_bytes": 512,
    "disks.read_operations": 1,
    "disks.write_operations": 1,
    "interfaces.received_bytes": 1,
    "interfaces.sent_bytes": 1,
    "filesystems.read_bytes": 1,
    "filesystems.write_bytes": 1,
    "filesystems.operations": 1,
    "tree.cpu_s": 0.001,
    "tree.memory_bytes": 1024,
    "tree.processes": 1,
    "gpus.utilisation_percent": 0.1,
    "gpus.utilisation_mean_percent": 0.1,
    "gpus.utilisation_least_percent": 0.1,
    "gpus.utilisation_most_percent": 0.1,
    "gpus.memory_used_bytes": 1024,
    "gpus.memory_utilisation_percent": 0.1,
    "gpus.power_w": 0.1,
    "gpus.power_mean_w": 0.1,
    "gpus.power_least_w": 0.1,
    "gpus.power_most_w": 0.1,
    "gpus.energy_j": 0.1,
    "gpus.temperature_c": 0.1,
    "gpus.sm_clock_mhz": 1,
    "gpus.memory_clock_mhz": 1,
    "gpus.pcie_received_bytes_per_s": 1024,
    "gpus.pcie_sent_bytes_per_s": 1024,
    "gpus.link_received_bytes": 1024,
    "gpus.link_sent_bytes": 1024,
    "gpus.clock_limits": 1,
    "gpus.memory_errors_corrected": 1,
    "gpus.memory_errors_uncorrected": 1,
    "gpus.driver_errors": 1,
    "gpus.sm_active_percent": 0.1,
    "gpus.sm_occupancy_percent": 0.1,
    "gpus.tensor_active_percent": 0.1,
    "gpus.memory_bandwidth_percent": 0.1,
}


class CannotPack(ValueError):
    """These samples have no place in the packed form; they stay as they are."""


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """One quantity of all its devices over the readings of a block: whole numbers of *resolution*, as steps.

    The value of the k-th reading of a device is (its `first` + the sum of its steps up to the k-th) x `resolution`.
    """

    of: tuple[str, ...]  # devices; "" for what the host has one of
    first: tuple[int, ...]
    resolution: float
    readings: int
    width: int  # bytes of a step
    gaps: bool  # some were not read: a bit for each value stands before the steps, 1 for those that were
    content: bytes

    def steps(self) -> tuple["array[int]", bytes]:
        """The steps, device after device, and the bits of those that were read (b"": all were).

        Raises ValueError where the content is not what it should be.
        """
        count = len(self.of) * self.readings
        bits = -(-count // 8) if self.gaps else 0
        inflate = zlib.decompressobj()
        content = inflate.decompress(self.content, bits + count * self.width)
        if len(content) != bits + count * self.width or not inflate.eof:
            raise ValueError("a quantity has another length than its block says")
        planes, mixed = content[bits:], bytearray(count * self.width)
        for place in range(self.width):
            mixed[place :: self.width] = planes[place * count : (place + 1) * count]
        steps = array(STEPS[self.width], bytes(mixed))
        if sys.byteorder == "big":
            steps.byteswap()
        return steps, content[:bits]

    def rows(self) -> Rows:
        """The values of each device, with nothing but the standard library."""
        steps, bits = self.steps()
        found: Rows = {}
        for place, (device, first) in enumerate(zip(self.of, self.first, strict=True)):
            begin = place * self.readings
            sums = list(accumulate(steps[begin : begin + self.readings], initial=first))[1:]
            found[device] = [
                value(number, self.resolution) if _read(bits, begin + at) else None for at, number in enumerate(sums)
            ]
        return found


def value(number: int, resolution: float) -> float:
    """*number* times *resolution*: the decimal fraction itself where that is one, and not its neighbour."""
    return number / round(1 / resolution) if resolution < 1 else number * resolution


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """The readings of one block of the file: the quantities that were read, by name."""

    readings: int
    quantities: Mapping[str, Quantity]


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The packed samples of one host. Nothing is unpacked before it is asked for."""

    header: Header
    blocks: tuple[Stretch, ...]
    file: Path

    @property
    def readings(self) -> tuple[Sample, ...]:
        """As they were sampled, rounded to the resolutions. Raises EvalsuiteError if the file is damaged."""
        try:
            return tuple(sample for block in self.blocks for sample in _samples(block))
        except (ValueError, KeyError, TypeError, zlib.error) as error:
            raise damaged(self.file, error) from error

    @property
    def span_s(self) -> tuple[float, float] | None:
        """When the first and the last reading were taken; None if there are none."""
        if not self.blocks:
            return None
        first, last = self.blocks[0].quantities["at_s"], self.blocks[-1].quantities["at_s"]
        steps, _ = self.steps(last)
        return value(first.first[0], first.resolution), value(last.first[0] + sum(steps), last.resolution)

    def steps(self, quantity: Quantity) -> tuple["array[int]", bytes]:
        """As the quantity's own. Raises EvalsuiteError if the file is damaged."""
        try:
            return quantity.steps()
        except (ValueError, zlib.error) as error:
            raise damaged(self.file, error) from error


def pack(lines: Path, file: Path) -> bool:
    """Makes the packed *file* of the JSON *lines*, whole or not at all; false where their values have no place in it.

    Raises OSError and EvalsuiteError as reading and writing do.
    """
    header, readings = samples.stream(lines)
    if header is None:
        return False
    try:
        write(file, header, readings)
    except CannotPack:
        return False
    return True


def write(file: Path, header: Header, readings: Iterable[Sample]) -> None:
    """Writes the packed *file*, whole or not at all. Raises OSError, and CannotPack where a value has no place."""
    files.write_atomically(file, _packed(header, readings))


def _packed(header: Header, readings: Iterable[Sample]) -> Iterator[bytes]:
    yield MAGIC
    yield _facts(header.to_json())
    count, left = 0, iter(readings)
    while block := list(islice(left, BLOCK)):
        count += len(block)
        yield from _block(block)
    yield _facts({"end": True, "readings": count})


def _facts(facts: object) -> bytes:
    squeezed = zlib.compress(json.dumps(facts, separators=(",", ":")).encode("utf-8", "backslashreplace"), 9)
    return LENGTH.pack(len(squeezed)) + squeezed


def _block(readings: Sequence[Sample]) -> Iterator[bytes]:
    quantities = {name: _squeezed(rows, RESOLUTIONS[name]) for name, rows in tables(readings).items()}
    if not all(device.isdecimal() for name, one in quantities.items() if name in GPU_NAMES for device in one.of):
        raise CannotPack("a device without a number")
    told = [
        [name, one.of, one.first, one.resolution, one.width, one.gaps, len(one.content)]
        for name, one in quantities.items()
    ]
    yield _facts({"readings": len(readings), "quantities": told})
    for one in quantities.values():
        yield one.content


def _squeezed(rows: Rows, resolution: float) -> Quantity:
    numbers = [[None if one is None else _whole(one, resolution) for one in row] for row in rows.values()]
    first = tuple(next(one for one in row if one is not None) for row in numbers)
    steps: list[int] = []
    for before, row in zip(first, numbers, strict=True):
        for one in row:
            steps.append(0 if one is None else one - before)
            before = before if one is None else one
    bits = max(max(steps).bit_length(), (~min(steps)).bit_length())
    width = next((width for most, width in BIT_LENGTHS.items() if bits <= most), None)
    if width is None or max(map(abs, first)) > LARGEST:
        raise CannotPack("a number of more than 62 bits")
    read = [one is not None for row in numbers for one in row]
    gaps = not all(read)
    return Quantity(
        of=tuple(rows),
        first=first,
        resolution=resolution,
        readings=len(steps) // len(rows),
        width=width,
        gaps=gaps,
        content=zlib.compress((_bits(read) if gaps else b"") + _planes(array(STEPS[width], steps)), 9),
    )


def _whole(number: float, resolution: float) -> int:
    return round(number * round(1 / resolution) if resolution < 1 else number / resolution)


def _planes(steps: "array[int]") -> bytes:
    """All lowest bytes, then all second ones, and so on: those of the same weight are alike, and squeeze better."""
    if sys.byteorder == "big":
        steps.byteswap()
    content = steps.tobytes()
    return b"".join(content[place :: steps.itemsize] for place in range(steps.itemsize))


def _bits(flags: Sequence[bool]) -> bytes:
    """Eight flags a byte, the first in its lowest bit."""
    eights = (flags[begin : begin + 8] for begin in range(0, len(flags), 8))
    return bytes(sum(flag << place for place, flag in enumerate(eight)) for eight in eights)


def _read(bits: bytes, place: int) -> bool:
    return not bits or bool(bits[place >> 3] >> (place & 7) & 1)


# reading


def read(file: Path) -> Columns:
    """The packed samples in *file*. Raises EvalsuiteError if they are cut off or damaged."""
    content = memoryview(file.read_bytes())
    try:
        return _columns(content, file)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError, struct.error, zlib.error) as error:
        raise damaged(file, error) from error


def damaged(file: Path, error: Exception) -> EvalsuiteError:
    return EvalsuiteError(f"{file}: {error}; expected the packed samples of a host, whole. {said(TRY)}")


def _columns(content: memoryview, file: Path) -> Columns:
    if content[: len(MAGIC)] != MAGIC:
        raise ValueError("its first line is another")
    facts, at = _told(content, len(MAGIC))
    header = Header.from_json(facts, f"{file}: header")
    blocks = []
    while True:
        facts, at = _told(content, at)
        if facts.get("end") is True:
            break
        block, at = _block_told(facts, content, at)
        blocks.append(block)
    if at != len(content) or facts["readings"] != sum(block.readings for block in blocks):
        raise ValueError("it holds another number of readings than its end says")
    return Columns(header=header, blocks=tuple(blocks), file=file)


def _told(content: memoryview, at: int) -> tuple[dict[str, Any], int]:
    """The JSON object at *at*, and where what follows it begins."""
    (length,) = LENGTH.unpack_from(content, at)
    begin, end = at + LENGTH.size, at + LENGTH.size + length
    inflate = zlib.decompressobj()
    text = inflate.decompress(content[begin:end], MOST_FACTS_BYTES)
    if end > len(content) or not inflate.eof:
        raise ValueError("it is cut off")
    facts = json.loads(text)
    if type(facts) is not dict:
        raise ValueError("a block does not say what it holds")
    return facts, end


def _block_told(facts: Mapping[str, Any], content: memoryview, at: int) -> tuple[Stretch, int]:
    readings, quantities = facts["readings"], {}
    for name, of, first, resolution, width, gaps, length in facts["quantities"]:
        sound = type(readings) is int and readings > 0 and type(length) is int and length >= 0 and width in STEPS
        if not sound or len(of) != len(first) or len(of) * readings > MOST_VALUES or len({*of}) != len(of):
            raise ValueError(f"{name} does not say what it holds")
        named = {str} >= {*map(type, of)} and {int} >= {*map(type, first)}
        if not named or not -LARGEST <= min(first) <= max(first) <= LARGEST or not 1e-9 <= resolution <= LARGEST:
            raise ValueError(f"{name} does not say what it holds")
        if at + length > len(content):
            raise ValueError("it is cut off")
        quantities[name] = Quantity(
            of=tuple(of),
            first=tuple(first),
            resolution=resolution,
            readings=readings,
            width=width,
            gaps=bool(gaps),
            content=bytes(content[at : at + length]),
        )
        at += length
    if "at_s" not in quantities or quantities["at_s"].of != ("",) or quantities["at_s"].gaps:
        raise ValueError("it does not say when it was read")
    return Stretch(readings=readings, quantities=quantities), at


def _samples(block: Stretch) -> Iterator[Sample]:
    known = {name: quantity.rows() for name, quantity in block.quantities.items()}
    for place in range(block.readings):
        yield Sample(
            at_s=cast(float, known["at_s"][""][place]),  # each reading has one
            cpu_percent=_alone(known, "cpu_percent", place),
            memory_used_bytes=_alone(known, "memory_used_bytes", place),
            cpu_percent_per_core=_cores(known, place),
            disks=_devices(known, "disks", DiskCounters, place) or None,
            interfaces=_devices(known, "interfaces", InterfaceCounters, place) or None,
            filesystems=_devices(known, "filesystems", FilesystemCounters, place) or None,
            cores=_devices(known, "cores", CoreReading, place).get(""),
            tree=_devices(known, "tree", TreeReading, place).get(""),
            gpus=tuple(
                GpuReading(index=int(device), **found) for device, found in _parts(known, "gpus", place).items()
            ),
        )


def _alone(known: Mapping[str, Rows], name: str, place: int) -> float | None:
    return known[name][""][place] if name in known else None


def _cores(known: Mapping[str, Rows], place: int) -> tuple[float | None, ...] | None:
    found = tuple(row[place] for row in known.get("cpu_percent_per_core", {}).values())
    return found if any(percent is not None for percent in found) else None


def _devices(known: Mapping[str, Rows], group: str, kind: Any, place: int) -> dict[str, Any]:
    return {device: kind(**found) for device, found in _parts(known, group, place).items()}


def _parts(known: Mapping[str, Rows], group: str, place: int) -> dict[str, dict[str, float]]:
    """Device → what was read of it at the reading *place*."""
    found: dict[str, dict[str, float]] = {}
    for name, rows in known.items():
        first, _, last = name.partition(".")
        if first == group:
            for device, row in rows.items():
                if (number := row[place]) is not None:
                    found.setdefault(device, {})[last] = number
    return found


Recorded = Samples | Columns  # the samples of one host, as lines or packed

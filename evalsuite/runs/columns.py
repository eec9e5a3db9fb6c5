"""The packed samples of one host: steps of each quantity, in gzip (docs/contracts.md#samples)."""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

from evalsuite.core import decode, files
from evalsuite.core.documents import TRY
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message
from evalsuite.runs import samples
from evalsuite.runs.samples import SCALES, Header, Reading, Rows, Samples, tables

BLOCK = 4096  # readings: half an hour at two a second, 10 MB unpacked
MOST_BYTES = 1 << 30  # unpacked; we never write more
MOST_LINES, MOST_READINGS = 1 << 20, 1 << 24  # of a file; three months at two a second
GZIP = 16 + zlib.MAX_WBITS
DAMAGE = (OSError, ValueError, KeyError, TypeError, AttributeError, StopIteration, OverflowError, zlib.error)


def pack(lines: Path, file: Path) -> bool:
    """Packs the JSON *lines* into *file*; false where there are none. Raises OSError and EvalsuiteError."""
    header, readings = samples.stream(lines)
    if header is not None:
        write(file, header, readings)
    return header is not None


def write(file: Path, header: Header, readings: Iterable[Reading]) -> None:
    """Writes *file* whole or not at all. Raises OSError."""
    files.write_atomically(file, _packed(header, readings))


def _packed(header: Header, readings: Iterable[Reading]) -> Iterator[bytes]:
    squeeze = zlib.compressobj(9, wbits=GZIP)
    for line in _lines(header, iter(readings)):
        yield squeeze.compress(json.dumps(line, separators=(",", ":")).encode("utf-8", "backslashreplace") + b"\n")
    yield squeeze.flush()


def _lines(header: Header, readings: Iterator[Reading]) -> Iterator[Mapping[str, object]]:
    yield header.to_json()
    while block := list(islice(readings, BLOCK)):
        quantities = tables(block)
        yield {"readings": len(block), "quantities": {name: SCALES[name] for name in quantities}}
        for name, rows in quantities.items():
            yield {device: _steps(row, SCALES[name]) for device, row in rows.items()}


def _steps(row: Iterable[float | None], scale: float) -> list[int | None]:
    steps: list[int | None] = []
    before = 0
    for value in row:
        number = before if value is None else round(value * scale)
        steps.append(None if value is None else number - before)
        before = number
    return steps


def read(file: Path) -> Samples:
    """Raises EvalsuiteError if *file* is cut off or damaged."""
    inflate = zlib.decompressobj(GZIP)
    try:
        content = inflate.decompress(files.read_bytes(file, most=1 << 28), MOST_BYTES)
        if not inflate.eof or inflate.unused_data or content.count(b"\n") > MOST_LINES:
            raise ValueError(Message("runs.cut_off"))
        lines = iter(content.splitlines())
        header = Header.from_json(files.parse_json(next(lines)), f"{file}: header")
        blocks = []
        for line in lines:
            about = files.parse_json(line)
            blocks.append(_Block(about["readings"], about["quantities"], lines))
        if sum(block.readings for block in blocks) > MOST_READINGS:
            raise ValueError(Message("runs.readings_in_block", most=MOST_READINGS))
        return Samples(header=header, tables=PackedTables(file, blocks))
    except DAMAGE as error:
        raise _damaged(file, error) from error


def _damaged(file: Path, error: Exception) -> EvalsuiteError:
    return EvalsuiteError.of("runs.samples_damaged", path=file, error=error, advice=decode.message(TRY))


class _Block:
    def __init__(self, readings: int, scales: Mapping[str, float], lines: Iterator[bytes]) -> None:
        if type(readings) is not int or not 0 < readings <= BLOCK:
            raise ValueError(Message("runs.readings_in_block", most=BLOCK))
        self.readings = readings
        self.scales = scales
        self.lines = {name: next(lines) for name in scales}

    def rows(self, name: str) -> Rows:
        return {device: _values(steps, self.scales[name]) for device, steps in self.steps(name).items()}

    def steps(self, name: str) -> dict[str, list[int | None]]:
        steps: dict[str, list[int | None]] = files.parse_json(self.lines[name]) if name in self.scales else {}
        if any(len(each) != self.readings for each in steps.values()):
            raise ValueError(Message("runs.readings_differ_of", name=name))
        return steps


def _values(steps: list[Any], scale: float) -> list[float | None]:
    if None not in steps:
        return [number / scale for number in accumulate(steps)]
    numbers = accumulate(0 if step is None else step for step in steps)
    return [None if step is None else number / scale for step, number in zip(steps, numbers, strict=True)]


class PackedTables(Mapping[str, Rows]):
    """Unpacks quantities when asked for, which raises EvalsuiteError if they are damaged."""

    def __init__(self, file: Path, blocks: list[_Block]) -> None:
        self._file = file
        self._blocks = blocks
        self._names = tuple(dict.fromkeys(name for block in blocks for name in block.scales))

    def __getitem__(self, name: str) -> Rows:
        if name not in self._names:
            raise KeyError(name)
        table: Rows = {}
        before = 0
        for block in self._blocks:
            try:
                rows = block.rows(name)
            except DAMAGE as error:
                raise _damaged(self._file, error) from error
            for device in {**table, **rows}:
                table.setdefault(device, [None] * before).extend(rows.get(device) or [None] * block.readings)
            before += block.readings
        return table

    def line(self, name: str) -> tuple[bytes, int, float] | None:
        """A quantity as it is written, how many readings it has, and how many steps are one unit.

        None where there are more blocks.
        """
        if len(self._blocks) != 1 or name not in self._names:
            return None
        block = self._blocks[0]
        return block.lines[name], block.readings, block.scales[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

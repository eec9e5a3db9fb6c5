"""The packed samples of one host: steps of each quantity, each in a gzip member (docs/contracts.md#samples)."""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, islice, pairwise
from pathlib import Path
from typing import Any

from evalsuite.core import decode, files
from evalsuite.core.documents import TRY
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message
from evalsuite.runs.samples import SCALES, Header, Reading, Rows, Samples, tables

BLOCK = 4096  # readings: half an hour at two a second, 10 MB unpacked
MOST_BYTES = 1 << 30  # of a member, unpacked; we never write more
MOST_LINES, MOST_READINGS = 1 << 20, 1 << 24  # of a file; three months at two a second
GZIP = 16 + zlib.MAX_WBITS
DAMAGE = (OSError, ValueError, KeyError, TypeError, AttributeError, StopIteration, OverflowError, zlib.error)


def write(file: Path, header: Header, readings: Iterable[Reading]) -> None:
    """Writes *file* whole or not at all. Raises OSError."""
    files.write_atomically(file, _packed(header, readings))


def _packed(header: Header, readings: Iterable[Reading]) -> Iterator[bytes]:
    yield _member(header.to_json())
    left = iter(readings)
    while block := list(islice(left, BLOCK)):
        quantities = tables(block)
        members = [
            _member({device: _steps(row, SCALES[name]) for device, row in rows.items()})
            for name, rows in quantities.items()
        ]
        yield _member(
            {
                "readings": len(block),
                "quantities": {name: SCALES[name] for name in quantities},
                "bytes": [len(member) for member in members],
                "crc32": zlib.crc32(b"".join(members)),
            }
        )
        yield from members
    yield _member({})


def _member(line: Mapping[str, object]) -> bytes:
    squeeze = zlib.compressobj(9, wbits=GZIP)
    text = json.dumps(line, separators=(",", ":")).encode("utf-8", "backslashreplace")
    return squeeze.compress(text + b"\n") + squeeze.flush()


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
    try:
        text, left = _inflate(files.read_bytes(file, most=1 << 28))
        if text.count(b"\n") > MOST_LINES:
            raise ValueError(Message("runs.cut_off"))
        lines = iter(text.splitlines())
        header = Header.from_json(files.parse_json(next(lines)), f"{file}: header")
        blocks = []
        for line in lines:  # one member held all in earlier versions
            about = files.parse_json(line)
            blocks.append(_Block(about["readings"], about["quantities"], lines))
        while not blocks or left:
            text, left = _inflate(left)
            if not (about := files.parse_json(text)) and not left:
                break
            ends = [0, *accumulate(about["bytes"])]
            if len(left) < ends[-1] or zlib.crc32(left[: ends[-1]]) != about["crc32"]:
                raise ValueError(Message("runs.cut_off"))
            members = (left[begin:end] for begin, end in pairwise(ends))
            blocks.append(_Block(about["readings"], about["quantities"], members))
            if not (left := left[ends[-1] :]):
                raise ValueError(Message("runs.cut_off"))
        if sum(block.readings for block in blocks) > MOST_READINGS:
            raise ValueError(Message("runs.readings_in_block", most=MOST_READINGS))
        return Samples(header=header, tables=PackedTables(file, blocks))
    except DAMAGE as error:
        raise _damaged(file, error) from error


def _inflate(packed: bytes) -> tuple[bytes, bytes]:
    """The first member of *packed*, and what follows it."""
    inflate = zlib.decompressobj(GZIP)
    text = inflate.decompress(packed, MOST_BYTES)
    if not inflate.eof:
        raise ValueError(Message("runs.cut_off"))
    return text, inflate.unused_data


def _damaged(file: Path, error: Exception) -> EvalsuiteError:
    return EvalsuiteError.of("runs.samples_damaged", path=file, error=error, advice=decode.message(TRY))


class _Block:
    def __init__(self, readings: int, scales: Mapping[str, float], lines: Iterator[bytes]) -> None:
        if type(readings) is not int or not 0 < readings <= BLOCK:
            raise ValueError(Message("runs.readings_in_block", most=BLOCK))
        self.readings = readings
        self.scales = scales
        self._lines = {name: next(lines) for name in scales}

    def line(self, name: str) -> bytes:
        line = self._lines[name]
        return line if line.startswith(b"{") else _inflate(line)[0]

    def rows(self, name: str) -> Rows:
        return {device: _values(steps, self.scales[name]) for device, steps in self.steps(name).items()}

    def steps(self, name: str) -> dict[str, list[int | None]]:
        steps: dict[str, list[int | None]] = files.parse_json(self.line(name)) if name in self.scales else {}
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

    __hash__ = object.__hash__  # one reading of a file is the same as itself alone

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
        """A quantity as it is written, how many readings it has, and how many steps are one unit. None where there are
        more blocks. Raises EvalsuiteError if it is damaged."""
        if len(self._blocks) != 1 or name not in self._names:
            return None
        block = self._blocks[0]
        try:
            return block.line(name), block.readings, block.scales[name]
        except DAMAGE as error:
            raise _damaged(self._file, error) from error

    def __contains__(self, name: object) -> bool:
        return name in self._names  # the usual one unpacks it

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

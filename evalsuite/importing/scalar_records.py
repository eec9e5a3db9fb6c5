"""Scalars in TensorBoard's event files and W&B's offline files: how records are framed, and the fields of a scalar.

TFRecord: tensorflow/core/lib/io/record_writer.h; Event: tensorflow/core/util/event.proto; W&B's file is a log of
LevelDB (doc/log_format.md) of records of wandb/proto/wandb_internal.proto. What follows a torn record is not read.
"""

import json
import struct
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

Point = tuple[float | None, float | None, float]  # (step, seconds since some origin, value)
Fields = dict[int, list[int | bytes]]
LARGEST_SCALARS = 1 << 16  # bytes of a record; graphs and pictures are larger, and are passed over
WANDB_HEADER, WANDB_BLOCK = b":W&B", 1 << 15
_CRC32C = [0] * 256
for _byte in range(256):
    _sum = _byte
    for _ in range(8):
        _sum = _sum >> 1 ^ (0x82F63B78 if _sum & 1 else 0)
    _CRC32C[_byte] = _sum


@dataclass(kw_only=True)
class Scalars:
    points: dict[str, list[Point]] = field(default_factory=lambda: defaultdict(list))
    facts: dict[str, object] = field(default_factory=dict)
    torn: bool = False  # the last record is not whole: the program still writes, or was killed


def event_file(content: bytes) -> Scalars:
    read, at = Scalars(), 0
    while at < len(content):
        length = int.from_bytes(content[at : at + 8], "little")
        data, end = content[at + 12 : at + 12 + length], at + 16 + length
        small = len(data) <= LARGEST_SCALARS
        if end > len(content) or not _sound(content, at, 8) or (small and not _sound(content, at + 12, length)):
            read.torn = True
            break
        at = end
        event = _fields(data) if small else {}
        for summary in event.get(5, ()):
            for value in map(_fields, _fields(summary).get(1, ())):
                step, wall_s = _number(event.get(2, [0])[0]), _number(event[1][0]) if 1 in event else None
                for number in _scalar(value):
                    read.points[_text(value[1][0])].append((step, wall_s, number))
                for tensor in map(_fields, value.get(8, ())):
                    read.facts |= _settings(tensor.get(8, [b""])[0])
    return read


def wandb_file(content: bytes) -> Scalars:
    read = Scalars()
    for record in map(_fields, _wandb_records(content, read)):
        for run in map(_fields, record.get(17, ())):
            names = {"run": 8, "project": 3, "group": 6}
            read.facts |= {name: _text(run[number][0]) for name, number in names.items() if run.get(number)}
            read.facts |= {name: value for config in run.get(4, ()) for name, value in _items(_fields(config)[1])}
        read.facts |= {n: value for config in record.get(5, ()) for n, value in _items(_fields(config)[1])}
        for history in map(_fields, record.get(2, ())):
            values = ((tag, value) for tag, value in _items(history[1]) if isinstance(value, int | float))
            row = {tag: float(value) for tag, value in values if not isinstance(value, bool)}
            for tag, number in row.items():
                read.points[tag].append((row.get("_step"), row.get("_timestamp"), number))
    return read


def _wandb_records(content: bytes, read: Scalars) -> Iterator[bytes]:
    at, parts = len(WANDB_HEADER) + 3, b""  # after its magic number and version
    while at < len(content):
        if WANDB_BLOCK - at % WANDB_BLOCK < 7:
            at += WANDB_BLOCK - at % WANDB_BLOCK
            continue
        crc, length, kind = struct.unpack_from("<IHB", content.ljust(at + 7, b"\0"), at)
        data = content[at + 7 : at + 7 + length]
        if zlib.crc32(data, zlib.crc32(bytes([kind]))) != crc or len(data) < length:
            read.torn = True
            return
        at += 7 + length
        parts = data if kind in (1, 2) else parts + data  # whole, first, middle, last
        if kind in (1, 4):
            yield parts


def _sound(content: bytes, at: int, length: int) -> bool:
    crc = 0xFFFFFFFF
    for byte in content[at : at + length]:
        crc = _CRC32C[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    return masked == int.from_bytes(content[at + length : at + length + 4], "little")


def _fields(data: int | bytes) -> Fields:
    """Of a message of protocol buffers, by their numbers; nothing of what is none."""
    found: Fields = defaultdict(list)
    at = 0
    try:
        while isinstance(data, bytes) and at < len(data):
            key, at = _varint(data, at)
            if key & 7 == 0:
                value, at = _varint(data, at)
                found[key >> 3].append(value)
                continue
            length, at = _varint(data, at) if key & 7 == 2 else ({1: 8, 5: 4}[key & 7], at)
            found[key >> 3].append(data[at : at + length])
            at += length
    except (IndexError, KeyError):
        return defaultdict(list)
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at


def _scalar(value: Fields) -> Iterator[float]:
    """Its simple value, or a tensor of one number (of TensorFlow 2)."""
    if 2 in value:
        yield _number(value[2][0])
    for tensor in map(_fields, value.get(8, ())):
        kind = tensor.get(1, [0])[0]
        packed = (tensor.get(4) or tensor.get({1: 5, 2: 6}.get(int(kind), 0)) or [b""])[0]
        if kind in (1, 2) and isinstance(packed, bytes) and len(packed) == 4 * kind:
            yield _number(packed)


def _settings(text: int | bytes) -> dict[str, object]:
    """Of a text that is a dictionary in JSON, as Hugging Face's Trainer writes its arguments."""
    try:
        read = json.loads(text) if isinstance(text, bytes) and text.startswith(b"{") else {}
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}


def _items(items: Sequence[int | bytes]) -> Iterator[tuple[str, object]]:
    """Of W&B: a key, or the parts of one, and a value in JSON."""
    for item in map(_fields, items):
        if 16 in item:
            try:
                value = json.loads(_text(item[16][0]))
            except ValueError:
                continue
            yield "/".join(map(_text, item.get(2) or item.get(1, []))), value


def _number(packed: int | bytes) -> float:
    """Of a varint, a float or a double."""
    if isinstance(packed, int):
        return float(packed)
    return float(struct.unpack("<f", packed)[0] if len(packed) == 4 else struct.unpack("<d", packed)[0])


def _text(value: int | bytes) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

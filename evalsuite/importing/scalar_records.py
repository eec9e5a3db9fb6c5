"""Scalars in TensorBoard's event files and W&B's offline files: how records are framed, and the fields of a scalar.
TFRecord: tensorflow/core/lib/io/record_writer.h; Event: tensorflow/core/util/event.proto. W&B's file is a log of
LevelDB (doc/log_format.md) of records of wandb/proto/wandb_internal.proto. What follows a torn record is not read."""

import math
import struct
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence

from evalsuite.core import files
from evalsuite.core.messages import Message

Row = dict[str, object]
Fields = dict[int, list[int | bytes]]
LARGEST_SCALARS = 1 << 16  # bytes of a record; graphs and pictures are larger, and are passed over
WANDB, WANDB_MAGIC, WANDB_BLOCK = b":W&B", b"\xe1\xbe\0", 1 << 15  # its sign; of the version that is read


def event_file(content: bytes) -> tuple[list[Row], bool]:
    """The scalars of each event, and is the last one torn: does the program still write, or was it killed?"""
    rows: list[Row] = []
    at = 0
    while at < len(content):
        length = int.from_bytes(content[at : at + 8], "little")
        data, at = content[at + 12 : at + 12 + length], at + 16 + length  # both sums are left unread
        if at > len(content):
            return rows, True
        event = _fields(data if length <= LARGEST_SCALARS else b"")
        row: Row = {"event step": (event[2] or [0])[0], "event time": _number((event[1] or [b""])[0])}
        for value in (_fields(value) for summary in event[5] for value in _fields(summary).get(1, ())):
            row |= {_text(name): number for name in value[1] for number in _scalar(value)}
            rows += [_json(tensor.get(8, [b""])[0]) for tensor in map(_fields, value.get(8, ()))]
        rows.append(row)
    return rows, False


def wandb_file(content: bytes) -> tuple[list[Row], bool]:
    """What was logged, and the settings; is the last record torn? Raises ValueError for a file of another version."""
    if not content.startswith(WANDB + WANDB_MAGIC):
        raise ValueError(Message("importing.wandb_version"))
    rows: list[Row] = []
    at, parts = len(WANDB + WANDB_MAGIC), b""
    while at < len(content):
        if (left := WANDB_BLOCK - at % WANDB_BLOCK) < 7:
            at += left
            continue
        crc, length, kind = struct.unpack("<IHB", content[at : at + 7].ljust(7, b"\0"))
        data = content[at + 7 : at + 7 + length]
        if zlib.crc32(data, zlib.crc32(bytes([kind]))) != crc:
            return rows, True
        at += 7 + length
        parts = data if kind in (1, 2) else parts + data  # whole, first, middle, last
        if kind in (1, 4):
            rows += _wandb_rows(_fields(parts))
    return rows, False


def _wandb_rows(record: Fields) -> Iterator[Row]:
    for run in map(_fields, record[17]):
        names = {"run": 8, "project": 3, "group": 6}
        yield {name: _text(run[number][0]) for name, number in names.items() if number in run}
        record[5] += run[4]
    for settings in record[5]:
        yield _items(_fields(settings)[1])
    for history in record[2]:
        yield _items(_fields(history)[1])


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
    numbers = list(value.get(2, ()))
    for tensor in map(_fields, value.get(8, ())):
        kind = tensor.get(1, [0])[0]  # 1: float, 2: double
        numbers += tensor.get(4) or tensor.get({1: 5, 2: 6}.get(int(kind), 0)) or []
    yield from (_number(packed) for packed in numbers if isinstance(packed, bytes) and len(packed) in (4, 8))


def _number(packed: int | bytes) -> float:
    """Of a varint, a float or a double; nan for what is none."""
    if isinstance(packed, int):
        return packed
    form = {4: "<f", 8: "<d"}.get(len(packed))
    return float(struct.unpack(form, packed)[0]) if form else math.nan


def _items(items: Sequence[int | bytes]) -> Row:
    """Of W&B: a key, or the parts of one, and a value in JSON."""
    pairs = ((_fields(item)[2] or _fields(item)[1], _fields(item)[16]) for item in items)
    return {
        "/".join(map(_text, key)): _json(f'{{"":{_text(value[0])}}}'.encode()).get("") for key, value in pairs if value
    }


def _json(text: int | bytes) -> Row:
    """A dictionary, as Hugging Face's Trainer writes its arguments; nothing of what is none."""
    try:
        read = files.parse_json(text) if isinstance(text, bytes) and text.startswith(b"{") else {}
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}


def _text(value: int | bytes) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

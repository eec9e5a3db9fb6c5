"""OneFlow's OFRecord, written by hand: its library is a framework of half a gigabyte, and the format is a few lines.

A file holds records: the length (8 bytes, little-endian), and a message of oneflow/core/record/record.proto:

    message OFRecord { map<string, Feature> feature = 1; }
    message Feature { oneof kind { BytesList bytes_list = 1; FloatList float_list = 2; Int32List int32_list = 4; } }

with packed numbers.
"""

from __future__ import annotations

import struct

import numpy
from sources import Click

BYTES, FLOATS, WHOLE = 1, 2, 4  # fields of Feature
LENGTH_DELIMITED = 2  # protobuf's wire type of all that is written here
FOLDERS = {"train": "train", "validation": "validation"}


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1  # a negative number takes ten bytes
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | LENGTH_DELIMITED) + _varint(len(content)) + content


def _feature(value) -> bytes:
    if isinstance(value, bytes):
        return _field(BYTES, _field(1, value))
    array = numpy.ravel(value)
    if array.dtype.kind == "f":
        return _field(FLOATS, _field(1, array.astype("<f4").tobytes()))
    return _field(WHOLE, _field(1, b"".join(map(_varint, array.tolist()))))


def _record(features) -> bytes:
    entries = (_field(1, key.encode()) + _field(2, _feature(value)) for key, value in features.items())
    record = b"".join(_field(1, entry) for entry in entries)
    return struct.pack("<q", len(record)) + record


def _form(features, folders, digits=5):
    def write(order):
        for _, folder, number, items in order.sharded(folders):
            with open(folder / f"part-{number:0{digits}d}", "wb") as file:
                file.writelines(map(_record, map(features, items)))

    return write


def _click(click: Click):
    return {
        "labels": [click.label],
        "dense_fields": click.dense,
        "wide_sparse_fields": click.wide_rows(),
        "deep_sparse_fields": click.deep_rows(),
    }


FORMATS = {
    "imagenet": _form(lambda image: {"class/label": [image.label], "encoded": image.jpeg}, FOLDERS),
    "faces": _form(lambda face: {"label": [face.label], "encoded": face.jpeg}, FOLDERS),
    "bert": _form(lambda pair: pair.row(), {"train": ""}, digits=1),
    "clicks": _form(_click, {"train": "train", "validation": "val"}),
}

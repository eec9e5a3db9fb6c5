"""OneFlow's OFRecord, written by hand: its library is a framework of half a gigabyte, and the format is a few lines.

A file holds records: the length (8 bytes, little-endian), and a message of oneflow/core/record/record.proto:

    message OFRecord { map<string, Feature> feature = 1; }
    message Feature { oneof kind { BytesList bytes_list = 1; FloatList float_list = 2; Int32List int32_list = 4; } }

with packed numbers.
"""

from __future__ import annotations

import struct

import numpy
from forms import Form
from sources import Click, Picture, of_row

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


def encoded(features) -> bytes:
    entries = (_field(1, _field(1, name.encode()) + _field(2, _feature(value))) for name, value in features.items())
    record = b"".join(entries)
    return struct.pack("<q", len(record)) + record


def _take_varint(content: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = content[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place


def _fields(content: bytes):
    place = 0
    while place < len(content):
        key, place = _take_varint(content, place)
        length, place = _take_varint(content, place)
        yield key >> 3, content[place : place + length]
        place += length


def _value(feature: bytes):
    [(kind, listed)] = _fields(feature)
    [(_, content)] = _fields(listed)
    if kind == BYTES:
        return content
    if kind == FLOATS:
        return numpy.frombuffer(content, "<f4")
    found, place = [], 0
    while place < len(content):
        number, place = _take_varint(content, place)
        found.append(number - (1 << 64) if number >> 63 else number)
    return numpy.array(found)


def records(file):
    with open(file, "rb") as stream:
        while head := stream.read(8):
            content = stream.read(struct.unpack("<q", head)[0])
            entries = (dict(_fields(entry)) for _, entry in _fields(content))
            yield {entry[1].decode(): _value(entry[2]) for entry in entries}


def _form(features, item, folders, digits=5):
    def write(order):
        for split in order.items:
            folder = order.folder / folders[split]
            folder.mkdir(parents=True, exist_ok=True)
            for number, items in order.sharded(split):
                with open(folder / f"part-{number:0{digits}d}", "wb") as file:
                    file.writelines(encoded(features(item)) for item in items)

    def read(order, split):
        for file in sorted((order.folder / folders[split]).glob("part-*")):
            yield from map(item, records(file))

    return Form(write, read)


def _image(picture: Picture):
    return {"class/label": [picture.label], "encoded": picture.jpeg}


def _face(picture: Picture):
    return {"label": [picture.label], "encoded": picture.jpeg}


def _click(click: Click):
    return {
        "labels": [click.label],
        "dense_fields": click.dense,
        "wide_sparse_fields": click.wide_rows(),
        "deep_sparse_fields": click.deep_rows(),
    }


def _of_click(found) -> Click:
    return Click.of_rows(int(found["labels"][0]), found["dense_fields"], found["deep_sparse_fields"])


FORMATS = {
    "imagenet": _form(_image, lambda each: Picture(int(each["class/label"][0]), each["encoded"]), FOLDERS),
    "faces": _form(_face, lambda each: Picture(int(each["label"][0]), each["encoded"]), FOLDERS),
    "bert": _form(lambda each: each.row(), of_row, {"train": ""}, digits=1),
    "clicks": _form(_click, _of_click, {"train": "train", "validation": "val"}),
}

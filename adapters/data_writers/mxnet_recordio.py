"""RecordIO by MXNet: images as im2rec writes them, faces with InsightFace's record 0. Python 3.8 reads this file."""

from __future__ import annotations

import numpy
from forms import Form
from mxnet import recordio
from sources import Picture

NAMES = {"train": "train", "validation": "val"}


def _open(order, split: str, mode: str):
    order.folder.mkdir(parents=True, exist_ok=True)
    name = str(order.folder / NAMES[split])
    return recordio.MXIndexedRecordIO(f"{name}.idx", f"{name}.rec", mode)


def _write_images(order) -> None:
    for split in order.items:
        file = _open(order, split, "w")
        for number, picture in enumerate(order.of(split)):
            file.write_idx(number, recordio.pack(recordio.IRHeader(0, float(picture.label), number, 0), picture.jpeg))
        file.close()


def _read_images(order, split):
    file = _open(order, split, "r")
    for number in file.keys:
        header, jpeg = recordio.unpack(file.read_idx(number))
        yield Picture(int(header.label), jpeg)
    file.close()


def _write_faces(order) -> None:
    """Faces are records 1, 2, …; a record for each identity says which are its own; record 0 says where those begin and
    end (insightface, recognition/ArcFace/image_iter.py, FaceImageIter)."""
    file = _open(order, "train", "w")
    count, classes = order.items["train"], order.shape["classes"]
    first: dict[int, int] = {}  # of each identity that has faces: they lie one after the other
    for number, face in enumerate(order.of("train"), 1):
        first.setdefault(face.label, number)
        file.write_idx(number, recordio.pack(recordio.IRHeader(0, float(face.label), number, 0), face.jpeg))
    begins = [*first.values(), count + 1]
    _write_range(file, 0, (count + 1, count + 1 + len(first)))
    for number, places in enumerate(zip(begins, begins[1:]), count + 1):
        _write_range(file, number, places)
    file.close()
    (order.folder / "property").write_text(f"{classes},112,112")


def _write_range(file, number: int, places: tuple[int, int]) -> None:
    label = numpy.array(places, dtype=numpy.float32)
    file.write_idx(number, recordio.pack(recordio.IRHeader(2, label, number, 0), b""))


def _read_faces(order, split):
    file = _open(order, split, "r")
    header, _ = recordio.unpack(file.read_idx(0))
    for identity in range(int(header.label[0]), int(header.label[1])):
        own, _ = recordio.unpack(file.read_idx(identity))
        for number in range(int(own.label[0]), int(own.label[1])):
            face, jpeg = recordio.unpack(file.read_idx(number))
            yield Picture(int(face.label), jpeg)
    file.close()


FORMATS = {"images": Form(_write_images, _read_images), "faces": Form(_write_faces, _read_faces)}

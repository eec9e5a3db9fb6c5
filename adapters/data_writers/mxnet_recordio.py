"""RecordIO by MXNet: images as im2rec writes them, faces with InsightFace's record 0. Python 3.8 reads this file."""

from __future__ import annotations

import numpy
from mxnet import recordio


def _open(order, split: str):
    name = str(order.folder / {"train": "train", "validation": "val"}[split])
    return recordio.MXIndexedRecordIO(f"{name}.idx", f"{name}.rec", "w")


def _write_images(order) -> None:
    for split in order.items:
        file = _open(order, split)
        for number, picture in enumerate(order.of(split)):
            file.write_idx(number, recordio.pack(recordio.IRHeader(0, float(picture.label), number, 0), picture.jpeg))
        file.close()


def _write_faces(order) -> None:
    """Faces are records 1, 2, …; a record for each identity says which are its own; record 0 says where those begin and
    end (insightface, recognition/ArcFace/image_iter.py, FaceImageIter)."""
    file = _open(order, "train")
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


FORMATS = {"images": _write_images, "faces": _write_faces}

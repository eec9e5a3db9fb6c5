"""Columns in files: HDF5 by h5py, Parquet by pyarrow."""

from __future__ import annotations

import io
import json

import h5py
import numpy
import pyarrow
from forms import Form
from pyarrow import parquet
from sources import CLS, SEP, of_row, of_tokens, vocabulary

NAMES = {"train": "training", "validation": "test"}


def _write_hdf5(order) -> None:
    """As NVIDIA's create_pretraining_data.py writes them: no weights, labels in one dimension."""
    order.folder.mkdir(parents=True, exist_ok=True)
    for split in order.items:
        for number, items in order.sharded(split):
            rows = [item.row() for item in items]
            with h5py.File(order.folder / f"part_{number:05d}_{NAMES[split]}.hdf5", "w") as file:
                for name in rows[0]:
                    if name == "masked_lm_weights":
                        continue
                    column = numpy.stack([row[name] for row in rows])
                    column = column[:, 0] if name == "next_sentence_labels" else column
                    small = name in ("input_mask", "segment_ids", "next_sentence_labels")
                    file.create_dataset(name, data=column, dtype="i1" if small else "i4", compression="gzip")


def _read_hdf5(order, split):
    for path in sorted(order.folder.glob(f"*{NAMES[split]}*")):
        with h5py.File(path, "r") as file:
            whole = {name: file[name][:] for name in file}
        for number in range(len(whole["input_ids"])):
            yield of_row({name: column[number] for name, column in whole.items()})


LDDL = pyarrow.schema(
    [
        ("A", pyarrow.string()),
        ("B", pyarrow.string()),
        ("is_random_next", pyarrow.bool_()),
        ("num_tokens", pyarrow.uint16()),
        ("masked_lm_positions", pyarrow.binary()),
        ("masked_lm_labels", pyarrow.string()),
    ]
)


def _write_lddl(order) -> None:
    """As lddl/dask/bert/pretrain.py writes them, hidden words fixed; shards hold n or n + 1, both of which must occur
    (lddl/torch/datasets.py), and `.num_samples.json` says which."""
    words = vocabulary()
    order.folder.mkdir(parents=True, exist_ok=True)
    sizes = {}
    for number, items in order.sharded("train"):
        rows = [_lddl_row(item, words) for item in items]
        name = f"part.{number}.parquet"
        parquet.write_table(pyarrow.Table.from_pylist(rows, schema=LDDL), order.folder / name)
        sizes[name] = len(rows)
    (order.folder / ".num_samples.json").write_text(json.dumps(sizes))


def _lddl_row(item, words) -> dict[str, object]:
    shown = [words[one] for one in item.masked()]
    half = len(item.first) + 1
    positions = io.BytesIO()
    numpy.save(positions, item.positions.astype(numpy.uint16))
    return {
        "A": " ".join(shown[1:half]),
        "B": " ".join(shown[half + 1 : -1]),
        "is_random_next": bool(item.random_next),
        "num_tokens": len(shown),
        "masked_lm_positions": positions.getvalue(),
        "masked_lm_labels": " ".join(words[one] for one in item.tokens()[item.positions]),
    }


def _read_lddl(order, split):
    place = {word: number for number, word in enumerate(vocabulary())}
    for path in sorted(order.folder.glob("*.parquet")):
        for row in parquet.read_table(path).to_pylist():
            first, second = ([place[word] for word in row[half].split()] for half in ("A", "B"))
            tokens = numpy.array([CLS, *first, SEP, *second, SEP])
            positions = numpy.load(io.BytesIO(row["masked_lm_positions"])).astype(int)
            tokens[positions] = [place[word] for word in row["masked_lm_labels"].split()]
            segments = numpy.repeat([0, 1], (len(first) + 2, len(second) + 1))
            yield of_tokens(tokens, segments, int(row["is_random_next"]))


FORMATS = {"hdf5": Form(_write_hdf5, _read_hdf5), "lddl": Form(_write_lddl, _read_lddl)}

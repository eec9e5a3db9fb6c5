"""Formats of libraries that lie beside one another: HDF5 by h5py, Parquet by pyarrow, tar by webdataset, tokenisers."""

from __future__ import annotations

import io
import json

import h5py
import numpy
import pyarrow
from forms import Form
from pyarrow import parquet
from sources import (
    CLS,
    END_OF_TEXT,
    ROWS,
    SEP,
    WIDE,
    Click,
    Picture,
    gpt2_tokens,
    merges,
    of_row,
    of_tokens,
    vocabulary,
)

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
    shown = [words[each] for each in item.masked()]
    half = len(item.first) + 1
    positions = io.BytesIO()
    numpy.save(positions, item.positions.astype(numpy.uint16))
    return {
        "A": " ".join(shown[1:half]),
        "B": " ".join(shown[half + 1 : -1]),
        "is_random_next": bool(item.random_next),
        "num_tokens": len(shown),
        "masked_lm_positions": positions.getvalue(),
        "masked_lm_labels": " ".join(words[token] for token in item.tokens()[item.positions]),
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


CONTINUOUS = [f"I{number}" for number in range(1, 14)]
CATEGORIES = ["C1_C2", "C3_C4", *(f"C{number}" for number in range(1, 27))]
CLICK_FOLDERS = {"train": "train", "validation": "val"}
IN_RUN = "criteo_data"  # how the samples call the folder, from where they are started


def _write_clicks(order) -> None:
    """As preprocess_nvt.py of HugeCTR leaves them: a category counts its own rows; `_metadata.json`
    says which column is what, and `keyset` has every row that occurs, counted through all categories."""
    numbers = [(name, pyarrow.float32()) for name in ("label", *CONTINUOUS)]
    schema = pyarrow.schema([*numbers, *((name, pyarrow.int64()) for name in CATEGORIES)])
    starts = numpy.concatenate(([0], numpy.cumsum((*WIDE, *ROWS))[:-1]))
    for split in order.items:
        folder = order.folder / CLICK_FOLDERS[split]
        folder.mkdir(parents=True, exist_ok=True)
        sizes, keys = {}, set()
        for number, items in order.sharded(split):
            rows = [_click_row(item) for item in items]
            name = f"{number}.parquet"
            parquet.write_table(pyarrow.Table.from_pylist(rows, schema=schema), folder / name)
            sizes[name] = len(rows)
            keys.update(row[name] + int(start) for row in rows for name, start in zip(CATEGORIES, starts))
        listed = "".join(f"./{IN_RUN}/{CLICK_FOLDERS[split]}/{name}\n" for name in sizes)
        (folder / "_file_list.txt").write_text(f"{len(sizes)}\n{listed}")
        (folder / "_metadata.json").write_text(json.dumps(_click_metadata(sizes)))
        (folder / "keyset").write_bytes(numpy.array(sorted(keys), dtype="<i8").tobytes())


def _click_row(item) -> dict[str, object]:
    dense = zip(CONTINUOUS, map(float, item.dense))
    rows = zip(CATEGORIES, map(int, (*item.crossed(), *item.categories)))
    return {"label": float(item.label), **dict(dense), **dict(rows)}


def _click_metadata(sizes: dict[str, int]) -> dict[str, object]:
    names = ["label", *CONTINUOUS, *CATEGORIES]
    kinds = (("labels", ["label"]), ("conts", CONTINUOUS), ("cats", CATEGORIES))
    columns = {kind: [{"col_name": each, "index": names.index(each)} for each in own] for kind, own in kinds}
    return {"file_stats": [{"file_name": name, "num_rows": count} for name, count in sizes.items()], **columns}


def _read_clicks(order, split):
    folder = order.folder / CLICK_FOLDERS[split]
    count, *files = (folder / "_file_list.txt").read_text().split()
    assert int(count) == len(files)
    for name in files:
        for row in parquet.read_table(folder / name.rpartition("/")[2]).to_pylist():
            dense = numpy.array([row[continuou] for continuou in CONTINUOUS], dtype=numpy.float32)
            yield Click(int(row["label"]), dense, numpy.array([row[category] for category in CATEGORIES[2:]]))


def _write_webdataset(order) -> None:
    import webdataset

    order.folder.mkdir(parents=True, exist_ok=True)
    for split in order.items:
        for number, items in order.sharded(split):
            with webdataset.TarWriter(str(order.folder / f"imagenet-{split}-{number:06d}.tar"), mtime=0) as file:
                for place, picture in enumerate(items):
                    name = f"{split}-{number:06d}-{place:06d}"
                    file.write({"__key__": name, "jpg": picture.jpeg, "cls": picture.label})


def _read_webdataset(order, split):
    import webdataset

    files = sorted(str(file) for file in order.folder.glob(f"imagenet-{split}-*.tar"))
    for found in webdataset.WebDataset(files, shardshuffle=False):
        yield Picture(int(found["cls"]), found["jpg"])


BEGIN, END = "<|begin_of_text|>", "<|end_of_text|>"


def _write_tokeniser(order) -> None:
    """A tokeniser as those of Llama 3, by the words of `documents`; the ids are those of the made-up GPT-2's."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    order.folder.mkdir(parents=True, exist_ok=True)
    made = Tokenizer(models.BPE(vocab=gpt2_tokens(), merges=list(merges())))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([AddedToken(name, special=True) for name in (BEGIN, END)])
    made.save(str(order.folder / "tokenizer.json"))
    facts = {"bos_token": BEGIN, "eos_token": END, "tokenizer_class": "PreTrainedTokenizerFast"}
    (order.folder / "tokenizer_config.json").write_text(json.dumps(facts, indent=1) + "\n")


def _read_tokeniser(order, split):
    """It has no items; a text in its words must have the ids that `documents` give it."""
    from sources import documents
    from tokenizers import Tokenizer

    made = Tokenizer.from_file(str(order.folder / "tokenizer.json"))
    [document] = documents(order.seed, "train", 1)
    assert made.encode(document.text()).ids == document.tokens().tolist()[:-1], "a text has other ids"
    assert made.token_to_id("<|endoftext|>") == END_OF_TEXT
    return ()


FORMATS = {
    "hdf5": Form(_write_hdf5, _read_hdf5),
    "lddl": Form(_write_lddl, _read_lddl),
    "clicks": Form(_write_clicks, _read_clicks),
    "webdataset": Form(_write_webdataset, _read_webdataset),
    "tokeniser": Form(_write_tokeniser, _read_tokeniser),
}

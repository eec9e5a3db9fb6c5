"""Formats that are files of a few bytes' description: folders, lists, NumPy's own, token ids, Megatron's, text."""

from __future__ import annotations

import gzip
import json
import pickle
import struct
import sys

import numpy
from forms import Form
from sources import (
    CLS,
    END_OF_TEXT,
    FIRST_WORD,
    MASK,
    PAD,
    SEP,
    UNKNOWN,
    VOCABULARY,
    Click,
    Digit,
    Picture,
    Sentences,
    gpt2_tokens,
    merges,
    of_gpt2_tokens,
    of_row,
    of_text,
    of_tokens,
    vocabulary,
)

FOLDERS = {"train": "train", "validation": "val"}


# image folders and lists


def _image_name(split: str, number: int, label: int) -> str:
    """Names of classes are those of ImageNet in shape, so that they sort as their numbers do."""
    return f"{FOLDERS[split]}/n{label:08d}/n{label:08d}_{number}.JPEG"


def _write_images(order) -> dict[str, list[tuple[str, int]]]:
    names: dict[str, list[tuple[str, int]]] = {}
    for split in order.items:
        names[split] = []
        for number, picture in enumerate(order.of(split)):
            name = _image_name(split, number, picture.label)
            file = order.folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(picture.jpeg)
            names[split].append((name, picture.label))
    return names


def _read_folders(order, split):
    classes = sorted(folder for folder in (order.folder / FOLDERS[split]).iterdir() if folder.is_dir())
    for label, folder in enumerate(classes):
        for file in sorted(folder.iterdir()):
            yield Picture(label, file.read_bytes())


def _lists(name):
    """`train<name>.txt` and `val<name>.txt`: path, blank, number of the class."""

    def write(order):
        for split, listed in _write_images(order).items():
            text = "".join(f"{path} {label}\n" for path, label in listed)
            (order.folder / f"{FOLDERS[split]}{name}.txt").write_text(text)

    def read(order, split):
        for line in (order.folder / f"{FOLDERS[split]}{name}.txt").read_text().splitlines():
            path, label = line.split(" ")
            yield Picture(int(label), (order.folder / path).read_bytes())

    return Form(write, read)


# sentences


def _write_npz(order):
    """As gluon-nlp's create_pretraining_data.py saves them."""
    for split in order.items:
        folder = order.folder / {"train": "train", "validation": "dev"}[split]
        folder.mkdir(parents=True, exist_ok=True)
        for number, items in order.sharded(split):
            columns = _columns(items)
            columns["next_sentence_labels"] = columns["next_sentence_labels"][:, 0]
            columns["valid_lengths"] = columns.pop("input_mask").sum(axis=1)
            whole = {
                name: columns[name].astype("float32" if "weights" in name else "int32") for name in sorted(columns)
            }
            numpy.savez_compressed(folder / f"part-{number:03d}.npz", **whole)


def _columns(items):
    rows = [item.row() for item in items]
    return {name: numpy.stack([row[name] for row in rows]) for name in rows[0]}


def _read_npz(order, split):
    for file in sorted((order.folder / {"train": "train", "validation": "dev"}[split]).iterdir()):
        with numpy.load(file) as columns:
            whole = dict(columns)
        for number in range(len(whole["input_ids"])):
            yield of_row({name: column[number] for name, column in whole.items()})


PADDLE_CLS, PADDLE_SEP = 1, 2  # reader/pretraining.py of Paddle's BERT of 2020 looks for a 2 between the sentences,
POSITIVE = 1  # and makes the pairs that do not belong together itself


def _write_paddle(order):
    """Ids of tokens, segments and positions, and the label, of Paddle's BERT of 2020, which hides words itself."""
    for split in order.items:
        folder = order.folder / split
        folder.mkdir(parents=True, exist_ok=True)
        for number, items in order.sharded(split):
            with gzip.GzipFile(folder / f"part-{number:03d}.gz", "wb", mtime=0) as file:
                for item in items:
                    tokens, segments = item.tokens(PADDLE_CLS, PADDLE_SEP), item.segments()
                    columns = (tokens, segments, numpy.arange(len(tokens)), [POSITIVE])
                    file.write((";".join(" ".join(map(str, column)) for column in columns) + "\n").encode())


def _read_paddle(order, split):
    for file in sorted((order.folder / split).iterdir()):
        with gzip.open(file, "rt") as lines:
            for line in lines:
                tokens, segments, _, _ = (numpy.array(part.split(), dtype=int) for part in line.split(";"))
                yield of_tokens(tokens, segments, 0)


def _write_vocabulary(order):
    """BERT's vocabulary and sizes, as Hugging Face's tokenisers and the official scripts read them."""
    order.folder.mkdir(parents=True, exist_ok=True)
    (order.folder / "vocab.txt").write_text("".join(f"{word}\n" for word in vocabulary()), encoding="utf-8")
    sizes = {
        "attention_probs_dropout_prob": 0.1,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "hidden_size": 768,
        "initializer_range": 0.02,
        "intermediate_size": 3072,
        "max_position_embeddings": 512,
        "num_attention_heads": 12,
        "num_hidden_layers": 12,
        "type_vocab_size": 2,
        "vocab_size": VOCABULARY,
    }
    tokeniser = {"do_lower_case": True, "model_max_length": 512, "tokenizer_class": "BertTokenizer"}
    model = {**sizes, "model_type": "bert", "architectures": ["BertForPreTraining"], "pad_token_id": PAD}
    for name, content in (("bert_config", sizes), ("config", model), ("tokenizer_config", tokeniser)):
        (order.folder / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")


def _read_vocabulary(order, split):
    words = (order.folder / "vocab.txt").read_text(encoding="utf-8").split("\n")[:-1]
    places = {"[PAD]": PAD, "[UNK]": UNKNOWN, "[CLS]": CLS, "[SEP]": SEP, "[MASK]": MASK, "baba": FIRST_WORD}
    wrong = [word for word, place in places.items() if words.index(word) != place]
    if wrong or len(words) != VOCABULARY or len(set(words)) != VOCABULARY:
        sys.exit(f"vocab.txt: {len(words)} words, {wrong} at other places")
    return ()


GLUONNLP = "book_corpus_wiki_en_uncased-a6607397.vocab"  # gluonnlp/data/utils.py: the name, and the start of its hash


def _write_gluonnlp_vocabulary(order):
    """As BERTVocab.from_json reads it. The script asks for the hash of its makers' own, which this has not."""
    order.folder.mkdir(parents=True, exist_ok=True)
    words = vocabulary()
    special = {"padding_token": PAD, "sep_token": SEP, "cls_token": CLS, "mask_token": MASK}
    content = {
        "idx_to_token": words,
        "token_to_idx": {word: number for number, word in enumerate(words)},
        "reserved_tokens": [words[number] for number in special.values()],
        "unknown_token": words[UNKNOWN],
        "identifiers_to_tokens": {name: words[number] for name, number in special.items()},
    }
    (order.folder / GLUONNLP).write_text(json.dumps(content))


def _read_gluonnlp_vocabulary(order, split):
    content = json.loads((order.folder / GLUONNLP).read_text())
    if [content["token_to_idx"][word] for word in content["idx_to_token"]] != list(range(VOCABULARY)):
        sys.exit(f"{GLUONNLP}: words at other places")
    return ()


def _write_text(order):
    order.folder.mkdir(parents=True, exist_ok=True)
    words = vocabulary()
    for split in order.items:
        with open(order.folder / f"{split}.txt", "w") as file:
            for item in order.of(split):
                halves = (" ".join(words[each] for each in half) for half in (item.first, item.second))
                file.write(f"{' . '.join(halves)} {'yes' if item.random_next else 'no'}\n")


def _read_text(order, split):
    place = {word: number for number, word in enumerate(vocabulary())}
    for line in (order.folder / f"{split}.txt").read_text().splitlines():
        whole, _, answer = line.rpartition(" ")
        first, second = (numpy.array([place[word] for word in half.split()]) for half in whole.split(" . "))
        yield Sentences(first, second, int(answer == "yes"), numpy.array([]), numpy.array([]))


# documents

INDEX_MAGIC = b"MMIDIDX\x00\x00"
UINT16 = 8  # megatron/data/indexed_dataset.py: dtypes


def _write_megatron(order):
    """MMapIndexedDataset of megatron/data/indexed_dataset.py: magic, version, type, counts, lengths, places, texts."""
    order.folder.mkdir(parents=True, exist_ok=True)
    prefix = order.folder / "gpt2_text_document"
    lengths = []
    with open(f"{prefix}.bin", "wb") as file:
        for item in order.of("train"):
            tokens = item.tokens().astype("<u2")
            file.write(tokens.tobytes())
            lengths.append(len(tokens))
    sizes = numpy.array(lengths, dtype="<i4")
    places = numpy.concatenate(([0], numpy.cumsum(2 * sizes.astype("<i8"))[:-1])).astype("<i8")
    with open(f"{prefix}.idx", "wb") as file:
        file.write(INDEX_MAGIC + struct.pack("<QBQQ", 1, UINT16, len(sizes), len(sizes) + 1))
        file.write(sizes.tobytes() + places.tobytes() + numpy.arange(len(sizes) + 1, dtype="<i8").tobytes())
    _write_gpt2_vocabulary(order.folder, "gpt2-vocab.json", "gpt2-merges.txt")


def _write_gpt2_vocabulary(folder, vocabulary_name, merges_name):
    (folder / vocabulary_name).write_text(json.dumps(gpt2_tokens()))
    lines = "".join(f"{a} {b}\n" for a, b in merges())
    (folder / merges_name).write_text(f"#version: 0.2\n{lines}", encoding="utf-8")


def _read_megatron(order, split):
    prefix = order.folder / "gpt2_text_document"
    with open(f"{prefix}.idx", "rb") as file:
        magic, head = file.read(9), file.read(25)
        version, kind, count, documents = struct.unpack("<QBQQ", head)
        sizes = numpy.frombuffer(file.read(4 * count), dtype="<i4")
        places = numpy.frombuffer(file.read(8 * count), dtype="<i8")
        ends = numpy.frombuffer(file.read(8 * documents), dtype="<i8")
    if (magic, version, kind) != (INDEX_MAGIC, 1, UINT16) or ends[-1] != count:
        sys.exit(f"{prefix}.idx: not as indexed_dataset.py writes it")
    tokens = numpy.memmap(f"{prefix}.bin", dtype="<u2", mode="r")
    for size, place in zip(sizes, places):
        yield of_gpt2_tokens(tokens[place // 2 : place // 2 + size])


def _write_webtext(order):
    """A JSON object a line, as DeepSpeedExamples' corpora.py reads OpenWebText, and GPT-2's vocabulary beside it."""
    order.folder.mkdir(parents=True, exist_ok=True)
    with open(order.folder / "data.json", "w") as file:
        for item in order.of("train"):
            file.write(json.dumps({"text": item.text()}) + "\n")
    _write_gpt2_vocabulary(order.folder, "vocab.json", "merges.txt")


def _read_webtext(order, split):
    with open(order.folder / "data.json") as file:
        for line in file:
            yield of_text(json.loads(line)["text"])


def _write_nanogpt(order):
    """As nanoGPT's prepare.py of OpenWebText: one text after another, ids of two bytes. train.py evaluates once on
    val.bin, which has the first texts again.
    """
    order.folder.mkdir(parents=True, exist_ok=True)
    with open(order.folder / "train.bin", "wb") as train, open(order.folder / "val.bin", "wb") as val:
        for number, item in enumerate(order.of("train")):
            ids = item.tokens().astype("<u2").tobytes()
            train.write(ids)
            if number < 16:
                val.write(ids)


def _read_nanogpt(order, split):
    ids = numpy.memmap(order.folder / "train.bin", dtype="<u2", mode="r")
    ends = numpy.flatnonzero(ids == END_OF_TEXT) + 1
    for first, end in zip((0, *ends[:-1]), ends):
        yield of_gpt2_tokens(ids[first:end])


def _write_c4(order):
    """Gzipped JSON lines in the folder `en`, which the head of README.md names for Hugging Face's load_dataset."""
    splits = [(split, f"en/c4-{split}.*.json.gz") for split in order.items]
    (order.folder / "en").mkdir(parents=True, exist_ok=True)
    lines = "".join(f"  - split: {split}\n    path: {path}\n" for split, path in splits)
    head = f"---\nconfigs:\n- config_name: en\n  data_files:\n{lines}---\n"
    (order.folder / "README.md").write_text(head)
    for split in order.items:
        for number, items in order.sharded(split):
            name = f"c4-{split}.{number:05d}-of-{order.shards[split]:05d}.json.gz"
            rows = ({"text": item.text(), "timestamp": "", "url": ""} for item in items)
            content = "".join(f"{json.dumps(row)}\n" for row in rows)
            _write_gzip(order.folder / "en" / name, content.encode())


def _read_c4(order, split):
    for file in sorted((order.folder / "en").glob(f"c4-{split}.*")):
        for line in gzip.decompress(file.read_bytes()).splitlines():
            yield of_text(json.loads(line)["text"])


# digits and small images


def _write_chainer(order):
    """As chainer.datasets.get_mnist keeps it in CHAINER_DATASET_ROOT."""
    folder = order.folder / "pfnet" / "chainer" / "mnist"
    folder.mkdir(parents=True, exist_ok=True)
    for split, name in (("train", "train"), ("validation", "test")):
        items = list(order.of(split))
        pixels = numpy.stack([item.pixels.reshape(-1) for item in items])
        numpy.savez_compressed(folder / f"{name}.npz", x=pixels, y=numpy.array([i.label for i in items], dtype="uint8"))


def _read_chainer(order, split):
    name = {"train": "train", "validation": "test"}[split]
    with numpy.load(order.folder / "pfnet" / "chainer" / "mnist" / f"{name}.npz") as arrays:
        for pixels, label in zip(arrays["x"], arrays["y"]):
            yield Digit(int(label), pixels.reshape(28, 28))


IDX_IMAGES, IDX_LABELS = 0x803, 0x801


def _write_idx(order):
    """MNIST as its makers published it: gzipped arrays with a big-endian head."""
    order.folder.mkdir(parents=True, exist_ok=True)
    for split, name in (("train", "train"), ("validation", "t10k")):
        items = list(order.of(split))
        pixels = b"".join(item.pixels.tobytes() for item in items)
        head = struct.pack(">IIII", IDX_IMAGES, len(items), 28, 28)
        _write_gzip(order.folder / f"{name}-images-idx3-ubyte.gz", head + pixels)
        labels = struct.pack(">II", IDX_LABELS, len(items)) + bytes(item.label for item in items)
        _write_gzip(order.folder / f"{name}-labels-idx1-ubyte.gz", labels)


def _write_gzip(file, content):
    with gzip.GzipFile(file, "wb", mtime=0) as packed:
        packed.write(content)


def _read_idx(order, split):
    name = {"train": "train", "validation": "t10k"}[split]
    images = gzip.decompress((order.folder / f"{name}-images-idx3-ubyte.gz").read_bytes())
    labels = gzip.decompress((order.folder / f"{name}-labels-idx1-ubyte.gz").read_bytes())
    for pixels, label in zip(numpy.frombuffer(images[16:], "u1").reshape(-1, 28, 28), labels[8:]):
        yield Digit(label, pixels)


def _write_cifar(order):
    """CIFAR-10's batches for Python: pickled dictionaries, channels first."""
    folder = order.folder / "cifar-10-batches-py"
    folder.mkdir(parents=True, exist_ok=True)
    for split in order.items:
        for number, items in order.sharded(split):
            taken = list(items)
            rows = numpy.stack([item.pixels.transpose(2, 0, 1).reshape(-1) for item in taken])
            content = {b"data": rows, b"labels": [item.label for item in taken]}
            with open(folder / (f"data_batch_{number + 1}" if split == "train" else "test_batch"), "wb") as file:
                pickle.dump(content, file, protocol=2)


def _read_cifar(order, split):
    for file in sorted(
        (order.folder / "cifar-10-batches-py").glob("data_batch_*" if split == "train" else "test_batch")
    ):
        content = pickle.loads(file.read_bytes())
        for row, label in zip(content[b"data"], content[b"labels"]):
            yield Digit(label, row.reshape(3, 32, 32).transpose(1, 2, 0))


# DALI's index


def _write_dali_index(order):
    """Of each TFRecord file, `place size` a line: what DALI's tfrecord2idx writes."""
    order.folder.mkdir(parents=True, exist_ok=True)
    for file in _records(order):
        (order.folder / file.name).write_text("".join(f"{place} {size}\n" for place, size in _places(file)))


def _records(order):
    return sorted(file for file in order.beside.iterdir() if "-of-" in file.name)


def _places(file):
    """A record is its length (8 bytes), that length's checksum (4), itself, and its checksum (4)."""
    with open(file, "rb") as stream:
        while head := stream.read(8):
            place, (length,) = stream.tell() - 8, struct.unpack("<Q", head)
            stream.seek(4 + length + 4, 1)
            yield place, 16 + length


def _read_dali_index(order, split):
    for file in _records(order):
        *_, last = (order.folder / file.name).read_text().splitlines()
        if sum(map(int, last.split())) != file.stat().st_size:
            sys.exit(f"{file.name}: the index does not end where the records do")
    return ()


# clicks


def _write_hugectr_raw(order):
    """HugeCTR's format Raw: a row is the label, 13 dense and 26 category numbers, four bytes each."""
    order.folder.mkdir(parents=True, exist_ok=True)
    for split in order.items:
        with open(order.folder / f"{FOLDERS[split]}_data.bin", "wb") as file:
            for item in order.of(split):
                head = struct.pack("<i", item.label) + item.dense.astype("<f4").tobytes()
                file.write(head + item.categories.astype("<i4").tobytes())


def _read_hugectr_raw(order, split):
    with open(order.folder / f"{FOLDERS[split]}_data.bin", "rb") as file:
        while row := file.read(4 * 40):
            dense = numpy.frombuffer(row, "<f4", 13, 4)
            yield Click(struct.unpack("<i", row[:4])[0], dense, numpy.frombuffer(row, "<i4", 26, 56).astype("int64"))


FORMATS = {
    "folders": Form(lambda order: _write_images(order) and None, _read_folders),
    "paddle_lists": _lists("_list"),
    "chainer_lists": _lists(""),
    "gluonnlp": Form(_write_npz, _read_npz),
    "paddle_ids": Form(_write_paddle, _read_paddle),
    "vocabulary": Form(_write_vocabulary, _read_vocabulary),
    "gluonnlp_vocabulary": Form(_write_gluonnlp_vocabulary, _read_gluonnlp_vocabulary),
    "text": Form(_write_text, _read_text),
    "megatron": Form(_write_megatron, _read_megatron),
    "c4": Form(_write_c4, _read_c4),
    "nanogpt": Form(_write_nanogpt, _read_nanogpt),
    "webtext": Form(_write_webtext, _read_webtext),
    "chainer_mnist": Form(_write_chainer, _read_chainer),
    "idx": Form(_write_idx, _read_idx),
    "cifar10": Form(_write_cifar, _read_cifar),
    "dali_index": Form(_write_dali_index, _read_dali_index),
    "hugectr_raw": Form(_write_hugectr_raw, _read_hugectr_raw),
}

"""Formats that are files of a few bytes' description: folders, lists, NumPy's own, token ids, Megatron's, text."""

from __future__ import annotations

import gzip
import json
import struct

import numpy
from sources import CLS, MASK, PAD, SEP, UNKNOWN, VOCABULARY, gpt2_tokens, merges, vocabulary

FOLDERS = {"train": "train", "validation": "val"}


# image folders and lists


def _images(listed=None):
    """Names of classes are those of ImageNet in shape, so that they sort as their numbers do.

    A longer pass has links to the same images, or their lines again.

    *listed*: `train<listed>.txt` and `val<listed>.txt` have path, blank, number of the class.
    """

    def write(order):
        for split in order.items:
            lines, times = [], order.times if split == "train" else 1
            for number, picture in enumerate(order.of(split)):
                name = f"{FOLDERS[split]}/n{picture.label:08d}/n{picture.label:08d}_{number}.JPEG"
                file = order.folder / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(picture.jpeg)
                lines.append(f"{name} {picture.label}\n")
                for again in range(1, times if listed is None else 1):
                    file.with_name(f"{file.stem}-{again}.JPEG").symlink_to(file.name)
            if listed is not None:
                (order.folder / f"{FOLDERS[split]}{listed}.txt").write_text("".join(lines * times))

    return write


# sentences


def _write_npz(order):
    """As gluon-nlp's create_pretraining_data.py saves them."""
    for _, folder, number, items in order.sharded({"train": "train", "validation": "dev"}):
        rows = [item.row() for item in items]
        columns = {name: numpy.stack([row[name] for row in rows]) for name in rows[0]}
        columns["next_sentence_labels"] = columns["next_sentence_labels"][:, 0]
        columns["valid_lengths"] = columns.pop("input_mask").sum(axis=1)
        whole = {name: columns[name].astype("float32" if "weights" in name else "int32") for name in sorted(columns)}
        numpy.savez_compressed(folder / f"part-{number:03d}.npz", **whole)


PADDLE_CLS, PADDLE_SEP = 1, 2  # reader/pretraining.py of Paddle's BERT of 2020 looks for a 2 between the sentences,
POSITIVE = 1  # and makes the pairs that do not belong together itself


def _write_paddle(order):
    """Ids of tokens, segments and positions, and the label, of Paddle's BERT of 2020, which hides words itself."""
    for _, folder, number, items in order.sharded({"train": "train", "validation": "validation"}):
        with gzip.GzipFile(folder / f"part-{number:03d}.gz", "wb", mtime=0) as file:
            for item in items:
                tokens, segments = item.tokens(PADDLE_CLS, PADDLE_SEP), item.segments()
                columns = (tokens, segments, numpy.arange(len(tokens)), [POSITIVE])
                file.write((";".join(" ".join(map(str, column)) for column in columns) + "\n").encode())


def _write_vocabulary(order):
    """BERT's vocabulary and sizes, as Hugging Face's tokenisers and the official scripts read them."""
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


GLUONNLP = "book_corpus_wiki_en_uncased-a6607397.vocab"  # gluonnlp/data/utils.py: the name, and the start of its hash


def _write_gluonnlp_vocabulary(order):
    """As BERTVocab.from_json reads it. The script asks for the hash of its makers' own, which this has not."""
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


def _write_text(order):
    words = vocabulary()
    for split in order.items:
        with open(order.folder / f"{split}.txt", "w") as file:
            for item in order.of(split):
                halves = (" ".join(words[each] for each in half) for half in (item.first, item.second))
                file.write(f"{' . '.join(halves)} {'yes' if item.random_next else 'no'}\n")


# documents

INDEX_MAGIC = b"MMIDIDX\x00\x00"
UINT16 = 8  # megatron/data/indexed_dataset.py: dtypes


def _write_megatron(order):
    """MMapIndexedDataset of megatron/data/indexed_dataset.py: magic, version, type, counts, lengths, places, texts."""
    _write_indexed(order.folder / "gpt2_text_document", ([item.tokens()] for item in order.of("train")), 1)
    _write_gpt2_vocabulary(order.folder, "gpt2-vocab.json", "gpt2-merges.txt")


def _write_megatron_bert(order):
    """A document of two sentences for each pair; special words are put in by the script, which hides words itself."""
    documents = ([item.first, item.second] for item in order.of("train"))
    _write_indexed(order.folder / "bert_text_sentence", documents, 2)


def _write_indexed(prefix, documents, texts):
    """*documents* of so many *texts* each."""
    lengths = []
    with open(f"{prefix}.bin", "wb") as file:
        for tokens in (text.astype("<u2") for document in documents for text in document):
            file.write(tokens.tobytes())
            lengths.append(len(tokens))
    sizes = numpy.array(lengths, dtype="<i4")
    places = numpy.concatenate(([0], numpy.cumsum(2 * sizes.astype("<i8"))[:-1])).astype("<i8")
    begins = numpy.arange(0, len(sizes) + 1, texts, dtype="<i8")
    with open(f"{prefix}.idx", "wb") as file:
        file.write(INDEX_MAGIC + struct.pack("<QBQQ", 1, UINT16, len(sizes), len(begins)))
        file.write(sizes.tobytes() + places.tobytes() + begins.tobytes())


def _write_gpt2_vocabulary(folder, vocabulary_name, merges_name):
    (folder / vocabulary_name).write_text(json.dumps(gpt2_tokens()))
    lines = "".join(f"{a} {b}\n" for a, b in merges())
    (folder / merges_name).write_text(f"#version: 0.2\n{lines}", encoding="utf-8")


def _write_webtext(order):
    """A JSON object a line, as DeepSpeedExamples' corpora.py reads OpenWebText, and GPT-2's vocabulary beside it."""
    with open(order.folder / "data.json", "w") as file:
        for item in order.of("train"):
            file.write(json.dumps({"text": item.text()}) + "\n")
    _write_gpt2_vocabulary(order.folder, "vocab.json", "merges.txt")


def _write_nanogpt(order):
    """As nanoGPT's prepare.py of OpenWebText: one text after another, ids of two bytes. train.py evaluates once on
    val.bin, which has the first texts again.
    """
    with open(order.folder / "train.bin", "wb") as train, open(order.folder / "val.bin", "wb") as val:
        for number, item in enumerate(order.of("train")):
            ids = item.tokens().astype("<u2").tobytes()
            train.write(ids)
            if number < 16:
                val.write(ids)


def _write_c4(order):
    """Gzipped JSON lines in the folder `en`, which the head of README.md names for Hugging Face's load_dataset."""
    lines = "".join(f"  - split: {split}\n    path: en/c4-{split}.*.json.gz\n" for split in order.items)
    head = f"---\nconfigs:\n- config_name: en\n  data_files:\n{lines}---\n"
    (order.folder / "README.md").write_text(head)
    for split, folder, number, items in order.sharded(dict.fromkeys(order.items, "en")):
        rows = ({"text": item.text(), "timestamp": "", "url": ""} for item in items)
        name = f"c4-{split}.{number:05d}-of-{order.shards[split]:05d}.json.gz"
        with gzip.GzipFile(folder / name, "wb", mtime=0) as file:
            file.write("".join(f"{json.dumps(row)}\n" for row in rows).encode())


# digits


def _write_chainer(order):
    """As chainer.datasets.get_mnist keeps it in CHAINER_DATASET_ROOT."""
    folder = order.folder / "pfnet" / "chainer" / "mnist"
    folder.mkdir(parents=True, exist_ok=True)
    for split, name in (("train", "train"), ("validation", "test")):
        items = list(order.of(split))
        pixels = numpy.stack([item.pixels.reshape(-1) for item in items])
        numpy.savez_compressed(folder / f"{name}.npz", x=pixels, y=numpy.array([i.label for i in items], dtype="uint8"))


# DALI's index


def _write_dali_index(order):
    """Of each TFRecord file, `place size` a line: what DALI's tfrecord2idx writes."""
    for file in sorted(order.beside.glob("*-of-*")):
        (order.folder / file.name).write_text("".join(f"{place} {size}\n" for place, size in _places(file)))


def _places(file):
    """A record is its length (8 bytes), that length's checksum (4), itself, and its checksum (4)."""
    with open(file, "rb") as stream:
        while head := stream.read(8):
            place, (length,) = stream.tell() - 8, struct.unpack("<Q", head)
            stream.seek(4 + length + 4, 1)
            yield place, 16 + length


FORMATS = {
    "folders": _images(),
    "paddle_lists": _images("_list"),
    "chainer_lists": _images(""),
    "gluonnlp": _write_npz,
    "paddle_ids": _write_paddle,
    "vocabulary": _write_vocabulary,
    "gluonnlp_vocabulary": _write_gluonnlp_vocabulary,
    "text": _write_text,
    "megatron": _write_megatron,
    "megatron_bert": _write_megatron_bert,
    "c4": _write_c4,
    "nanogpt": _write_nanogpt,
    "webtext": _write_webtext,
    "chainer_mnist": _write_chainer,
    "dali_index": _write_dali_index,
}

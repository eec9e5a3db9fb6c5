"""TFRecord by TensorFlow: ImageNet, BERT."""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf
from forms import Form, shard_name
from sources import FULL, PREDICTIONS, Picture, of_row


def _bytes(value: bytes) -> tf.train.Feature:
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def _whole(values) -> tf.train.Feature:
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[int(value) for value in values]))


def _numbers(values) -> tf.train.Feature:
    return tf.train.Feature(float_list=tf.train.FloatList(value=[float(value) for value in values]))


def _example(features) -> bytes:
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def _write(order, split: str, name, features) -> None:
    for number, items in order.sharded(split):
        file = order.folder / name(split, number, order.shards[split])
        file.parent.mkdir(parents=True, exist_ok=True)
        with tf.io.TFRecordWriter(str(file)) as records:
            for item in items:
                records.write(_example(features(item)))


def _image_features(picture: Picture) -> dict[str, tf.train.Feature]:
    """As build_imagenet_data.py of tensorflow/models writes them; its classes count from 1."""
    name = f"n{picture.label:08d}".encode()
    return {
        "image/encoded": _bytes(picture.jpeg),
        "image/format": _bytes(b"JPEG"),
        "image/colorspace": _bytes(b"RGB"),
        "image/channels": _whole([3]),
        "image/class/label": _whole([picture.label + 1]),
        "image/class/synset": _bytes(name),
        "image/class/text": _bytes(name),
        "image/filename": _bytes(name + b".JPEG"),
        **{f"image/object/bbox/{side}": _numbers([]) for side in ("xmin", "xmax", "ymin", "ymax")},
        "image/object/bbox/label": _whole([]),
    }


def _write_images(order) -> None:
    for split in order.items:
        _write(order, split, shard_name, _image_features)


def _read_images(order, split):
    wanted = {
        "image/encoded": tf.io.FixedLenFeature([], tf.string),
        "image/class/label": tf.io.FixedLenFeature([], tf.int64),
    }
    for found in _records(sorted(map(str, order.folder.glob(f"{split}-*"))), wanted):
        yield Picture(int(found["image/class/label"]) - 1, found["image/encoded"].numpy())


def _records(files, features):
    for record in tf.data.TFRecordDataset(files):
        yield tf.io.parse_single_example(record, features)


FOLDERS = {"train": "training", "validation": "test"}


def _bert_name(split: str, number: int, shards: int) -> str:
    return f"{FOLDERS[split]}/part-{number:05d}-of-{shards:05d}.tfrecord"


def _bert_features(item) -> dict[str, tf.train.Feature]:
    row = item.row()
    return {name: (_numbers if "weights" in name else _whole)(values) for name, values in row.items()}


def _write_bert(order) -> None:
    for split in order.items:
        _write(order, split, _bert_name, _bert_features)


def _read_bert(order, split):
    sizes = dict.fromkeys(("input_ids", "input_mask", "segment_ids"), FULL)
    sizes.update(dict.fromkeys(("masked_lm_positions", "masked_lm_ids"), PREDICTIONS), next_sentence_labels=1)
    wanted = {name: tf.io.FixedLenFeature([size], tf.int64) for name, size in sizes.items()}
    for found in _records(sorted(map(str, (order.folder / FOLDERS[split]).iterdir())), wanted):
        yield of_row({name: values.numpy() for name, values in found.items()})


FORMATS = {"imagenet": Form(_write_images, _read_images), "bert": Form(_write_bert, _read_bert)}

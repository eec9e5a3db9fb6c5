"""By TensorFlow: TFRecord of ImageNet and BERT, TensorFlow Datasets, CIFAR-10 in ElasticDL's RecordIO."""

from __future__ import annotations

import io
import os
import struct
import zlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf
from sources import Picture


def _bytes(value: bytes) -> tf.train.Feature:
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def _whole(values) -> tf.train.Feature:
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[int(value) for value in values]))


def _numbers(values) -> tf.train.Feature:
    return tf.train.Feature(float_list=tf.train.FloatList(value=[float(value) for value in values]))


def _example(features) -> bytes:
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def _write(order, folders: dict[str, str], name: str, features) -> None:
    for split, folder, number, items in order.sharded(folders):
        file = folder / name.format(split=split, number=number, shards=order.shards[split])
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
    _write(order, {}, "{split}-{number:05d}-of-{shards:05d}", _image_features)


def _bert_features(item) -> dict[str, tf.train.Feature]:
    return {name: (_numbers if "weights" in name else _whole)(values) for name, values in item.row().items()}


def _write_bert(order) -> None:
    name = "part-{number:05d}-of-{shards:05d}.tfrecord"
    _write(order, {"train": "training", "validation": "test"}, name, _bert_features)


VERSION = "5.1.0"


def _write_tfds(order) -> None:
    """As `tfds build imagenet2012` leaves it."""
    import tensorflow_datasets as tfds

    place = order.folder / "imagenet2012" / VERSION
    features = tfds.features.FeaturesDict(
        {
            "image": tfds.features.Image(encoding_format="jpeg"),
            "label": tfds.features.ClassLabel(num_classes=1000),
            "file_name": tfds.features.Text(),
        }
    )
    identity = tfds.core.dataset_info.DatasetIdentity(
        name="imagenet2012", version=VERSION, data_dir=str(place), module_name=""
    )
    info = tfds.core.DatasetInfo(builder=identity, features=features)
    place.mkdir(parents=True)
    largest = max(-(-order.items[split] // order.shards[split]) for split in order.items)
    writer = tfds.core.SequentialWriter(info, max_examples_per_shard=largest)
    writer.initialize_splits(list(order.items), fail_if_exists=False)
    for split in order.items:
        for number, picture in enumerate(order.of(split)):
            name = f"n{picture.label:08d}_{number}.JPEG"
            example = {"image": io.BytesIO(picture.jpeg), "label": picture.label, "file_name": name}
            writer.add_examples({split: [example]})
    writer.close_all()


CHUNK = 0x01020304  # header.go of wangkuiyi/recordio, which pyrecordio builds with Go


def _write_elasticdl(order) -> None:
    """A file is one chunk: magic, checksum, compression, length, number of records; then each record's length and
    bytes. model_zoo/cifar10/data_parser.py takes images as floats."""
    for _, folder, number, items in order.sharded({"train": "train", "validation": "test"}):
        examples = [
            _example({"image": _numbers(item.pixels.reshape(-1)), "label": _whole([item.label])}) for item in items
        ]
        content = b"".join(struct.pack("<I", len(example)) + example for example in examples)
        head = struct.pack("<5I", CHUNK, zlib.crc32(content), 0, len(content), len(examples))
        (folder / f"data-{number:05d}").write_bytes(head + content)


FORMATS = {"imagenet": _write_images, "bert": _write_bert, "tfds": _write_tfds, "elasticdl": _write_elasticdl}

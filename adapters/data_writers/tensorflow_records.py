"""By TensorFlow: TFRecord of ImageNet and BERT, TensorFlow Datasets, CIFAR-10 in ElasticDL's RecordIO."""

from __future__ import annotations

import io
import os
import struct
import zlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf
from forms import Form, shard_name
from sources import FULL, PREDICTIONS, Digit, Picture, of_row


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


def _read_tfds(order, split):
    import tensorflow_datasets as tfds

    builder = tfds.builder("imagenet2012:5.*.*", data_dir=str(order.folder))
    for found in builder.as_dataset(split=split, decoders={"image": tfds.decode.SkipDecoding()}):
        yield Picture(int(found["label"]), found["image"].numpy())


CHUNK = 0x01020304  # header.go of wangkuiyi/recordio, which pyrecordio builds with Go
SMALL_FOLDERS = {"train": "train", "validation": "test"}


def _write_elasticdl(order) -> None:
    """A file is one chunk: magic, checksum, compression, length, number of records; then each record's length and
    bytes. model_zoo/cifar10/data_parser.py takes images as floats."""
    for split in order.items:
        folder = order.folder / SMALL_FOLDERS[split]
        folder.mkdir(parents=True, exist_ok=True)
        for number, items in order.sharded(split):
            examples = [_small_example(item) for item in items]
            content = b"".join(struct.pack("<I", len(example)) + example for example in examples)
            head = struct.pack("<5I", CHUNK, zlib.crc32(content), 0, len(content), len(examples))
            (folder / f"data-{number:05d}").write_bytes(head + content)


def _small_example(item: Digit) -> bytes:
    return _example({"image": _numbers(item.pixels.reshape(-1)), "label": _whole([item.label])})


def _read_elasticdl(order, split):
    wanted = {
        "image": tf.io.FixedLenFeature([32, 32, 3], tf.float32),
        "label": tf.io.FixedLenFeature([1], tf.int64),
    }
    for path in sorted((order.folder / SMALL_FOLDERS[split]).iterdir()):
        content = path.read_bytes()
        _, checksum, _, length, count = struct.unpack("<5I", content[:20])
        assert zlib.crc32(content[20:]) == checksum and len(content) == 20 + length
        place = 20
        for _ in range(count):
            (size,) = struct.unpack("<I", content[place : place + 4])
            found = tf.io.parse_single_example(content[place + 4 : place + 4 + size], wanted)
            yield Digit(int(found["label"][0]), found["image"].numpy().astype("uint8"))
            place += 4 + size


FORMATS = {
    "imagenet": Form(_write_images, _read_images),
    "bert": Form(_write_bert, _read_bert),
    "tfds": Form(_write_tfds, _read_tfds),
    "elasticdl": Form(_write_elasticdl, _read_elasticdl),
}

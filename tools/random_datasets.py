"""Writes small random data sets for scripts without synthetic data.

python tools/random_datasets.py DIR          # then EVALSUITE_DATA=DIR evalsuite run …

A throughput on them says nothing about reading; each run records that they are random. Needs numpy and pillow.
"""

import argparse
import gzip
import json
import shutil
import sys
from pathlib import Path

import numpy
from PIL import Image

IMAGES, CLASSES, SIDE = 256, 16, 256
MNIST_TRAIN, MNIST_TEST = 60_000, 10_000
SEQUENCES, TOKENS, WORDS = 512, 128, range(1000, 20_000)  # full sequences; ids below 1000 have a meaning
CLS, SEP = 1, 2  # of Paddle's BERT of 2020
SEED = 20200101


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", type=Path, metavar="DIR")
    root = parser.parse_args().root
    random = numpy.random.default_rng(SEED)
    _imagenet_lists(root / "imagenet-lists", random)
    _imagenet(root / "imagenet", root / "imagenet-lists")
    _bert_paddle(root / "bert-paddle", random)
    _mnist(root / "chainer", random)
    print(f"random data sets are in {root}; set EVALSUITE_DATA={root}")
    return 0


def _imagenet_lists(folder: Path, random) -> None:
    """Images by class, with Paddle's lists: path, blank, number of the class."""
    lines = []
    for number in range(IMAGES):
        name = f"train/{number % CLASSES:03d}/{number}.jpeg"
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(random.integers(0, 256, (SIDE, SIDE, 3), dtype=numpy.uint8)).save(file, quality=75)
        lines.append(f"{name} {number % CLASSES}\n")
    for split in ("train", "val"):
        (folder / f"{split}_list.txt").write_text("".join(lines))
    _describe(folder, images=IMAGES)


def _imagenet(folder: Path, lists: Path) -> None:
    """The same images in a folder a class, for training and for validation."""
    for split in ("train", "val"):
        shutil.copytree(lists / "train", folder / split, dirs_exist_ok=True)
    _describe(folder, images=IMAGES)


def _bert_paddle(folder: Path, random) -> None:
    """For Paddle's BERT of 2020: token, sentence and position ids, label."""
    half = TOKENS // 2
    places = " ".join(map(str, range(TOKENS)))
    sentences = " ".join(["0"] * half + ["1"] * (TOKENS - half))
    lines = []
    for _ in range(SEQUENCES):
        words = random.integers(WORDS.start, WORDS.stop, TOKENS - 3).tolist()
        tokens = [CLS, *words[: half - 2], SEP, *words[half - 2 :], SEP]
        lines.append(f"{' '.join(map(str, tokens))};{sentences};{places};1\n")
    for split in ("train", "validation"):
        (folder / split).mkdir(parents=True, exist_ok=True)
        with gzip.GzipFile(folder / split / "random.gz", "wb", mtime=0) as file:
            file.write("".join(lines).encode())
    _describe(folder, sequences=SEQUENCES)


def _mnist(root: Path, random) -> None:
    """As chainer.datasets.get_mnist keeps it in CHAINER_DATASET_ROOT."""
    folder = root / "pfnet" / "chainer" / "mnist"
    folder.mkdir(parents=True, exist_ok=True)
    for split, count in (("train", MNIST_TRAIN), ("test", MNIST_TEST)):
        pixels = random.integers(0, 256, (count, 784), dtype=numpy.uint8)
        numpy.savez_compressed(folder / f"{split}.npz", x=pixels, y=random.integers(0, 10, count, dtype=numpy.uint8))
    _describe(root, images=MNIST_TRAIN)


def _describe(folder: Path, **facts) -> None:
    text = json.dumps({"kind": "random", "seed": SEED, **facts}, indent=1)
    (folder / "evalsuite-dataset.json").write_text(text + "\n")


if __name__ == "__main__":
    sys.exit(main())

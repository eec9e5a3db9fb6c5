"""The images of the workloads on 32×32 images, made by NumPy on the host, as in the TensorFlow workload."""

import cifar10
import common
import numpy


class Pool:
    """Random images that one process holds; each batch is drawn from them, half of it mirrored, between -1 and 1."""

    def __init__(self, batch_size: int, rank: int) -> None:
        self._size = batch_size
        self._chance = numpy.random.default_rng(common.SEED + rank)
        side = cifar10.IMAGE_SIZE
        self._images = self._chance.integers(256, size=(cifar10.POOL, 3, side, side), dtype="uint8")
        self._labels = self._chance.integers(cifar10.CLASSES, size=cifar10.POOL, dtype="int64")

    def next(self) -> tuple[numpy.ndarray, numpy.ndarray]:
        """(images as (image, channel, row, column) in float32, the class of each)."""
        chosen = self._chance.integers(cifar10.POOL, size=self._size)
        images = self._images[chosen].astype("float32") / cifar10.MEAN - 1.0
        images[::2] = images[::2, :, :, ::-1]
        return images, self._labels[chosen]

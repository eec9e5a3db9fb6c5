"""nvidia.dali.ops: what reads and prepares images. Each operator takes and gives the samples of one batch."""

from pathlib import Path
from types import SimpleNamespace

import numpy
from PIL import Image as Picture

from .pipeline import Pipeline


class Batch(list):
    def gpu(self):
        return self


class _File:
    def __init__(self, file_root, shard_id=0, num_shards=1, random_shuffle=False, **kwargs):
        folders = sorted(folder for folder in Path(file_root).iterdir() if folder.is_dir())
        found = [(file, label) for label, folder in enumerate(folders) for file in sorted(folder.iterdir())]
        self.files, self.shuffled, self.rest = found[shard_id::num_shards], random_shuffle, []

    def __call__(self, name):
        pipeline = Pipeline.current
        pipeline.readers[name] = self
        while len(self.rest) < pipeline.batch_size:
            again = list(self.files)
            if self.shuffled:
                pipeline.random.shuffle(again)
            self.rest += again
        taken, self.rest = self.rest[: pipeline.batch_size], self.rest[pipeline.batch_size :]
        return Batch(file for file, _ in taken), Batch(numpy.array([label]) for _, label in taken)


class _Image:
    def __init__(self, **kwargs):
        pass

    def __call__(self, files):
        return Batch(Picture.open(str(file)).convert("RGB") for file in files)


class _ImageRandomCrop(_Image):
    def __init__(self, random_area, random_aspect_ratio, **kwargs):
        self.area, self.ratio = random_area, random_aspect_ratio

    def __call__(self, files):
        return Batch(map(self._cut, super().__call__(files)))

    def _cut(self, image):
        draw = Pipeline.current.random
        pixels, ratio = image.width * image.height * draw.uniform(*self.area), draw.uniform(*self.ratio)
        width = min(image.width, max(1, round((pixels * ratio) ** 0.5)))
        height = min(image.height, max(1, round((pixels / ratio) ** 0.5)))
        left, top = draw.randint(0, image.width - width), draw.randint(0, image.height - height)
        return image.crop((left, top, left + width, top + height))


class Resize:
    def __init__(self, resize_x=None, resize_y=None, resize_shorter=None, interp_type=Picture.BILINEAR, **kwargs):
        self.size, self.shorter, self.kind = (resize_x, resize_y), resize_shorter, interp_type

    def __call__(self, images):
        return Batch(image.resize(self._size(image), self.kind) for image in images)

    def _size(self, image):
        if not self.shorter:
            return self.size
        scale = self.shorter / min(image.size)
        return tuple(max(self.shorter, round(side * scale)) for side in image.size)


class CropMirrorNormalize:
    """The middle of each image, as numbers."""

    def __init__(self, crop, mean, std, dtype, output_layout, pad_output=False, **kwargs):
        self.crop, self.mean, self.std, self.dtype = crop, mean, std, dtype
        self.channels_first, self.padded = output_layout == "CHW", pad_output

    def __call__(self, images, mirror=None):
        return Batch(map(self._numbers, images, mirror or [0] * len(images)))

    def _numbers(self, image, mirrored):
        height, width = self.crop
        left, top = (image.width - width) // 2, (image.height - height) // 2
        pixels = numpy.asarray(image.crop((left, top, left + width, top + height)), dtype="float32")
        pixels = (pixels[:, ::-1] if mirrored else pixels) - numpy.array(self.mean, dtype="float32")
        pixels = pixels / numpy.array(self.std, dtype="float32")
        if self.padded:
            pixels = numpy.pad(pixels, ((0, 0), (0, 0), (0, 1)))
        return (pixels.transpose(2, 0, 1) if self.channels_first else pixels).astype(self.dtype)


class _CoinFlip:
    def __init__(self, probability):
        self.probability = probability

    def __call__(self):
        pipeline = Pipeline.current
        return Batch(pipeline.random.random() < self.probability for _ in range(pipeline.batch_size))


class Cast:
    def __init__(self, dtype, **kwargs):
        self.dtype = dtype

    def __call__(self, batch):
        return Batch(sample.astype(self.dtype) for sample in batch)


readers = SimpleNamespace(File=_File)
decoders = SimpleNamespace(Image=_Image, ImageRandomCrop=_ImageRandomCrop)
random = SimpleNamespace(CoinFlip=_CoinFlip)

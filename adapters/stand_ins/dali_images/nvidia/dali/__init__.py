"""The part of NVIDIA DALI that feeds folders of images, in Pillow and NumPy, a batch at a time."""

from . import backend, fn, ops, pipeline, types

__all__ = ["backend", "fn", "ops", "pipeline", "types"]

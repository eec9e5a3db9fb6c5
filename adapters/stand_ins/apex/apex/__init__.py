"""NVIDIA Apex as far as the official scripts use it, in plain PyTorch and without half precision."""

from . import amp, fp16_utils, multi_tensor_apply, normalization, optimizers, parallel

__all__ = ["amp", "fp16_utils", "multi_tensor_apply", "normalization", "optimizers", "parallel"]

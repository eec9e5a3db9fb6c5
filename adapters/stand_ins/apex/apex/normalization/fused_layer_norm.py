"""Apex's layer norm, which is PyTorch's."""

import torch


class FusedLayerNorm(torch.nn.LayerNorm):
    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, **kwargs):
        torch.nn.LayerNorm.__init__(self, normalized_shape, eps, elementwise_affine)


class MixedFusedLayerNorm(FusedLayerNorm):
    pass


class FusedLayerNormAffineFunction:
    @staticmethod
    def forward(ctx, input, weight, bias, normalized_shape, eps, memory_efficient=False):
        """Asked for its arguments by Megatron-LM; `apply` is what trains."""
        return FusedLayerNormAffineFunction.apply(input, weight, bias, normalized_shape, eps)

    @staticmethod
    def apply(input, weight, bias, normalized_shape, eps=1e-6, memory_efficient=False):
        return torch.nn.functional.layer_norm(input, tuple(normalized_shape), weight, bias, eps)

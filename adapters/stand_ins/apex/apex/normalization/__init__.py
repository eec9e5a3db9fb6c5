"""apex.normalization."""

from .fused_layer_norm import FusedLayerNorm, FusedLayerNormAffineFunction, MixedFusedLayerNorm

__all__ = ["FusedLayerNorm", "FusedLayerNormAffineFunction", "MixedFusedLayerNorm"]

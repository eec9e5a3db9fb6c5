"""The names of NVIDIA DALI that scripts import whatever data they train on; no pipeline can be made."""

from . import fn, ops, pipeline, types

__all__ = ["fn", "ops", "pipeline", "types"]

"""nvidia.dali.fn"""

from .names import any_name as __getattr__

__all__ = ["__getattr__"]

"""nvidia.dali.ops"""

from .names import any_name as __getattr__

__all__ = ["__getattr__"]

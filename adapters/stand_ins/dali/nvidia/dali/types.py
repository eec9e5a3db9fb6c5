"""nvidia.dali.types"""

from .names import constant_or_name as __getattr__

__all__ = ["__getattr__"]

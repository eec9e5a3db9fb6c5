"""nvidia.dali.plugin.tf"""

from ..names import any_name as __getattr__

__all__ = ["__getattr__"]

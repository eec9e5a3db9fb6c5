"""nvidia.dali.plugin.pytorch"""

from ..names import Name


class DALIGenericIterator(Name):
    pass


class DALIClassificationIterator(DALIGenericIterator):
    pass

"""nvidia.dali.plugin.mxnet"""

from ..names import Name


class DALIGenericIterator(Name):
    pass


class DALIClassificationIterator(DALIGenericIterator):
    pass

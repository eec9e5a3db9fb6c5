"""nvidia.dali.pipeline"""

from .names import Name


class Pipeline(Name):
    pass


def pipeline_def(function=None, **kwargs):
    return Name if function else pipeline_def

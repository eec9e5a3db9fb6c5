"""Lets a CPU build of PyTorch import a torchvision that was built for CUDA.

Package indexes answer with such pairs where the CPU wheel of PyTorch lies on an index of its own. torchvision
then cannot load its library of detection operators and stops at `operator torchvision::nms does not exist`.
Declaring the two names that it looks for is enough for everything but detection, and leaves the training
script as it is. Nothing happens where the two builds match.
"""

import importlib.abc
import importlib.util
import sys
from pathlib import Path

SCHEMA = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
_libraries = []  # a torch.library.Library lives as long as somebody holds it


class _BeforeTorchvision(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "torchvision":
            sys.meta_path.remove(self)
            _declare(importlib.util.find_spec("torchvision"))
        return None


def _declare(torchvision) -> None:
    import torch

    if torchvision is None or torch.version.cuda is not None or not _built_for_cuda(torchvision):
        return
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(name + SCHEMA)
    _libraries.append(library)


def _built_for_cuda(torchvision) -> bool:
    version = Path(torchvision.origin).with_name("version.py")
    return version.is_file() and "+cu" in version.read_text()  # __version__ = '0.28.0+cu130'


sys.meta_path.insert(0, _BeforeTorchvision())

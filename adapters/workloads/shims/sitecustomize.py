"""Lets a CPU build of PyTorch import a torchvision and a torchaudio that were built for CUDA.

Package indexes answer with such pairs where the CPU wheel of PyTorch lies on an index of its own. torchvision
then cannot load its library of detection operators and stops at `operator torchvision::nms does not exist`.
Declaring the two names that it looks for is enough for everything but detection, and leaves the training
script as it is. Of torchaudio, which some scripts import and train without, there is then the name alone. Nothing
happens where the builds match.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from pathlib import Path

SCHEMA = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
# a torch.library.Library lives as long as somebody holds it; an environment may hold a copy of this module
_libraries = vars(sys).setdefault("_evalsuite_libraries", [])


class _Before(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name not in ("torchvision", "torchaudio"):
            return None
        sys.meta_path.remove(self)
        unlike = _unlike(importlib.util.find_spec(name))
        sys.meta_path.insert(0, self)
        if unlike and name == "torchaudio":
            return importlib.machinery.ModuleSpec(name, self)
        if unlike and not _libraries:
            _declare()
        return None

    def exec_module(self, module):
        """There is the name alone."""


def _unlike(found) -> bool:
    import torch

    version = Path(found.origin).with_name("version.py") if found and torch.version.cuda is None else None
    return version is not None and version.is_file() and "+cu" in version.read_text()  # __version__ = '0.28.0+cu130'


def _declare() -> None:
    import torch

    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(name + SCHEMA)
    _libraries.append(library)


sys.meta_path.insert(0, _Before())

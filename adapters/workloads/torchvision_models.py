"""torchvision's models, also where torchvision cannot load its operators."""

import sys

import torch


def models():
    """torchvision.models, also where torchvision is a CUDA build beside a CPU build of torch.

    Such a torchvision cannot load its operators, and its import then stops at `operator torchvision::nms does
    not exist` (torchvision/_meta_registrations.py, 0.28.0) although no classification model needs them.
    """
    try:
        from torchvision import models
    except RuntimeError as error:
        if "torchvision::" not in str(error):
            raise
        for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
            del sys.modules[name]
        global _operators  # the operators live as long as this object
        _operators = torch.library.Library("torchvision", "DEF")
        for operator in ("nms", "qnms"):
            _operators.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        from torchvision import models
    return models

"""Lets programs of Paddle 1.8 for GPUs train on a CPU, which is as many places as devices are visible."""

import os

from after_import import after_import

VISIBLE = os.environ.get("CUDA_VISIBLE_DEVICES")
DEVICES = int(os.environ.get("EVALSUITE_STAND_IN_DEVICES", "1")) if VISIBLE is None else len(VISIBLE.split(","))
os.environ["CPU_NUM"] = str(DEVICES)


def _stand_in_core(core):
    class CUDAPlace:
        def __new__(cls, number=0):
            return core.CPUPlace()

    core.CUDAPlace = CUDAPlace
    core.get_cuda_device_count = lambda: DEVICES


def _stand_in_framework(framework):
    framework.cuda_places = framework.cpu_places
    framework.is_compiled_with_cuda = lambda: True


after_import("paddle.fluid.core", _stand_in_core)
after_import("paddle.fluid.framework", _stand_in_framework)

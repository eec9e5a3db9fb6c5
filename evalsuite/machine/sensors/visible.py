"""Which devices a program sees, by its vendor's variable."""

from collections.abc import Sequence

from evalsuite.core.decode import whole
from evalsuite.core.documents import Gpu


def visible(gpus: Sequence[Gpu], devices: str | None) -> list[Gpu]:
    """Those of *gpus* that CUDA_VISIBLE_DEVICES=*devices* shows, in the program's order.

    The list ends at the first entry that names no device: docs.nvidia.com/cuda/cuda-c-programming-guide, "CUDA
    Environment Variables".
    """
    if devices is None:
        return list(gpus)
    shown: list[Gpu] = []
    for entry in devices.split(","):
        gpu_named = next((gpu for gpu in gpus if _is(gpu, entry.strip())), None)
        if gpu_named is None:
            break
        shown.append(gpu_named)
    return shown


def _is(gpu: Gpu, entry: str) -> bool:
    return gpu.index == whole(entry) or (entry.startswith("GPU-") and (gpu.uuid or "").startswith(entry))

"""What a sensor of accelerators is: one class a vendor."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evalsuite.core.decode import whole
from evalsuite.core.documents import Gpu
from evalsuite.runs.samples import GpuReading


@dataclass(frozen=True, kw_only=True)
class DeviceProcess:
    """A program on an accelerator. None: the driver or the machine does not say it."""

    device: int
    pid: int
    name: str | None = None
    memory_bytes: int | None = None


UUIDS = ("GPU-", "MIG-")  # how they begin: of a device, and of a slice of one


class Sensor:
    """The accelerators of one vendor; as it stands, of a machine without any. See docs/adding-a-framework.md."""

    kind: Literal["gpu", "npu"] | None = None
    slow_period_s: float | None = None  # between two readings of what is too slow for each

    def __len__(self) -> int:
        return len(self.facts())

    def facts(self) -> Sequence[Gpu]:
        """What each device is; () where the vendor's library or driver is not here."""
        return ()

    def reading(self) -> Sequence[GpuReading]:
        """Of each device, in a few milliseconds; what it cannot say is None."""
        return ()

    def visible(self, gpus: Sequence[Gpu], environment: Mapping[str, str]) -> Sequence[Gpu]:
        """Those of *gpus* that a program with these variables sees, in its order."""
        return gpus

    def processes(self) -> Sequence[DeviceProcess] | None:
        """On any device, of all users; None where the vendor does not tell."""
        return None

    def versions(self) -> Mapping[str, str | None]:
        """`driver`, and `toolkit`: the newest that it serves."""
        return {}

    def close(self) -> None:
        """Ends what reads in another thread or process."""


def visible(gpus: Sequence[Gpu], devices: str | None) -> list[Gpu]:
    """Those of *gpus* that CUDA_VISIBLE_DEVICES=*devices* shows, in the program's order.

    The list ends at the first entry that names no device: docs.nvidia.com/cuda/cuda-c-programming-guide, "CUDA
    Environment Variables".
    """
    if devices is None:
        return list(gpus)
    shown: list[Gpu] = []
    for entry in devices.split(","):
        name = entry.strip()
        by_uuid = [gpu for gpu in gpus if name.startswith(UUIDS) and (gpu.uuid or "").startswith(name)]
        gpu_named = next((gpu for gpu in gpus if gpu.index == whole(name) or gpu in by_uuid), None)
        if gpu_named is None:
            break
        shown.append(gpu_named)
    return shown

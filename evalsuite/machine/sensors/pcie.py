"""PCIe traffic of NVIDIA devices, read on a thread: NVML takes 20 ms an answer (docs.nvidia.com/deploy/nvml-api,
nvmlDeviceGetPcieThroughput)."""

import threading
import time
from collections.abc import Sequence
from typing import Any

from evalsuite.machine.sensors import nvml

KIBIBYTE = 1024
PCIE_QUESTION_S = 0.02
PCIE_PERIOD_S = 0.5


def period_s(devices: int) -> float:
    """Seconds between two readings of a device: both ways on every device in between."""
    return max(PCIE_PERIOD_S, 2.5 * PCIE_QUESTION_S * devices)


class PcieMeter:
    def __init__(self, handles: Sequence[Any], period_s: float) -> None:
        self._period_s = period_s
        self._handles = dict(enumerate(handles))
        self._latest: dict[int, tuple[int | None, int | None]] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._measure, name="pcie", daemon=True)
        self._thread.start()

    def take(self) -> dict[int, tuple[int | None, int | None]]:
        """Index → (received, sent) bytes per second; each measurement is given once."""
        with self._lock:
            latest, self._latest = self._latest, {}
        return latest

    def close(self) -> None:
        self._closed.set()
        self._thread.join(1.0)

    def _measure(self) -> None:
        while self._handles and not self._closed.is_set():
            began = time.monotonic()
            for index, handle in list(self._handles.items()):
                traffic = _throughput(handle, "RX"), _throughput(handle, "TX")
                if traffic == (None, None):
                    del self._handles[index]  # this device does not support it
                with self._lock:
                    self._latest[index] = traffic
            self._closed.wait(max(0.0, began + self._period_s - time.monotonic()))


def _throughput(handle: Any, way: str) -> int | None:
    kilobytes = nvml.ask("nvmlDeviceGetPcieThroughput", handle, nvml.constant(f"NVML_PCIE_UTIL_{way}_BYTES"))
    return None if kilobytes is None else int(kilobytes) * KIBIBYTE

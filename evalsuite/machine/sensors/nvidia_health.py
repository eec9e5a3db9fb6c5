"""Clock limits, memory errors and driver errors of NVIDIA devices."""

import ctypes
import time
from collections.abc import Sequence
from typing import Any

from evalsuite.machine.sensors import nvml

XID = "nvmlEventTypeXidCriticalError"
MOST_EVENTS = 100
ERRORS_PERIOD_S = 5.0  # slow to read on some boards


class Health:
    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._asked_s = -ERRORS_PERIOD_S

    def clock_limits(self) -> int | None:
        """A bit a reason: nvml.h, nvmlClocksEventReason… (1: idle)."""
        reasons: int | None = nvml.ask("nvmlDeviceGetCurrentClocksEventReasons", self._handle)  # since driver 535
        if reasons is None:
            reasons = nvml.ask("nvmlDeviceGetCurrentClocksThrottleReasons", self._handle)
        return reasons

    def memory_errors(self) -> tuple[int | None, int | None]:
        """Bits corrected and not corrected by ECC since the driver was loaded; every few seconds."""
        if time.monotonic() - self._asked_s < ERRORS_PERIOD_S:
            return None, None
        self._asked_s = time.monotonic()
        counter = nvml.constant("NVML_VOLATILE_ECC")
        corrected, uncorrected = (
            nvml.ask("nvmlDeviceGetTotalEccErrors", self._handle, nvml.constant(name), counter)
            for name in ("NVML_MEMORY_ERROR_TYPE_CORRECTED", "NVML_MEMORY_ERROR_TYPE_UNCORRECTED")
        )
        return corrected, uncorrected


class Xids:
    """Critical errors that the driver reports (docs.nvidia.com/deploy/xid-errors)."""

    def __init__(self, handles: Sequence[Any]) -> None:
        self._set = nvml.ask("nvmlEventSetCreate")
        self._index = {_address(handle): index for index, handle in enumerate(handles)}
        self._count = {
            index: 0
            for index, handle in enumerate(handles)
            if self._set is not None and nvml.call("nvmlDeviceRegisterEvents", handle, nvml.constant(XID), self._set)
        }

    def count(self) -> dict[int, int]:
        """Index → errors since the run began; without devices that do not report them."""
        for _ in range(MOST_EVENTS if self._count else 0):
            event = nvml.ask("nvmlEventSetWait", self._set, 0)  # None: no event is left
            if event is None:
                break
            index = self._index.get(_address(event.device))
            if index in self._count and event.eventType == nvml.constant(XID):
                self._count[index] += 1
        return dict(self._count)

    def close(self) -> None:
        if self._set is not None:
            nvml.call("nvmlEventSetFree", self._set)
            self._set, self._count = None, {}


def _address(handle: Any) -> int | None:
    return ctypes.cast(handle, ctypes.c_void_p).value

"""What NVIDIA's devices count and buffer between two readings: samples, errors, profile (NVML's GPM, on Hopper and
newer), and PCIe traffic, on a thread since NVML takes 20 ms an answer (docs.nvidia.com/deploy/nvml-api,
nvmlDeviceGetPcieThroughput)."""

import ctypes
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalsuite.machine.sensors import nvml

# nvmlValueType_t → the member of the union that holds the value (nvml.h)
MEMBERS = {0: "dVal", 1: "uiVal", 2: "ulVal", 3: "ullVal", 4: "sllVal", 5: "siVal", 6: "usVal"}


@dataclass(frozen=True, kw_only=True)
class Taken:
    """Since the reading before; None where there is no new sample."""

    mean: float | None = None
    least: float | None = None
    most: float | None = None


class Buffer:
    def __init__(self, handle: Any, name: str, scale: float = 1.0) -> None:
        self._handle = handle
        self._kind = nvml.constant(name) if nvml.trouble() is None else None
        self._scale = scale
        self._seen_us = 0
        self._begun = False

    def take(self) -> Taken:
        """The samples since the last call. The first call gives none: those are from before the run."""
        known = self._kind is not None
        answer = nvml.ask("nvmlDeviceGetSamples", self._handle, self._kind, self._seen_us) if known else None
        if answer is None:
            return Taken()
        member = MEMBERS.get(answer[0])
        new = [sample for sample in answer[1] if sample.timeStamp > self._seen_us]
        if member is None or not new:
            return Taken()
        self._seen_us = max(sample.timeStamp for sample in new)
        begun, self._begun = self._begun, True
        values = [getattr(sample.sampleValue, member) * self._scale for sample in new]
        return Taken(mean=sum(values) / len(values), least=min(values), most=max(values)) if begun else Taken()


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


METRICS = (
    "NVML_GPM_METRIC_SM_UTIL",  # percent of the multiprocessors with work
    "NVML_GPM_METRIC_SM_OCCUPANCY",  # percent of the warps that they could hold
    "NVML_GPM_METRIC_ANY_TENSOR_UTIL",  # percent of the time that the tensor cores were busy
    "NVML_GPM_METRIC_DRAM_BW_UTIL",  # percent of the memory's bandwidth
)


class Profile:
    """Two samples of one device's counters; each in turn is the newer."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        support = nvml.ask("nvmlGpmQueryDeviceSupport", handle)
        self._samples: list[Any] = []
        self._metrics = {name: number for name in METRICS if (number := nvml.constant(name)) is not None}
        if support is not None and support.isSupportedDevice:
            samples = [nvml.ask("nvmlGpmSampleAlloc") for _ in range(2)]
            self._samples = samples if None not in samples else []
        self._read = 0

    def take(self) -> Mapping[str, float]:
        """Metric → its value since the last call; empty at the first, and where the device has none."""
        if not self._samples:
            return {}
        older, newer = self._samples[(self._read + 1) % 2], self._samples[self._read % 2]
        if not nvml.call("nvmlGpmSampleGet", self._handle, newer):
            return {}
        self._read += 1
        return self._between(older, newer) if self._read > 1 else {}

    def close(self) -> None:
        for sample in self._samples:
            nvml.call("nvmlGpmSampleFree", sample)
        self._samples = []

    def _between(self, older: Any, newer: Any) -> dict[str, float]:
        import pynvml

        question = pynvml.c_nvmlGpmMetricsGet_t()
        question.version = pynvml.NVML_GPM_METRICS_GET_VERSION
        question.sample1, question.sample2 = older, newer
        question.numMetrics = len(self._metrics)
        for place, number in enumerate(self._metrics.values()):
            question.metrics[place].metricId = number
        answer = nvml.ask("nvmlGpmMetricsGet", question)
        if answer is None:
            return {}
        answered = zip(self._metrics, answer.metrics, strict=False)
        return {name: metric.value for name, metric in answered if metric.nvmlReturn == 0}


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

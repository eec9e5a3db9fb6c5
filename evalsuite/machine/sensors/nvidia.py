"""NVIDIA's devices, by NVML: what each is, reads, counts and buffers. What a driver or device does not support is None.

Profiles are NVML's GPM, on Hopper and newer. PCIe traffic is read on a thread, since NVML takes 20 ms an answer
(docs.nvidia.com/deploy/nvml-api, nvmlDeviceGetPcieThroughput).
"""

import ctypes
import functools
import statistics
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evalsuite.core.documents import Gpu
from evalsuite.core.messages import Message
from evalsuite.machine.sensors.sensor import DeviceProcess, Sensor, visible
from evalsuite.runs.samples import GpuReading

KIBIBYTE = 1024
ALL_LINKS = 0xFFFFFFFF  # the sum of all (nvml.h, NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX)
PCIE_QUESTION_S, PCIE_PERIOD_S = 0.02, 0.5
PROFILE_PERIOD_S = 0.1  # at least between two of its samples (NVML, nvmlGpmMetricsGet)
MOST_PROCESSES = 256  # on a device
ERRORS_PERIOD_S = 5.0  # slow to read on some boards
UNSAID = -1  # NVML_VALUE_NOT_AVAILABLE


class Nvidia(Sensor):
    kind = "gpu"

    def __init__(self) -> None:
        self._devices = _devices()
        self._pcie: PcieMeter | None = None
        self._xids: Xids | None = None
        both_ways_s = 2.5 * PCIE_QUESTION_S * len(self._devices)
        self.slow_period_s = max(PCIE_PERIOD_S, both_ways_s) if self._devices else None

    def facts(self) -> list[Gpu]:
        return [device.facts() for device in self._devices]

    def reading(self) -> list[GpuReading]:
        if self._devices and (self._pcie is None or self._xids is None):
            handles = {device.index: device.handle for device in self._devices if device.slice_of is None}
            self._pcie = PcieMeter(handles, self.slow_period_s or PCIE_PERIOD_S)
            self._xids = Xids(handles)
        traffic = self._pcie.take() if self._pcie else {}
        xids = self._xids.count() if self._xids else {}
        return [
            device.reading(traffic.get(device.index, (None, None)), xids.get(device.index)) for device in self._devices
        ]

    def visible(self, gpus: Sequence[Gpu], environment: Mapping[str, str]) -> list[Gpu]:
        return visible(gpus, environment.get("CUDA_VISIBLE_DEVICES"))

    def processes(self) -> list[DeviceProcess] | None:
        lists = {device.index: _running(device.handle) for device in self._devices}
        if all(running is None for running in lists.values()):
            return None
        return [
            DeviceProcess(
                device=index,
                pid=process.pid,
                memory_bytes=None if process.usedGpuMemory == UNSAID else process.usedGpuMemory,
            )
            for index, running in lists.items()
            for process in running or ()
        ]

    def versions(self) -> Mapping[str, str | None]:
        cuda = ask("nvmlSystemGetCudaDriverVersion")
        return {
            "driver": ask("nvmlSystemGetDriverVersion"),
            "toolkit": None if cuda is None else f"{cuda // 1000}.{cuda % 1000 // 10}",
        }

    def close(self) -> None:
        if self._pcie:
            self._pcie.close()
        if self._xids:
            self._xids.close()
        for device in self._devices:
            device.profile.close()


class _Device:
    """*slice_of*: the device of which this is a slice (MIG); what belongs to the whole is not read of a slice."""

    def __init__(self, index: int, handle: Any, slice_of: Any = None) -> None:
        self.index = index
        self.handle = handle
        self.slice_of = slice_of
        self.busy = Buffer(handle)
        self.errors_asked_s = -ERRORS_PERIOD_S
        self.profile = Profile(handle, slice_of)

    def facts(self) -> Gpu:
        memory = _memory(self.handle)
        sliced = self.slice_of is not None
        whole = self.slice_of if sliced else self.handle
        name = ask("nvmlDeviceGetName", self.handle) or ask("nvmlDeviceGetName", whole)
        capability = ask("nvmlDeviceGetCudaComputeCapability", whole)
        limit = None if sliced else ask("nvmlDeviceGetEnforcedPowerLimit", whole)
        return Gpu(
            index=self.index,
            kind="gpu",
            vendor="NVIDIA",
            uuid=ask("nvmlDeviceGetUUID", self.handle),
            name=f"{name} MIG" if sliced and "MIG" not in (name or "") else name,
            memory_total_bytes=memory.total if memory else None,
            power_limit_w=_scaled(limit, 1e-3),
            compute_capability=f"{capability[0]}.{capability[1]}" if capability else None,
        )

    def reading(self, traffic: tuple[int | None, int | None], xids: int | None) -> GpuReading:
        handle = self.handle
        memory, profile = _memory(handle), self.profile.take()
        own = GpuReading(
            index=self.index,
            memory_used_bytes=memory.used if memory else None,
            tensor_active_percent=profile.get("NVML_GPM_METRIC_ANY_TENSOR_UTIL"),
            memory_bandwidth_percent=profile.get("NVML_GPM_METRIC_DRAM_BW_UTIL"),
        )
        if self.slice_of is not None:
            return replace(own, utilisation_percent=profile.get("NVML_GPM_METRIC_GRAPHICS_UTIL"))
        now = ask("nvmlDeviceGetUtilizationRates", handle)
        links = _links(handle)
        mean, samples = self.busy.take()
        reasons = ask("nvmlDeviceGetCurrentClocksEventReasons", handle)  # since driver 535
        if reasons is None:
            reasons = ask("nvmlDeviceGetCurrentClocksThrottleReasons", handle)
        return replace(
            own,
            utilisation_percent=now.gpu if now else None,
            utilisation_mean_percent=mean,
            utilisation_samples=samples,
            power_w=_scaled(ask("nvmlDeviceGetPowerUsage", handle), 1e-3),
            energy_j=_scaled(ask("nvmlDeviceGetTotalEnergyConsumption", handle), 1e-3),  # since Volta
            temperature_c=ask("nvmlDeviceGetTemperature", handle, constant("NVML_TEMPERATURE_GPU")),
            sm_clock_mhz=ask("nvmlDeviceGetClockInfo", handle, constant("NVML_CLOCK_SM")),
            memory_clock_mhz=ask("nvmlDeviceGetClockInfo", handle, constant("NVML_CLOCK_MEM")),
            pcie_received_bytes_per_s=traffic[0],
            pcie_sent_bytes_per_s=traffic[1],
            link_received_bytes=links[0],
            link_sent_bytes=links[1],
            clock_limits=reasons,
            memory_errors_uncorrected=self._memory_errors(),
            driver_errors=xids,
        )

    def _memory_errors(self) -> int | None:
        """Bits not corrected by ECC since the driver was loaded; every few seconds."""
        if time.monotonic() - self.errors_asked_s < ERRORS_PERIOD_S:
            return None
        self.errors_asked_s = time.monotonic()
        kind, counter = constant("NVML_MEMORY_ERROR_TYPE_UNCORRECTED"), constant("NVML_VOLATILE_ECC")
        errors: int | None = ask("nvmlDeviceGetTotalEccErrors", self.handle, kind, counter)
        return errors


def _devices() -> list[_Device]:
    """Numbered as those that may be used are, which is what CUDA does; slices follow, so that they shift no number."""
    handles = _handles()
    sliced = {index: found for index, handle in enumerate(handles) if (found := _slices(handle)) is not None}
    slices = [(each, handles[index]) for index, found in sliced.items() for each in found]
    return [
        *(_Device(index, handle) for index, handle in enumerate(handles) if index not in sliced),
        *(_Device(len(handles) + place, *each) for place, each in enumerate(slices)),
    ]


def _slices(handle: Any) -> list[Any] | None:
    """Of a device that is cut into slices (MIG); None: it is whole."""
    mode = ask("nvmlDeviceGetMigMode", handle)  # now, and after the next reset
    if not mode or not mode[0]:
        return None
    most = ask("nvmlDeviceGetMaxMigDeviceCount", handle) or 0
    slices = [ask("nvmlDeviceGetMigDeviceHandleByIndex", handle, place) for place in range(most)]
    return [each for each in slices if each is not None]


def _handles() -> list[Any]:
    count = ask("nvmlDeviceGetCount") or 0
    handles = [ask("nvmlDeviceGetHandleByIndex", index) for index in range(count)]
    return [handle for handle in handles if handle is not None]


class _Process(ctypes.Structure):
    """nvmlProcessInfo_v1_t; its memory, unsigned there, is read with a sign for UNSAID."""

    _fields_ = (("pid", ctypes.c_uint), ("usedGpuMemory", ctypes.c_longlong))


def _running(handle: Any) -> Any:
    """Programs with a CUDA context, by the newest question that the driver knows: 440 has the one without a version."""
    for version in ("_v3", "_v2"):
        if (running := ask(f"nvmlDeviceGetComputeRunningProcesses{version}", handle)) is not None:
            return running
    count, found = ctypes.c_uint(MOST_PROCESSES), (_Process * MOST_PROCESSES)()
    question = symbol("nvmlDeviceGetComputeRunningProcesses")
    answered = question is not None and question(handle, ctypes.byref(count), found) == 0
    return found[: count.value] if answered else None


def _memory(handle: Any) -> Any:
    """Version 2 does not count the driver's own memory as used, like nvidia-smi."""
    newer = ask("nvmlDeviceGetMemoryInfo", handle, version=constant("nvmlMemory_v2"))
    return newer or ask("nvmlDeviceGetMemoryInfo", handle)


def _links(handle: Any) -> tuple[int | None, int | None]:
    """Bytes received and sent over NVLink since the driver was loaded, all links together."""
    fields = [(constant(f"NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_{way}"), ALL_LINKS) for way in ("RX", "TX")]
    values = ask("nvmlDeviceGetFieldValues", handle, fields)
    if values is None:
        return None, None
    received, sent = (value.value.ullVal * KIBIBYTE if value.nvmlReturn == 0 else None for value in values)
    return received, sent


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


@dataclass(frozen=True, kw_only=True)
class DeviceSettings:
    """None: the driver or the device does not say."""

    index: int
    pci: str | None = None  # as /sys names it: "0000:1a:00.0"
    slices: int | None = None  # that it is cut into (MIG); None: it is whole
    persistent: bool | None = None
    sm_clock_mhz: tuple[float | None, float | None] = (None, None)  # application clock, and its default
    power_limit_w: tuple[float | None, float | None] = (None, None)  # and its default


def settings() -> list[DeviceSettings]:
    """How the devices are set before a run, and where they are on the PCI bus."""
    return [_settings(index, handle) for index, handle in enumerate(_handles())]


def _settings(index: int, handle: object) -> DeviceSettings:
    bus, mode = ask("nvmlDeviceGetPciInfo", handle), ask("nvmlDeviceGetPersistenceMode", handle)
    clock, slices = constant("NVML_CLOCK_SM"), _slices(handle)
    watts = [ask(f"nvmlDeviceGetPowerManagement{kind}Limit", handle) for kind in ("", "Default")]
    now, default = (None if value is None else value / 1000 for value in watts)
    return DeviceSettings(
        index=index,
        pci=bus.busId[-len("0000:1a:00.0") :].lower() if bus else None,  # 00000000:1A:00.0
        slices=None if slices is None else len(slices),
        persistent=None if mode is None else bool(mode),
        sm_clock_mhz=tuple(ask(f"nvmlDeviceGet{of}ApplicationsClock", handle, clock) for of in ("", "Default")),
        power_limit_w=(now, default),
    )


HOLDS_S = 1.0  # NVML: a device samples its utilisation every second at the latest (nvmlUtilization_t)


class Buffer:
    """The utilisation that a device itself samples, several times a second."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._seen_us = 0
        self._new_s: float | None = None
        self._last = 0.0

    def take(self) -> tuple[float | None, int | None]:
        """Mean and number of the samples since the last call; the newest holds until the next. First: (None, None)."""
        known = ask("nvmlDeviceGetSamples", self._handle, constant("NVML_GPU_UTILIZATION_SAMPLES"), self._seen_us)
        _, found = known or (None, ())  # none is an error as well; percents are unsigned integers
        new = {each.timeStamp: each.sampleValue.uiVal for each in found if each.timeStamp > self._seen_us}
        before_s, now_s = self._new_s, time.monotonic()
        if new:
            self._seen_us, self._new_s, self._last = max(new), now_s, new[max(new)]
        elif before_s is not None and now_s - before_s <= HOLDS_S:
            return self._last, 0
        return (statistics.fmean(new.values()), len(new)) if new and before_s is not None else (None, None)


XID = "nvmlEventTypeXidCriticalError"
MOST_EVENTS = 100


class Xids:
    """Critical errors that the driver reports (docs.nvidia.com/deploy/xid-errors)."""

    def __init__(self, handles: Mapping[int, Any]) -> None:
        self._set = ask("nvmlEventSetCreate")
        self._index = {_address(handle): index for index, handle in handles.items()}
        self._count = {
            index: 0
            for index, handle in handles.items()
            if self._set is not None
            and symbol("nvmlEventSetWait_v2")
            and call("nvmlDeviceRegisterEvents", handle, constant(XID), self._set)
        }

    def count(self) -> dict[int, int]:
        """Index → errors since the run began; without devices that do not report them."""
        for _ in range(MOST_EVENTS if self._count else 0):
            event = ask("nvmlEventSetWait", self._set, 0)  # None: no event is left
            if event is None:
                break
            index = self._index.get(_address(event.device))
            if index in self._count and event.eventType == constant(XID):
                self._count[index] += 1
        return dict(self._count)

    def close(self) -> None:
        if self._set is not None:
            call("nvmlEventSetFree", self._set)
            self._set, self._count = None, {}


def _address(handle: Any) -> int | None:
    return ctypes.cast(handle, ctypes.c_void_p).value


METRICS = (
    "NVML_GPM_METRIC_GRAPHICS_UTIL",  # percent of the time that something ran: of a slice nothing else tells it
    "NVML_GPM_METRIC_ANY_TENSOR_UTIL",  # percent of the time that the tensor cores were busy
    "NVML_GPM_METRIC_DRAM_BW_UTIL",  # percent of the memory's bandwidth
)


class Profile:
    """Two samples of one device's counters; each in turn is the newer."""

    def __init__(self, handle: Any, slice_of: Any = None) -> None:
        whole = handle if slice_of is None else slice_of
        instance = None if slice_of is None else ask("nvmlDeviceGetGpuInstanceId", handle)
        self._question = ("nvmlGpmSampleGet", whole) if slice_of is None else ("nvmlGpmMigSampleGet", whole, instance)
        support = None if None in self._question else ask("nvmlGpmQueryDeviceSupport", whole)
        self._samples: list[Any] = []
        self._metrics = {name: number for name in METRICS if (number := constant(name)) is not None}
        if support is not None and support.isSupportedDevice:
            samples = [ask("nvmlGpmSampleAlloc") for _ in range(2)]
            self._samples = samples if None not in samples else []
        self._read, self._read_s = 0, -PROFILE_PERIOD_S
        self._latest: Mapping[str, float] = {}

    def take(self) -> Mapping[str, float]:
        """Metric → its value since the last call; empty at the first, and where the device has none."""
        if not self._samples or time.monotonic() - self._read_s < PROFILE_PERIOD_S:
            return self._latest
        older, newer = self._samples[(self._read + 1) % 2], self._samples[self._read % 2]
        if not call(*self._question, newer):
            return {}
        self._read, self._read_s = self._read + 1, time.monotonic()
        self._latest = self._between(older, newer) if self._read > 1 else {}
        return self._latest

    def close(self) -> None:
        for sample in self._samples:
            call("nvmlGpmSampleFree", sample)
        self._samples = []

    def _between(self, older: Any, newer: Any) -> dict[str, float]:
        import pynvml

        question = pynvml.c_nvmlGpmMetricsGet_t()
        question.version = pynvml.NVML_GPM_METRICS_GET_VERSION
        question.sample1, question.sample2 = older, newer
        question.numMetrics = len(self._metrics)
        for place, number in enumerate(self._metrics.values()):
            question.metrics[place].metricId = number
        answer = ask("nvmlGpmMetricsGet", question)
        if answer is None:
            return {}
        answered = zip(self._metrics, answer.metrics, strict=False)
        return {name: metric.value for name, metric in answered if metric.nvmlReturn == 0}


class PcieMeter:
    def __init__(self, handles: Mapping[int, Any], period_s: float) -> None:
        self._period_s = period_s
        self._handles = dict(handles)
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
    kilobytes = ask("nvmlDeviceGetPcieThroughput", handle, constant(f"NVML_PCIE_UTIL_{way}_BYTES"))
    return None if kilobytes is None else int(kilobytes) * KIBIBYTE


@functools.cache  # not of what it raises: a driver may wake late
def _start() -> None:
    import pynvml

    pynvml.nvmlInit()


def trouble() -> str | None:
    """Why NVML gives nothing; None if it answers."""
    try:
        _start()
    except ImportError:
        return Message("machine.nvml_absent")
    except Exception as error:
        return str(error)
    return None


def ask(name: str, *arguments: Any, **named: Any) -> Any:
    """What NVML answers; None where package, library, driver or device cannot say."""
    answered, answer = _answer(name, *arguments, **named)
    return answer if answered else None


def call(name: str, *arguments: Any) -> bool:
    return _answer(name, *arguments)[0]


def _answer(name: str, *arguments: Any, **named: Any) -> tuple[bool, Any]:
    try:
        _start()
        return True, constant(name)(*arguments, **named)
    except Exception:  # also of ctypes, and of a name that is no text: no training ends for what a driver lacks
        return False, None


def symbol(name: str) -> Any:
    """A function of the driver's own library; None where it has none of this name."""
    return getattr(constant("nvmlLib"), name, None)


def constant(name: str) -> Any:
    try:
        import pynvml
    except ImportError:
        return None
    return getattr(pynvml, name, None)

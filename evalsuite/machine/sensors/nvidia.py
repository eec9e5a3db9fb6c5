"""NVIDIA's devices, by NVML. What a driver or device does not support is None."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalsuite.core.documents import Gpu
from evalsuite.machine.sensors import nvml
from evalsuite.machine.sensors.nvidia_counters import KIBIBYTE, Buffer, Health, PcieMeter, Profile, Xids, period_s
from evalsuite.machine.sensors.sensor import DeviceProcess, Sensor, visible
from evalsuite.runs.samples import GpuReading

ALL_LINKS = 0xFFFFFFFF  # the sum of all (nvml.h, NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX)
COMPUTING = "nvmlDeviceGetComputeRunningProcesses"  # programs with a CUDA context


class Nvidia(Sensor):
    kind = "gpu"

    def __init__(self) -> None:
        self._devices = [_Device(index, handle) for index, handle in enumerate(_handles())]
        self._pcie: PcieMeter | None = None
        self._xids: Xids | None = None
        self.slow_period_s = period_s(len(self._devices)) if self._devices else None

    def __len__(self) -> int:
        return len(self._devices)

    def facts(self) -> list[Gpu]:
        return [device.facts() for device in self._devices]

    def reading(self) -> list[GpuReading]:
        if self._devices and (self._pcie is None or self._xids is None):
            handles = [device.handle for device in self._devices]
            self._pcie = PcieMeter(handles, period_s(len(handles)))
            self._xids = Xids(handles)
        traffic = self._pcie.take() if self._pcie else {}
        xids = self._xids.count() if self._xids else {}
        return [
            device.reading(traffic.get(device.index, (None, None)), xids.get(device.index)) for device in self._devices
        ]

    def visible(self, gpus: Sequence[Gpu], environment: Mapping[str, str]) -> list[Gpu]:
        return visible(gpus, environment.get("CUDA_VISIBLE_DEVICES"))

    def processes(self) -> list[DeviceProcess] | None:
        lists = []
        for device in self._devices:  # without a version older drivers raise something else than NVMLError
            running = nvml.ask(f"{COMPUTING}_v3", device.handle)
            lists.append((device.index, nvml.ask(f"{COMPUTING}_v2", device.handle) if running is None else running))
        if all(running is None for _, running in lists):
            return None
        return [
            DeviceProcess(device=index, pid=process.pid, memory_bytes=process.usedGpuMemory)
            for index, running in lists
            for process in running or ()
        ]

    def versions(self) -> Mapping[str, str | None]:
        cuda = nvml.ask("nvmlSystemGetCudaDriverVersion")
        return {
            "driver": nvml.string(nvml.ask("nvmlSystemGetDriverVersion")),
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
    def __init__(self, index: int, handle: Any) -> None:
        self.index = index
        self.handle = handle
        self.busy = Buffer(handle, "NVML_GPU_UTILIZATION_SAMPLES")
        self.power = Buffer(handle, "NVML_TOTAL_POWER_SAMPLES", 1e-3)
        self.health = Health(handle)
        self.profile = Profile(handle)

    def facts(self) -> Gpu:
        memory = _memory(self.handle)
        capability = nvml.ask("nvmlDeviceGetCudaComputeCapability", self.handle)
        return Gpu(
            index=self.index,
            kind="gpu",
            vendor="NVIDIA",
            uuid=nvml.string(nvml.ask("nvmlDeviceGetUUID", self.handle)),
            name=nvml.string(nvml.ask("nvmlDeviceGetName", self.handle)),
            memory_total_bytes=memory.total if memory else None,
            power_limit_w=_scaled(nvml.ask("nvmlDeviceGetEnforcedPowerLimit", self.handle), 1e-3),
            compute_capability=f"{capability[0]}.{capability[1]}" if capability else None,
        )

    def reading(self, traffic: tuple[int | None, int | None], xids: int | None) -> GpuReading:
        handle = self.handle
        now = nvml.ask("nvmlDeviceGetUtilizationRates", handle)
        memory = _memory(handle)
        busy, power, links, profile = self.busy.take(), self.power.take(), _links(handle), self.profile.take()
        corrected, uncorrected = self.health.memory_errors()
        return GpuReading(
            index=self.index,
            utilisation_percent=now.gpu if now else None,
            utilisation_mean_percent=busy.mean,
            utilisation_least_percent=busy.least,
            utilisation_most_percent=busy.most,
            memory_used_bytes=memory.used if memory else None,
            memory_utilisation_percent=now.memory if now else None,
            power_w=_scaled(nvml.ask("nvmlDeviceGetPowerUsage", handle), 1e-3),
            power_mean_w=power.mean,
            power_least_w=power.least,
            power_most_w=power.most,
            energy_j=_scaled(nvml.ask("nvmlDeviceGetTotalEnergyConsumption", handle), 1e-3),  # since Volta
            temperature_c=nvml.ask("nvmlDeviceGetTemperature", handle, nvml.constant("NVML_TEMPERATURE_GPU")),
            sm_clock_mhz=nvml.ask("nvmlDeviceGetClockInfo", handle, nvml.constant("NVML_CLOCK_SM")),
            memory_clock_mhz=nvml.ask("nvmlDeviceGetClockInfo", handle, nvml.constant("NVML_CLOCK_MEM")),
            pcie_received_bytes_per_s=traffic[0],
            pcie_sent_bytes_per_s=traffic[1],
            link_received_bytes=links[0],
            link_sent_bytes=links[1],
            clock_limits=self.health.clock_limits(),
            memory_errors_corrected=corrected,
            memory_errors_uncorrected=uncorrected,
            driver_errors=xids,
            sm_active_percent=profile.get("NVML_GPM_METRIC_SM_UTIL"),
            sm_occupancy_percent=profile.get("NVML_GPM_METRIC_SM_OCCUPANCY"),
            tensor_active_percent=profile.get("NVML_GPM_METRIC_ANY_TENSOR_UTIL"),
            memory_bandwidth_percent=profile.get("NVML_GPM_METRIC_DRAM_BW_UTIL"),
        )


def _handles() -> list[Any]:
    count = nvml.ask("nvmlDeviceGetCount") or 0
    handles = [nvml.ask("nvmlDeviceGetHandleByIndex", index) for index in range(count)]
    return [handle for handle in handles if handle is not None]


def _memory(handle: Any) -> Any:
    """Version 2 does not count the driver's own memory as used, like nvidia-smi."""
    version = nvml.constant("nvmlMemory_v2")
    newer = nvml.ask("nvmlDeviceGetMemoryInfo", handle, version=version) if version else None
    return newer or nvml.ask("nvmlDeviceGetMemoryInfo", handle)


def _links(handle: Any) -> tuple[int | None, int | None]:
    """Bytes received and sent over NVLink since the driver was loaded, all links together."""
    fields = [nvml.constant(f"NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_{way}") for way in ("RX", "TX")]
    if None in fields:
        return None, None
    values = nvml.ask("nvmlDeviceGetFieldValues", handle, [(field, ALL_LINKS) for field in fields])
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
    persistent: bool | None = None
    sm_clock_mhz: tuple[float | None, float | None] = (None, None)  # application clock, and its default
    power_limit_w: tuple[float | None, float | None] = (None, None)  # and its default


def settings() -> list[DeviceSettings]:
    """How the devices are set before a run, and where they are on the PCI bus."""
    return [_settings(index, handle) for index, handle in enumerate(_handles())]


def _settings(index: int, handle: object) -> DeviceSettings:
    bus, mode = nvml.ask("nvmlDeviceGetPciInfo", handle), nvml.ask("nvmlDeviceGetPersistenceMode", handle)
    clock = nvml.constant("NVML_CLOCK_SM")
    watts = [nvml.ask(f"nvmlDeviceGetPowerManagement{kind}Limit", handle) for kind in ("", "Default")]
    now, default = (None if value is None else value / 1000 for value in watts)
    return DeviceSettings(
        index=index,
        pci=(nvml.string(bus.busId) or "")[-len("0000:1a:00.0") :].lower() if bus else None,  # 00000000:1A:00.0
        persistent=None if mode is None else bool(mode),
        sm_clock_mhz=tuple(nvml.ask(f"nvmlDeviceGet{of}ApplicationsClock", handle, clock) for of in ("", "Default")),
        power_limit_w=(now, default),
    )

"""How NVIDIA's devices are set before a run, and where they are on the PCI bus."""

from dataclasses import dataclass

from evalsuite.machine.sensors import nvml


@dataclass(frozen=True, kw_only=True)
class DeviceSettings:
    """None: the driver or the device does not say."""

    index: int
    pci: str | None = None  # as /sys names it: "0000:1a:00.0"
    persistent: bool | None = None
    sm_clock_mhz: tuple[float | None, float | None] = (None, None)  # application clock, and its default
    power_limit_w: tuple[float | None, float | None] = (None, None)  # and its default


def read() -> list[DeviceSettings]:
    handles = [nvml.ask("nvmlDeviceGetHandleByIndex", index) for index in range(nvml.ask("nvmlDeviceGetCount") or 0)]
    return [_of(index, handle) for index, handle in enumerate(handles) if handle is not None]


def _of(index: int, handle: object) -> DeviceSettings:
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

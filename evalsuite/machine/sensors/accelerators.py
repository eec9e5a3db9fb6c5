"""The accelerators of this machine, of any vendor."""

from collections.abc import Callable, Mapping
from typing import Literal

from evalsuite.documents import Gpu
from evalsuite.machine.sensors.ascend import Ascend
from evalsuite.machine.sensors.nvidia import Nvidia
from evalsuite.machine.sensors.sensor import Sensor
from evalsuite.runs.preflight import DeviceProcess
from evalsuite.runs.samples import GpuReading

VENDORS: tuple[Callable[[], Sensor], ...] = (Nvidia, Ascend)


class Accelerators:
    """The devices of the first vendor that has any here. The methods are those of `Sensor`."""

    def __init__(self) -> None:
        opened = (vendor() for vendor in VENDORS)
        self._sensor = next((sensor for sensor in opened if len(sensor)), None)

    def __len__(self) -> int:
        return len(self._sensor) if self._sensor else 0

    @property
    def kind(self) -> Literal["gpu", "npu"] | None:
        return self._sensor.kind if self._sensor else None

    @property
    def slow_period_s(self) -> float | None:
        return self._sensor.slow_period_s if self._sensor else None

    def facts(self) -> list[Gpu]:
        return self._sensor.facts() if self._sensor else []

    def reading(self) -> list[GpuReading]:
        return self._sensor.reading() if self._sensor else []

    def visible(self, environment: Mapping[str, str]) -> list[Gpu]:
        return self._sensor.visible(self._sensor.facts(), environment) if self._sensor else []

    def processes(self) -> list[DeviceProcess] | None:
        return self._sensor.processes() if self._sensor else None

    def versions(self) -> Mapping[str, str | None]:
        return self._sensor.versions() if self._sensor else {}

    def close(self) -> None:
        if self._sensor:
            self._sensor.close()

"""Huawei's Ascend devices: by its library DCMI, else by `npu-smi info`."""

from collections.abc import Mapping, Sequence

from evalsuite.documents import Gpu
from evalsuite.machine.sensors.dcmi import Dcmi
from evalsuite.machine.sensors.npu_smi import NpuSmi
from evalsuite.machine.sensors.sensor import Sensor
from evalsuite.machine.sensors.visible import visible
from evalsuite.runs.samples import GpuReading


class Ascend(Sensor):
    kind = "npu"

    def __init__(self) -> None:
        self._source: Dcmi | NpuSmi = Dcmi()
        if not self._source.facts():
            self._source = NpuSmi()
        self._count = len(self._source.facts())
        self.slow_period_s = self._source.slow_period_s

    def __len__(self) -> int:
        return self._count

    def facts(self) -> list[Gpu]:
        return self._source.facts()

    def reading(self) -> list[GpuReading]:
        return self._source.reading()

    def visible(self, gpus: Sequence[Gpu], environment: Mapping[str, str]) -> list[Gpu]:
        return visible(gpus, environment.get("ASCEND_RT_VISIBLE_DEVICES"))

    def versions(self) -> Mapping[str, str | None]:
        return {"driver": self._source.driver, "toolkit": None}

    def close(self) -> None:
        self._source.close()

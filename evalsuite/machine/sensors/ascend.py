"""Huawei's Ascend devices: by its library DCMI, else by `npu-smi info`."""

from collections.abc import Mapping, Sequence

from evalsuite.core.documents import Gpu
from evalsuite.machine.sensors.dcmi import Dcmi
from evalsuite.machine.sensors.npu_smi import NpuSmi
from evalsuite.machine.sensors.sensor import Sensor
from evalsuite.machine.sensors.visible import visible


class Ascend(Sensor):
    kind = "npu"

    def __init__(self) -> None:
        dcmi = Dcmi()
        self._source: Dcmi | NpuSmi = dcmi if dcmi.facts() else NpuSmi()
        for name in ("facts", "reading", "close", "slow_period_s"):
            setattr(self, name, getattr(self._source, name))

    def visible(self, gpus: Sequence[Gpu], environment: Mapping[str, str]) -> list[Gpu]:
        return visible(gpus, environment.get("ASCEND_RT_VISIBLE_DEVICES"))

    def versions(self) -> Mapping[str, str | None]:
        return {"driver": self._source.driver, "toolkit": None}

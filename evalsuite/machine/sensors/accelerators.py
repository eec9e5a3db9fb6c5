"""The accelerators of this machine, of any vendor, and those of an author's sensor: one class in a Python file."""

import functools
import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from evalsuite.contracts import author_modules
from evalsuite.core import decode
from evalsuite.core.documents import Gpu
from evalsuite.core.messages import Message
from evalsuite.machine.sensors import nvidia
from evalsuite.machine.sensors.dcmi import Ascend
from evalsuite.machine.sensors.sensor import DeviceProcess, Sensor
from evalsuite.runs.samples import GpuReading

VENDORS: tuple[Callable[[], Sensor], ...] = (nvidia.Nvidia, Ascend)
ASKED_AGAIN_S, WAKES_S = 0.5, 10.0  # a driver that was unloaded since the last run
VARIABLE = "EVALSUITE_SENSORS"  # folders or files, as PATH has them
CONTRACT = author_modules.Contract(
    option="--sensors", name="SENSOR", example="SENSOR = MySensor", page="docs/adding-a-framework.md"
)
KINDS: Mapping[str, Any] = {  # of what its methods give
    **{"facts": tuple[Gpu, ...], "reading": tuple[GpuReading, ...], "visible": tuple[Gpu, ...], "close": object},
    **{"processes": tuple[DeviceProcess, ...] | None, "versions": Mapping[str, str | None]},
}


class Brought(Sensor):
    """What raises in *file* raises EvalsuiteError here."""

    def __init__(self, file: Path) -> None:
        self.file = file
        declared = author_modules.load(file, CONTRACT)
        self._sensor = author_modules.guard(declared, f"{file}: {CONTRACT.name}", CONTRACT.example, Sensor)()
        self.kind = decode.decode(Literal["gpu", "npu"], self._sensor.kind, f"{file}: kind")  # type: ignore[arg-type]
        self.slow_period_s = self._sensor.slow_period_s
        for name in KINDS:
            setattr(self, name, functools.partial(self._ask, name))

    def _ask(self, name: str, *given: object) -> Any:
        where = f"{self.file}: {name}"
        method = author_modules.guard(getattr(self._sensor, name), where, Message("machine.as_sensors"), object)
        return decode.decode(KINDS[name], method(*given), where)


def open_accelerators(awaited: bool = False) -> Sensor:
    """The first sensor that has devices. Where they are *awaited*, a driver that sleeps is asked again."""
    deadline = time.monotonic() + WAKES_S * awaited
    while not (found := next((sensor for sensor in open_sensors() if len(sensor)), Sensor())):
        if time.monotonic() >= deadline or nvidia.trouble() is None or nvidia.symbol("nvmlInit_v2") is None:
            break  # else the library is here, and its driver does not answer yet
        time.sleep(ASKED_AGAIN_S)
    return found


def open_sensors() -> Iterator[Sensor]:
    places = filter(None, os.environ.get(VARIABLE, "").split(os.pathsep))
    yield from map(Brought, [file for place in places for file in author_modules.find_modules(Path(place), CONTRACT)])
    yield from (vendor() for vendor in VENDORS)

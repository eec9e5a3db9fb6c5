"""The accelerators of this machine, of any vendor."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from evalsuite.contracts import author_modules
from evalsuite.machine.sensors import brought
from evalsuite.machine.sensors.ascend import Ascend
from evalsuite.machine.sensors.nvidia import Nvidia
from evalsuite.machine.sensors.sensor import Sensor

VENDORS: tuple[Callable[[], Sensor], ...] = (Nvidia, Ascend)


def open_accelerators() -> Sensor:
    return next((sensor for sensor in open_sensors() if len(sensor)), Sensor())


def open_sensors() -> Iterator[Sensor]:
    for place in filter(None, os.environ.get(brought.VARIABLE, "").split(os.pathsep)):
        yield from map(brought.Brought, author_modules.find_modules(Path(place), brought.CONTRACT))
    yield from (vendor() for vendor in VENDORS)

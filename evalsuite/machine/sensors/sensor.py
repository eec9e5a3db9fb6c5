"""What a sensor of accelerators is: one class a vendor, all read in the same way."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from evalsuite.documents import Gpu
from evalsuite.runs.preflight import DeviceProcess
from evalsuite.runs.samples import GpuReading


class Sensor(Protocol):
    """The accelerators of one vendor on this machine. docs/adding-a-sensor.md says how to write one."""

    @property
    def kind(self) -> Literal["gpu", "npu"]:
        """Of device."""

    def __len__(self) -> int:
        """How many devices there are; 0 where the vendor's library or driver is not here."""

    def facts(self) -> list[Gpu]:
        """What each device is."""

    def reading(self) -> list[GpuReading]:
        """What each device does now, in a few milliseconds; what it cannot say is None."""

    @property
    def slow_period_s(self) -> float | None:
        """Seconds from one reading to the next of what is too slow to be read each time; None: nothing is."""

    def visible(self, found: Sequence[Gpu], environment: Mapping[str, str]) -> list[Gpu]:
        """Those of *found* that a program with these variables sees, in its order."""

    def processes(self) -> list[DeviceProcess] | None:
        """What has something on a device, whoever started it; None where the vendor does not tell."""

    def versions(self) -> Mapping[str, str | None]:
        """Of the driver, and of the toolkit that it serves: `driver`, `toolkit`."""

    def close(self) -> None:
        """Ends what reads beside us."""

"""What a sensor of accelerators is: one class a vendor."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from evalsuite.documents import Gpu
from evalsuite.runs.preflight import DeviceProcess
from evalsuite.runs.samples import GpuReading


class Sensor(Protocol):
    """The accelerators of one vendor. docs/adding-a-sensor.md says how to write one."""

    @property
    def kind(self) -> Literal["gpu", "npu"]:
        """Of device."""

    def __len__(self) -> int:
        """0 where the vendor's library or driver is not here."""

    def facts(self) -> list[Gpu]:
        """What each device is."""

    def reading(self) -> list[GpuReading]:
        """In a few milliseconds; what it cannot say is None."""

    @property
    def slow_period_s(self) -> float | None:
        """Seconds between two readings of what is too slow for each; None: nothing is."""

    def visible(self, found: Sequence[Gpu], environment: Mapping[str, str]) -> list[Gpu]:
        """Those of *found* that a program with these variables sees, in its order."""

    def processes(self) -> list[DeviceProcess] | None:
        """On any device, of all users; None where the vendor does not tell."""

    def versions(self) -> Mapping[str, str | None]:
        """`driver`, and `toolkit`: the newest that it serves."""

    def close(self) -> None:
        """Ends what reads in another thread or process."""

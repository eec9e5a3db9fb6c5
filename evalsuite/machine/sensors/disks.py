"""Whole disks. Partitions, loop devices, RAM disks and volumes over disks are left out, unless there is nothing
else."""

from pathlib import Path
from typing import Any

from evalsuite.machine.sensors import system
from evalsuite.runs.samples import DiskCounters


class Disks:
    def __init__(self, root: Path = Path("/")) -> None:
        counters = system.read_psutil("disk_io_counters", perdisk=True, nowrap=False) or {}
        blocks = root / "sys/block"
        real = [name for name in counters if (blocks / name.replace("/", "!") / "device").exists()]
        self.names = sorted(real or (name for name in counters if not name.startswith(("loop", "ram", "zram"))))

    def reading(self) -> dict[str, DiskCounters]:
        counters = system.read_psutil("disk_io_counters", perdisk=True, nowrap=False) or {}
        return {name: _disk(counters[name]) for name in self.names if name in counters}


def _disk(counters: Any) -> DiskCounters:
    return DiskCounters(
        read_bytes=counters.read_bytes,
        write_bytes=counters.write_bytes,
        read_operations=counters.read_count,
        write_operations=counters.write_count,
    )

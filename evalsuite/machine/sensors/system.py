"""Main memory and whole disks, by psutil."""

from pathlib import Path
from typing import Any

import psutil

from evalsuite.machine import cgroups
from evalsuite.runs.samples import DiskCounters


def read_psutil(name: str, **options: Any) -> Any:
    try:
        return getattr(psutil, name)(**options)
    except (OSError, NotImplementedError, psutil.Error):
        return None


class Memory:
    """Of the machine, or of the container where its limit is tighter."""

    def __init__(self, limits: cgroups.Limits) -> None:
        memory = read_psutil("virtual_memory")
        whole = memory.total if memory else None
        limited = limits.memory_bytes is not None and (whole is None or limits.memory_bytes < whole)
        self._group = limits.memory_group if limited else None
        self.total_bytes = limits.memory_bytes if limited else whole

    def used_bytes(self) -> int | None:
        if self._group is not None:
            return self._group.memory_used_bytes()
        memory = read_psutil("virtual_memory")
        return memory.total - memory.available if memory else None


class Disks:
    """Partitions, loop devices, RAM disks and volumes over disks are left out, unless there is nothing else."""

    def __init__(self, root: Path = Path("/")) -> None:
        counters = read_psutil("disk_io_counters", perdisk=True, nowrap=False) or {}
        blocks = root / "sys/block"
        real = [name for name in counters if (blocks / name.replace("/", "!") / "device").exists()]
        self.names = sorted(real or (name for name in counters if not name.startswith(("loop", "ram", "zram"))))

    def reading(self) -> dict[str, DiskCounters]:
        counters = read_psutil("disk_io_counters", perdisk=True, nowrap=False) or {}
        each = ((name, counters[name]) for name in self.names if name in counters)
        kinds = {"read_bytes": "read_bytes", "write_bytes": "write_bytes"}
        kinds |= {"read_operations": "read_count", "write_operations": "write_count"}
        return {name: DiskCounters(**{of: getattr(read, its) for of, its in kinds.items()}) for name, read in each}

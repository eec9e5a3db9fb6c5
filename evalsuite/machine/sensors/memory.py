"""Main memory, of the machine, or of the container where its limit is tighter."""

from evalsuite.machine import cgroups
from evalsuite.machine.sensors import system


class Memory:
    def __init__(self, limits: cgroups.Limits) -> None:
        memory = system.read_psutil("virtual_memory")
        whole = memory.total if memory else None
        limited = limits.memory_bytes is not None and (whole is None or limits.memory_bytes < whole)
        self._group = limits.memory_group if limited else None
        self.total_bytes = limits.memory_bytes if limited else whole

    @property
    def scope(self) -> str:
        return "machine" if self._group is None else "container"

    def used_bytes(self) -> int | None:
        if self._group is not None:
            return self._group.memory_used_bytes()
        memory = system.read_psutil("virtual_memory")
        return memory.total - memory.available if memory else None

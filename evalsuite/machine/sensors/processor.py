"""The cores that may be used, and how busy they are."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalsuite.core import files
from evalsuite.core.processes import usable_cores
from evalsuite.machine import cgroups
from evalsuite.machine.sensors import system


class Cpu:
    """Where a container's quota is tighter than the cores, it is the capacity, and the container's CPU time counts."""

    def __init__(self, limits: cgroups.Limits, root: Path = Path("/"), cores: Sequence[int] = ()) -> None:
        self.cores = sorted(cores) or usable_cores()
        online = numbers(files.text(root / "sys/devices/system/cpu/online")) or list(range(os.cpu_count() or 1))
        self._positions = [online.index(core) for core in self.cores if core in online]
        quota = limits.cpus if limits.cpus is not None and limits.cpus < len(self.cores) else None
        self.capacity = float(len(self.cores)) if quota is None else quota
        self._group = None if quota is None else limits.cpu_group
        self._before = self._now()

    def percent(self) -> float | None:
        """Of the capacity, since the call before."""
        before, now = self._before, self._now()
        self._before = now
        if self._group is not None:
            return self._group_percent(before, now)
        cores = _core_percents(before.cores, now.cores)
        return sum(cores) / len(cores) if cores else None

    def _group_percent(self, before: "CpuTimes", now: "CpuTimes") -> float | None:
        if before.group_s is None or now.group_s is None or now.at_s <= before.at_s:
            return None
        used = (now.group_s - before.group_s) / (now.at_s - before.at_s)
        return 100.0 * used / self.capacity

    def _now(self) -> "CpuTimes":
        times = system.read_psutil("cpu_times", percpu=True)
        cores = [times[place] for place in self._positions if place < len(times)] if times else None
        group_s = self._group.cpu_s() if self._group else None
        return CpuTimes(cores=cores, group_s=group_s, at_s=time.monotonic())


@dataclass(frozen=True, kw_only=True)
class CpuTimes:
    cores: Sequence[Any] | None
    group_s: float | None  # of the container
    at_s: float


def usable_cpus() -> float:
    """Cores' worth of CPU time: the affinity, within a container's quota."""
    return Cpu(cgroups.limits()).capacity


def numbers(ranges: str | None) -> list[int]:
    """`0-3,8` → [0, 1, 2, 3, 8]"""
    numbers: list[int] = []
    for part in (ranges or "").split(","):
        first, _, last = part.partition("-")
        if first.isdigit():
            numbers += range(int(first), int(last or first) + 1)
    return numbers


def _core_percents(before: Sequence[Any] | None, now: Sequence[Any] | None) -> list[float] | None:
    if before is None or now is None:
        return None
    percents = [_busy_percent(old, new) for old, new in zip(before, now, strict=False)]
    known = [percent for percent in percents if percent is not None]
    return known if len(known) == len(percents) else None


def _busy_percent(old: Any, new: Any) -> float | None:
    idle, total = (now - before for before, now in zip(_seconds(old), _seconds(new), strict=True))
    return None if total <= 0 else min(100.0, max(0.0, 100.0 * (1.0 - idle / total)))


def _seconds(times: Any) -> tuple[float, float]:
    """Idle, as when it waits for a disk, and all. Guest time is in user time already (proc_stat(5))."""
    guests = getattr(times, "guest", 0.0) + getattr(times, "guest_nice", 0.0)
    return times.idle + getattr(times, "iowait", 0.0), sum(times) - guests

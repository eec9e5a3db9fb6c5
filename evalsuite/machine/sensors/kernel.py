"""The counters of the machine from the kernel's files, for a node without psutil: in psutil's names and units.

Sources: proc(5), the kernel's Documentation/admin-guide/iostats.rst and Documentation/ABI/testing/sysfs-class-net.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from evalsuite import files

SECTOR_BYTES = 512  # /proc/diskstats counts in these, whatever the disk's own are
KIBIBYTE = 1024


class CoreTimes(NamedTuple):
    """Seconds of one core since the machine started: the fields of /proc/stat, in its order."""

    user: float
    nice: float
    system: float
    idle: float
    iowait: float = 0.0
    irq: float = 0.0
    softirq: float = 0.0
    steal: float = 0.0
    guest: float = 0.0
    guest_nice: float = 0.0


class MainMemory(NamedTuple):
    """Bytes of main memory."""

    total: int
    available: int


class BlockDevice(NamedTuple):
    """What a disk or a partition has done since the machine started."""

    read_count: int
    write_count: int
    read_bytes: int
    write_bytes: int


class Traffic(NamedTuple):
    """What an interface has carried since the machine started."""

    bytes_sent: int
    bytes_recv: int


class LinkState(NamedTuple):
    """Whether an interface is up, and its speed in Mbit/s (0: it does not say)."""

    isup: bool
    speed: int


def asked(name: str, root: Path = Path("/")) -> Any:
    """The answer to psutil's function *name*; None where the kernel does not say."""
    try:
        return ANSWERS[name](root)
    except (OSError, ValueError, IndexError, KeyError):
        return None


def _cores(root: Path) -> list[CoreTimes]:
    ticks = os.sysconf("SC_CLK_TCK")
    found = []
    for line in _lines(root / "proc/stat"):
        name, *counts = line.split()
        if name.startswith("cpu") and name != "cpu":
            found.append(CoreTimes(*(int(count) / ticks for count in counts[: len(CoreTimes._fields)])))
    return found


def _memory(root: Path) -> MainMemory:
    sizes = {
        name: words.split()[0] for name, _, words in (line.partition(":") for line in _lines(root / "proc/meminfo"))
    }
    return MainMemory(total=int(sizes["MemTotal"]) * KIBIBYTE, available=int(sizes["MemAvailable"]) * KIBIBYTE)


def _disks(root: Path) -> dict[str, BlockDevice]:
    found = {}
    for line in _lines(root / "proc/diskstats"):
        _, _, name, reads, _, sectors_read, _, writes, _, sectors_written, *_ = line.split()
        found[name] = BlockDevice(
            read_count=int(reads),
            write_count=int(writes),
            read_bytes=int(sectors_read) * SECTOR_BYTES,
            write_bytes=int(sectors_written) * SECTOR_BYTES,
        )
    return found


def _traffic(root: Path) -> dict[str, Traffic]:
    found = {}
    for line in list(_lines(root / "proc/net/dev"))[2:]:
        name, _, counts = line.rpartition(":")
        received, sent = counts.split()[0], counts.split()[8]
        found[name.strip()] = Traffic(bytes_sent=int(sent), bytes_recv=int(received))
    return found


def _links(root: Path) -> dict[str, LinkState]:
    found = {}
    for folder in sorted((root / "sys/class/net").iterdir()):
        flags, speed = files.text(folder / "flags"), files.text(folder / "speed") or ""
        if flags:
            found[folder.name] = LinkState(isup=bool(int(flags, 16) & 1), speed=int(speed) if speed.isdigit() else 0)
    return found


def _lines(file: Path) -> Iterator[str]:
    return (line for line in file.read_text().splitlines() if line.strip())


ANSWERS: Mapping[str, Callable[[Path], Any]] = {
    "cpu_times": _cores,
    "virtual_memory": _memory,
    "disk_io_counters": _disks,
    "net_io_counters": _traffic,
    "net_if_stats": _links,
}

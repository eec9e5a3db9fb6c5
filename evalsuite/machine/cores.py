"""The cores of a node divided: a CPU device is a fixed set of cores, the same number for each.
Documentation/ABI/stable/sysfs-devices-system-cpu (`thread_siblings_list`) and …/sysfs-devices-node (`cpulist`)."""

import hashlib
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from pathlib import Path

from evalsuite.core import files, processes
from evalsuite.machine import cgroups
from evalsuite.machine.sensors import processor

VARIABLE = "EVALSUITE_CORES"  # "0,1;2,3", in the order of LOCAL_RANK
CPUS = Path("sys/devices/system/cpu")
NODES = Path("sys/devices/system/node")

Shares = tuple[tuple[int, ...], ...]
"""The cores of each device of a node."""


def usable(root: Path = Path("/")) -> tuple[int, ...]:
    """One thread of each physical core of our affinity, within a container's quota."""
    own = processes.usable_cores()
    siblings = {
        core: processor.numbers(files.text(root / CPUS / f"cpu{core}/topology/thread_siblings_list")) for core in own
    }
    told = all(siblings.values())
    first = [core for core in own if not told or core == min(set(siblings[core] or ()) & set(own), default=core)]
    node_of = _nodes(root)
    ordered = sorted(first, key=lambda core: (node_of.get(core, 0), core))
    quota = cgroups.limits(root).cpus
    return tuple(ordered if quota is None else ordered[: max(1, int(quota))])


def shares(each: int, devices: int, cores: Iterable[int]) -> Shares:
    """*each* cores for every one of *devices*; shared where there are too few."""
    ordered = tuple(cores)
    taken = islice(cycle(ordered), each * devices)
    return tuple(tuple(dict.fromkeys(islice(taken, each))) for _ in range(devices))


def _nodes(root: Path) -> dict[int, int]:
    nodes: dict[int, int] = {}
    for folder in (root / NODES).glob("node[0-9]*"):
        number = int(folder.name.removeprefix("node"))
        nodes |= dict.fromkeys(processor.numbers(files.text(folder / "cpulist")) or (), number)
    return nodes


PIECE = bytes(1 << 20)
PIECES = 160  # on each core: some tenths of a second. No memory is asked for, which takes ages where there is none
BEST_OF = 3  # a program that comes by for a moment is no drift


def measure_seconds() -> float:
    """Seconds of a fixed computation on all usable cores at once, the fastest of three: it tells a drifting machine
    from a slow framework."""
    count = len(usable())
    with ThreadPoolExecutor(count) as pool:  # hashlib lets go of the interpreter's lock
        seconds = []
        for _ in range(BEST_OF):
            began = time.perf_counter()
            list(pool.map(_work, range(count)))
            seconds.append(time.perf_counter() - began)
        return min(seconds)


def _work(core: int) -> bytes:
    hashed = hashlib.sha256()
    for _ in range(PIECES):
        hashed.update(PIECE)
    return hashed.digest()

"""What makes training slower than this machine allows and shows before a run (docs/clusters.md)."""

import ctypes.util
import os
import re
import resource
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from evalsuite.core import files
from evalsuite.core.messages import Message, Phrase
from evalsuite.core.placeholders import CONTAINER_LINK
from evalsuite.core.processes import usable_cores
from evalsuite.machine import interfaces
from evalsuite.machine.sensors import nvidia, system
from evalsuite.machine.sensors.network import active_ports
from evalsuite.machine.sensors.nvidia import DeviceSettings
from evalsuite.machine.sensors.processor import numbers

IPV4_AND_6 = {2, 10}  # AF_INET and AF_INET6 on Linux
CPU_POLICY = Path("sys/devices/system/cpu/cpu0/cpufreq")
VARYING = ("intel_pstate", "amd-pstate-epp")  # of these "powersave" is no fixed frequency: kernel, admin-guide/pm
LEAST_LOCKED_BYTES = 1 << 30
IPC_LOCK = 14  # capabilities(7): locked memory has no limit
PEER_MODULES = ("nvidia_peermem", "nv_peer_mem")


Area = Literal["network", "infiniband", "clocks", "numa"]
AREAS = get_args(Area)


@dataclass(frozen=True, kw_only=True)
class Pitfall:
    area: Area
    seen: Phrase
    remedy: Phrase


def find(environment: Mapping[str, str] = os.environ, root: Path = Path("/")) -> tuple[Pitfall, ...]:
    devices = nvidia.settings()
    return (
        *network(environment, devices),
        *infiniband(environment, root),
        *clocks(devices, root),
        *numa(devices, root, usable_cores()),
    )


def _pitfall(area: Area, name: str, **values: object) -> Pitfall:
    return Pitfall(area=area, seen=Message(f"machine.{name}", **values), remedy=Message(f"machine.{name}_remedy"))


def network(environment: Mapping[str, str], devices: Sequence[DeviceSettings]) -> Iterator[Pitfall]:
    asked, there = environment.get(interfaces.VARIABLE, ""), system.read_psutil("net_if_stats") or {}
    if there and asked not in ("", interfaces.AUTO, *there):
        yield _pitfall("network", "interface_absent", asked=asked, names=sorted(there))
    if asked or environment.get("NCCL_SOCKET_IFNAME") or not devices:
        return
    taken = taken_by_nccl()
    links = [name for name in taken if CONTAINER_LINK.match(name)]
    if links and (others := [name for name in taken if name not in links]):
        yield _pitfall("network", "links_taken", names=links, others=others)


def taken_by_nccl() -> list[str]:
    """NVIDIA/nccl@081eafa: src/misc/socket.cc, ncclFindInterfaces(): "ib…", else all but docker, lo and virbr."""
    state, addresses = (system.read_psutil(f"net_if_{kind}") or {} for kind in ("stats", "addrs"))
    families = {name: {address.family for address in known} for name, known in addresses.items()}
    up = [name for name, stats in state.items() if stats.isup and families.get(name, set()) & IPV4_AND_6]
    first = [name for name in up if name.startswith("ib")]
    return first or [name for name in up if not name.startswith(("docker", "lo", "virbr"))]


def infiniband(environment: Mapping[str, str], root: Path) -> Iterator[Pitfall]:
    """Ports are active, and NCCL would not use them, or not all that they can."""
    ports = active_ports(root)
    if not ports:
        return
    if environment.get("NCCL_IB_DISABLE", "0") not in ("", "0"):
        yield _pitfall("infiniband", "ib_disabled", ports=ports)
    if not any(os.access(file, os.R_OK | os.W_OK) for file in root.glob("dev/infiniband/uverbs*")):
        yield _pitfall("infiniband", "ib_closed", ports=ports)
    if not ctypes.util.find_library("ibverbs"):
        yield _pitfall("infiniband", "ib_library", ports=ports)
    held = re.search(r"CapEff:\s*(\w+)", files.text(root / "proc/self/status") or "CapEff: 0")
    limit = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    if limit != resource.RLIM_INFINITY and limit < LEAST_LOCKED_BYTES and held and not int(held[1], 16) >> IPC_LOCK & 1:
        yield _pitfall("infiniband", "ib_memlock", mebibytes=f"{limit / (1 << 20):g}")
    driver = files.text(root / "proc/driver/nvidia/version")
    loaded = any((root / "sys/module" / name).exists() for name in PEER_MODULES)
    if driver and "Open Kernel Module" not in driver and not loaded:
        yield _pitfall("infiniband", "ib_peer")


def clocks(devices: Sequence[DeviceSettings], root: Path) -> Iterator[Pitfall]:
    """Of CPU and GPUs, set below what they are made for."""
    names = ("scaling_governor", "scaling_driver", "energy_performance_preference")
    governor, driver, preference = (files.text(root / CPU_POLICY / name) for name in names)
    if governor == "powersave" and (driver not in VARYING or preference in ("power", "balance_power")):
        yield _pitfall("clocks", "cpu_saves", governor=governor, driver=driver or "?", preference=preference or "—")
    for setting in ("sm_clock_mhz", "power_limit_w"):
        pairs = {device.index: getattr(device, setting) for device in devices}
        low = {index: pair for index, pair in pairs.items() if None not in pair and pair[0] < pair[1]}
        for now, default in list(low.values())[:1]:
            yield _pitfall("clocks", f"{setting}_lowered", gpus=low, now=f"{now:g}", default=f"{default:g}")
    if gpus := [device.index for device in devices if device.persistent is False]:
        yield _pitfall("clocks", "not_persistent", gpus=gpus)
    if cut := {device.index: device.slices for device in devices if device.slices is not None}:
        yield _pitfall("clocks", "slices", gpus=[*cut], slices=[*cut.values()])


def numa(devices: Sequence[DeviceSettings], root: Path, cores: Sequence[int]) -> Iterator[Pitfall]:
    """GPUs that hang on another part of the machine than the cores that may be used."""
    far: dict[str, list[int]] = {}
    for device in devices:
        folder = root / "sys/bus/pci/devices" / (device.pci or "-")
        node, local = files.text(folder / "numa_node"), numbers(files.text(folder / "local_cpulist"))
        if node and local and not set(local) & set(cores):
            far.setdefault(node, []).append(device.index)
    for node, gpus in far.items():
        yield _pitfall("numa", "far_from_cores", gpus=gpus, node=node, cores=len(cores))

"""Network interfaces, and the ports of adapters whose traffic no interface counts."""

import contextlib
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evalsuite.core import files
from evalsuite.core.documents import Interface
from evalsuite.machine.sensors import system
from evalsuite.runs.samples import InterfaceCounters

# InfiniBand's data counters count 32-bit words: the kernel's Documentation/ABI/stable/sysfs-class-infiniband
WORD_BYTES = 4
LOOPBACK = "lo"
INFINIBAND = "32"  # ARPHRD_INFINIBAND, linux/if_arp.h


class Network:
    """Bytes since the machine started.

    RDMA is in no interface's counter, so ports of InfiniBand adapters are listed too. Interfaces over such a port
    (IPoIB) are left out: they would count twice. So are bridges, bonds and links of containers where there is hardware.
    """

    def __init__(self, root: Path = Path("/")) -> None:
        self._ports = dict(zip(active_ports(root), _ports(root), strict=True))
        state = system.read_psutil("net_if_stats") or {}
        folder = root / "sys/class/net"
        names = _interfaces(state, folder, bool(self._ports))
        self.facts = {
            name: _with_speed(state[name].speed) if _is_hardware(folder / name) else Interface(no_speed="virtual")
            for name in names
        }
        for name, port in self._ports.items():  # `100 Gb/sec (4X EDR)` → 100000
            rate = (files.text(port / "rate") or "").split()
            in_gbit = len(rate) > 1 and rate[1].startswith("Gb")
            self.facts[name] = _with_speed(int(float(rate[0]) * 1000) if in_gbit else None)

    def reading(self) -> dict[str, InterfaceCounters]:
        counters = system.read_psutil("net_io_counters", pernic=True, nowrap=False) or {}
        readings = {
            name: InterfaceCounters(received_bytes=counters[name].bytes_recv, sent_bytes=counters[name].bytes_sent)
            for name in self.facts
            if name in counters
        }
        for name, port in self._ports.items():
            received, sent = _carried(port)
            if received is not None and sent is not None:
                readings[name] = InterfaceCounters(received_bytes=received, sent_bytes=sent)
        return readings


def _interfaces(state: Mapping[str, Any], folder: Path, infiniband: bool) -> list[str]:
    names = [name for name in state if _is_card(folder / name)]
    names = names or [name for name, stats in state.items() if stats.isup]
    if infiniband:
        names = [name for name in names if files.text(folder / name / "type") != INFINIBAND]
    return sorted({*names, *state.keys() & {LOOPBACK}})


def _with_speed(mbit_s: int | None) -> Interface:
    return Interface(speed_mbit_s=mbit_s) if mbit_s and mbit_s > 0 else Interface(no_speed="unknown")


def _is_card(interface: Path) -> bool:
    """A shell may have entered another network and kept this one's /sys (nsenter --net): the index then differs."""
    told = files.text(interface / "ifindex")
    with contextlib.suppress(OSError):
        if told and int(told) != socket.if_nametoindex(interface.name):
            return False
    return (interface / "device").exists()


def _is_hardware(interface: Path, deepest: int = 4) -> bool:
    """A card, or a bond or bridge over cards alone (`lower_*`: net/core/dev.c); others have the 10 Gbit/s of a veth."""
    if _is_card(interface):
        return True
    below = [file.name.removeprefix("lower_") for file in interface.glob("lower_*")]
    return bool(below) and deepest > 0 and all(_is_hardware(interface.with_name(name), deepest - 1) for name in below)


def _ports(root: Path) -> list[Path]:
    """Of InfiniBand, RoCE and EFA adapters: sys/class/infiniband/mlx5_0/ports/1."""
    ports = root.glob("sys/class/infiniband/*/ports/*")
    up = [port for port in ports if (files.text(port / "state") or "4: ACTIVE").endswith("ACTIVE")]
    return sorted(port for port in up if _carried(port) != (None, None))


def active_ports(root: Path) -> list[str]:
    return [f"{port.parent.parent.name}/{port.name}" for port in _ports(root)]


def _carried(port: Path) -> tuple[int | None, int | None]:
    """Bytes received and sent: RoCE counts as InfiniBand does, EFA in its own counters."""
    received, sent = (_bytes(port / "counters" / f"port_{way}_data", WORD_BYTES) for way in ("rcv", "xmit"))
    if received is None or sent is None:
        received, sent = (_bytes(port / "hw_counters" / f"{way}_bytes") for way in ("rx", "tx"))
    return received, sent


def _bytes(file: Path, unit_bytes: int = 1) -> int | None:
    count = files.text(file) or ""
    return int(count) * unit_bytes if count.isdigit() else None

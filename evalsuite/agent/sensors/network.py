"""Network interfaces, and the ports of adapters whose traffic no interface counts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evalsuite import files
from evalsuite.agent.sensors import machine
from evalsuite.documents import Interface
from evalsuite.runs.samples import InterfaceCounters

# InfiniBand's data counters count 32-bit words: the kernel's Documentation/ABI/stable/sysfs-class-infiniband
WORD_BYTES = 4
LOOPBACK = "lo"
INFINIBAND = "32"  # ARPHRD_INFINIBAND, linux/if_arp.h


class Network:
    """Interfaces: counters of bytes since the machine started.

    Ports of InfiniBand adapters are listed beside them, because what goes by RDMA is in no interface's counter; an
    interface that sends its packets through such a port (IPoIB) is left out, it would count twice. So are
    bridges, bonds and the machine's ends of containers' links where there is real hardware.
    """

    def __init__(self, root: Path = Path("/")) -> None:
        self._ports = {f"{port.parent.parent.name}/{port.name}": port for port in _ports(root)}
        state = machine.asked("net_if_stats") or {}
        names = _interfaces(state, root / "sys/class/net", bool(self._ports))
        speeds = {name: state[name].speed for name in names} | {
            name: _port_speed(port) for name, port in self._ports.items()
        }
        self.facts = {name: Interface(speed_mbit_s=speed or None) for name, speed in speeds.items()}

    def reading(self) -> dict[str, InterfaceCounters]:
        counters = machine.asked("net_io_counters", pernic=True, nowrap=False) or {}
        found = {name: _interface(counters[name]) for name in self.facts if name in counters}
        for name, port in self._ports.items():
            received, sent = _carried(port)
            if received is not None and sent is not None:
                found[name] = InterfaceCounters(received_bytes=received, sent_bytes=sent)
        return found


def _interfaces(state: Mapping[str, Any], folder: Path, infiniband: bool) -> list[str]:
    """The interfaces to read: real hardware, else what is up; and the loopback."""
    names = [name for name in state if (folder / name / "device").exists()]
    names = names or [name for name, stats in state.items() if stats.isup]
    if infiniband:
        names = [name for name in names if files.text(folder / name / "type") != INFINIBAND]
    return sorted({*names, *state.keys() & {LOOPBACK}})


def _interface(counters: Any) -> InterfaceCounters:
    return InterfaceCounters(received_bytes=counters.bytes_recv, sent_bytes=counters.bytes_sent)


def _ports(root: Path) -> list[Path]:
    """Ports of InfiniBand, RoCE and EFA adapters: sys/class/infiniband/mlx5_0/ports/1."""
    found = root.glob("sys/class/infiniband/*/ports/*")
    return sorted(port for port in found if _carried(port) != (None, None))


def _carried(port: Path) -> tuple[int | None, int | None]:
    """Bytes received and sent: RoCE counts them as InfiniBand does, EFA in counters of its own."""
    received, sent = (_words(port / "counters" / f"port_{way}_data") for way in ("rcv", "xmit"))
    if received is None or sent is None:
        received, sent = (_bytes(port / "hw_counters" / f"{way}_bytes") for way in ("rx", "tx"))
    return received, sent


def _port_speed(port: Path) -> int | None:
    """`100 Gb/sec (4X EDR)` → 100000."""
    rate = (files.text(port / "rate") or "").split()
    return int(float(rate[0]) * 1000) if len(rate) > 1 and rate[1].startswith("Gb") else None


def _bytes(file: Path) -> int | None:
    words = files.text(file) or ""
    return int(words) if words.isdigit() else None


def _words(file: Path) -> int | None:
    words = _bytes(file)
    return None if words is None else words * WORD_BYTES

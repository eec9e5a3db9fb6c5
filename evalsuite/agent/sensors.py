"""The one door to the sensors of this machine: psutil, NVML and the kernel's own files.

psutil and pynvml (the distribution nvidia-ml-py) are imported when a sensor is opened, never before. What a
sensor cannot say is None; every error of NVML ends in `nvml_trouble` or `_nvml`, every error of psutil in `_psutil`.
"""

import functools
import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalsuite import files
from evalsuite.agent import cgroups
from evalsuite.documents import Gpu, Interface
from evalsuite.runs.samples import DiskCounters, GpuReading, InterfaceCounters

KIBIBYTE = 1024  # nvmlDeviceGetPcieThroughput answers in KB/s
PCIE_QUESTION_S = 0.02  # that is how long it takes to answer
PCIE_PERIOD_S = 0.5
# InfiniBand's data counters count 32-bit words: the kernel's Documentation/ABI/stable/sysfs-class-infiniband
WORD_BYTES = 4
LOOPBACK = "lo"
INFINIBAND = "32"  # ARPHRD_INFINIBAND, linux/if_arp.h


class Cpu:
    """The cores this process may use, and how busy they are.

    Where a container's quota is tighter than the cores, the quota is the capacity and the container's own
    CPU time is what is used; a neighbour's load on the same cores is not counted then.
    """

    def __init__(self, limits: cgroups.Limits, root: Path = Path("/"), cores: Sequence[int] = ()) -> None:
        """*cores* are the job's own; () for all that this process may use."""
        self.cores = sorted(cores) or usable_cores()
        online = numbers(files.text(root / "sys/devices/system/cpu/online")) or list(range(os.cpu_count() or 1))
        self._positions = [online.index(core) for core in self.cores if core in online]
        quota = limits.cpus if limits.cpus is not None and limits.cpus < len(self.cores) else None
        self.capacity = float(len(self.cores)) if quota is None else quota
        self._group = None if quota is None else limits.cpu_group
        self._before = self._now()

    @property
    def scope(self) -> str:
        return "machine" if self._group is None else "container"

    def reading(self) -> tuple[float | None, list[float] | None]:
        """Percent of the capacity used since the last reading, and percent of each usable core."""
        before, now = self._before, self._now()
        self._before = now
        cores = _core_percents(before.cores, now.cores)
        if self._group is None:
            return _mean(cores), cores
        return self._group_percent(before, now), cores

    def _group_percent(self, before: "CpuTimes", now: "CpuTimes") -> float | None:
        if before.group_s is None or now.group_s is None or now.at_s <= before.at_s:
            return None
        used = (now.group_s - before.group_s) / (now.at_s - before.at_s)
        return 100.0 * used / self.capacity

    def _now(self) -> "CpuTimes":
        times = _psutil("cpu_times", percpu=True)
        cores = [times[place] for place in self._positions if place < len(times)] if times else None
        group_s = self._group.cpu_s() if self._group else None
        return CpuTimes(cores=cores, group_s=group_s, at_s=time.monotonic())


@dataclass(frozen=True, kw_only=True)
class CpuTimes:
    """CPU time counted up to an instant."""

    cores: Sequence[Any] | None  # psutil's times of each usable core
    group_s: float | None  # of the container
    at_s: float


class Memory:
    """Main memory: of the machine, or of the container where its limit is tighter."""

    def __init__(self, limits: cgroups.Limits) -> None:
        memory = _psutil("virtual_memory")
        machine = memory.total if memory else None
        limited = limits.memory_bytes is not None and (machine is None or limits.memory_bytes < machine)
        self._group = limits.memory_group if limited else None
        self.total_bytes = limits.memory_bytes if limited else machine

    @property
    def scope(self) -> str:
        return "machine" if self._group is None else "container"

    def used_bytes(self) -> int | None:
        if self._group is not None:
            return self._group.memory_used_bytes()
        memory = _psutil("virtual_memory")
        return memory.total - memory.available if memory else None


class Disks:
    """Whole disks: counters of bytes and operations since the machine started.

    A disk counts once: partitions, loop devices, RAM disks and volumes laid over disks are left out,
    unless there is nothing else.
    """

    def __init__(self, root: Path = Path("/")) -> None:
        counters = _psutil("disk_io_counters", perdisk=True, nowrap=False) or {}
        blocks = root / "sys/block"
        real = [name for name in counters if (blocks / name.replace("/", "!") / "device").exists()]
        self.names = sorted(real or (name for name in counters if not name.startswith(("loop", "ram", "zram"))))

    def reading(self) -> dict[str, DiskCounters]:
        counters = _psutil("disk_io_counters", perdisk=True, nowrap=False) or {}
        return {name: _disk(counters[name]) for name in self.names if name in counters}


class Network:
    """Interfaces: counters of bytes since the machine started.

    Ports of InfiniBand adapters are listed beside them, because what goes by RDMA is in no interface's counter; an
    interface that sends its packets through such a port (IPoIB) is left out, it would count twice. So are
    bridges, bonds and the machine's ends of containers' links where there is real hardware.
    """

    def __init__(self, root: Path = Path("/")) -> None:
        self._ports = {f"{port.parent.parent.name}/{port.name}": port for port in _ports(root)}
        state = _psutil("net_if_stats") or {}
        names = _interfaces(state, root / "sys/class/net", bool(self._ports))
        speeds = {name: state[name].speed for name in names} | {
            name: _port_speed(port) for name, port in self._ports.items()
        }
        self.facts = {name: Interface(speed_mbit_s=speed or None) for name, speed in speeds.items()}

    def reading(self) -> dict[str, InterfaceCounters]:
        counters = _psutil("net_io_counters", pernic=True, nowrap=False) or {}
        found = {name: _interface(counters[name]) for name in self.facts if name in counters}
        for name, port in self._ports.items():
            received, sent = (_words(port / "counters" / f"port_{way}_data") for way in ("rcv", "xmit"))
            if received is not None and sent is not None:
                found[name] = InterfaceCounters(received_bytes=received, sent_bytes=sent)
        return found


class Gpus:
    """The NVIDIA devices of this machine; none where NVML is absent or finds none."""

    def __init__(self) -> None:
        self._handles = _handles()
        self._pcie: PcieMeter | None = None

    def __len__(self) -> int:
        return len(self._handles)

    @property
    def pcie_period_s(self) -> float:
        """Seconds from one reading of a device's PCIe traffic to the next: both ways on every device in between."""
        return max(PCIE_PERIOD_S, 2.5 * PCIE_QUESTION_S * len(self._handles))

    def facts(self) -> list[Gpu]:
        """What each device is."""
        return [_gpu_facts(index, handle) for index, handle in enumerate(self._handles)]

    def reading(self) -> list[GpuReading]:
        """What each device does."""
        if self._handles and self._pcie is None:
            self._pcie = PcieMeter(self._handles, self.pcie_period_s)
        traffic = self._pcie.taken() if self._pcie else {}
        return [
            _gpu_reading(index, handle, traffic.get(index, (None, None))) for index, handle in enumerate(self._handles)
        ]

    def close(self) -> None:
        if self._pcie:
            self._pcie.close()


class PcieMeter:
    """Reads PCIe traffic on a thread of its own, because each question takes NVML 20 ms to answer.

    docs.nvidia.com/deploy/nvml-api, nvmlDeviceGetPcieThroughput: "queries a byte counter over a 20ms interval".
    """

    def __init__(self, handles: Sequence[Any], period_s: float) -> None:
        self._period_s = period_s
        self._handles = dict(enumerate(handles))
        self._latest: dict[int, tuple[int | None, int | None]] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._measure, name="pcie", daemon=True)
        self._thread.start()

    def taken(self) -> dict[int, tuple[int | None, int | None]]:
        """Index → (received, sent) bytes per second, measured since the last call; each is given once."""
        with self._lock:
            latest, self._latest = self._latest, {}
        return latest

    def close(self) -> None:
        self._closed.set()
        self._thread.join(1.0)

    def _measure(self) -> None:
        while self._handles and not self._closed.is_set():
            began = time.monotonic()
            for index, handle in list(self._handles.items()):
                traffic = _throughput(handle, "RX"), _throughput(handle, "TX")
                if traffic == (None, None):
                    del self._handles[index]  # this device does not know, and will not know next time
                with self._lock:
                    self._latest[index] = traffic
            self._closed.wait(max(0.0, began + self._period_s - time.monotonic()))


@dataclass(frozen=True, kw_only=True)
class NvidiaVersions:
    """The NVIDIA driver, and the newest CUDA that it serves."""

    driver: str | None
    cuda: str | None


def usable_cores() -> list[int]:
    """The numbers of the cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def usable_cpus(root: Path = Path("/")) -> float:
    """Cores' worth of CPU time that this process may use: its affinity, cut by a container's quota."""
    cores, quota = len(usable_cores()), cgroups.limits(root).cpus
    return float(cores) if quota is None else min(float(cores), quota)


def visible(gpus: Sequence[Gpu], devices: str | None) -> list[Gpu]:
    """Those of *gpus* that CUDA_VISIBLE_DEVICES=*devices* shows to a program, in the program's order.

    The list ends at the first entry that names no device, as in the driver:
    docs.nvidia.com/cuda/cuda-c-programming-guide, "CUDA Environment Variables".
    """
    if devices is None:
        return list(gpus)
    shown: list[Gpu] = []
    for entry in devices.split(","):
        found = next((gpu for gpu in gpus if _is(gpu, entry.strip())), None)
        if found is None:
            break
        shown.append(found)
    return shown


def nvidia_versions() -> NvidiaVersions:
    """The versions of the NVIDIA driver and of the newest CUDA that it serves."""
    cuda = _nvml("nvmlSystemGetCudaDriverVersion")
    return NvidiaVersions(
        driver=_string(_nvml("nvmlSystemGetDriverVersion")),
        cuda=None if cuda is None else f"{cuda // 1000}.{cuda % 1000 // 10}",
    )


@functools.cache
def nvml_trouble() -> str | None:
    """Why NVML gives nothing, in its own words; None if it answers. Asked once in the life of a process."""
    try:
        import pynvml
    except ImportError:
        return "the Python package nvidia-ml-py is not installed"
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return str(error)
    return None


def _nvml(name: str, *arguments: Any, **named: Any) -> Any:
    """What NVML answers; None where package, library, driver or device cannot say."""
    if nvml_trouble() is not None:
        return None
    import pynvml

    function = getattr(pynvml, name, None)
    if function is None:
        return None
    try:
        return function(*arguments, **named)
    except pynvml.NVMLError:
        return None


def _nvml_constant(name: str) -> Any:
    import pynvml

    return getattr(pynvml, name, None)


def _psutil(name: str, **named: Any) -> Any:
    """What psutil answers; None where it is not installed or this kernel does not say."""
    try:
        import psutil
    except ImportError:
        return None
    try:
        return getattr(psutil, name)(**named)
    except (OSError, NotImplementedError, psutil.Error):
        return None


def _handles() -> list[Any]:
    found = [_nvml("nvmlDeviceGetHandleByIndex", index) for index in range(_nvml("nvmlDeviceGetCount") or 0)]
    return [handle for handle in found if handle is not None]


def _gpu_facts(index: int, handle: Any) -> Gpu:
    memory = _gpu_memory(handle)
    return Gpu(
        index=index,
        uuid=_string(_nvml("nvmlDeviceGetUUID", handle)),
        name=_string(_nvml("nvmlDeviceGetName", handle)),
        memory_total_bytes=memory.total if memory else None,
        power_limit_w=_scaled(_nvml("nvmlDeviceGetEnforcedPowerLimit", handle), 1e-3),
    )


def _gpu_reading(index: int, handle: Any, traffic: tuple[int | None, int | None]) -> GpuReading:
    busy = _nvml("nvmlDeviceGetUtilizationRates", handle)
    memory = _gpu_memory(handle)
    return GpuReading(
        index=index,
        utilisation_percent=busy.gpu if busy else None,
        memory_used_bytes=memory.used if memory else None,
        memory_utilisation_percent=busy.memory if busy else None,
        power_w=_scaled(_nvml("nvmlDeviceGetPowerUsage", handle), 1e-3),
        energy_j=_scaled(_nvml("nvmlDeviceGetTotalEnergyConsumption", handle), 1e-3),  # since Volta
        temperature_c=_nvml("nvmlDeviceGetTemperature", handle, _nvml_constant("NVML_TEMPERATURE_GPU")),
        sm_clock_mhz=_nvml("nvmlDeviceGetClockInfo", handle, _nvml_constant("NVML_CLOCK_SM")),
        memory_clock_mhz=_nvml("nvmlDeviceGetClockInfo", handle, _nvml_constant("NVML_CLOCK_MEM")),
        pcie_received_bytes_per_s=traffic[0],
        pcie_sent_bytes_per_s=traffic[1],
    )


def _gpu_memory(handle: Any) -> Any:
    """Version 2 counts what the driver keeps for itself apart from what is used, as nvidia-smi does."""
    version = _nvml_constant("nvmlMemory_v2")
    newer = _nvml("nvmlDeviceGetMemoryInfo", handle, version=version) if version else None
    return newer or _nvml("nvmlDeviceGetMemoryInfo", handle)


def _throughput(handle: Any, way: str) -> int | None:
    kilobytes = _nvml("nvmlDeviceGetPcieThroughput", handle, _nvml_constant(f"NVML_PCIE_UTIL_{way}_BYTES"))
    return None if kilobytes is None else int(kilobytes) * KIBIBYTE


def _is(gpu: Gpu, entry: str) -> bool:
    if entry.isdigit():
        return gpu.index == int(entry)
    return entry.startswith("GPU-") and (gpu.uuid or "").startswith(entry)


def _core_percents(before: Sequence[Any] | None, now: Sequence[Any] | None) -> list[float] | None:
    if before is None or now is None:
        return None
    percents = [_busy_percent(old, new) for old, new in zip(before, now, strict=False)]
    known = [percent for percent in percents if percent is not None]
    return known if len(known) == len(percents) else None


def _busy_percent(old: Any, new: Any) -> float | None:
    """Percent of the time between two readings of a core's counters that it was not idle.

    Guest time is already in user time (proc_stat(5)), and a core that waits for a disk is idle.
    """
    idle = _idle_s(new) - _idle_s(old)
    total = _total_s(new) - _total_s(old)
    return None if total <= 0 else min(100.0, max(0.0, 100.0 * (1.0 - idle / total)))


def _idle_s(times: Any) -> float:
    return float(times.idle + getattr(times, "iowait", 0.0))


def _total_s(times: Any) -> float:
    return float(sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0))


def _disk(counters: Any) -> DiskCounters:
    return DiskCounters(
        read_bytes=counters.read_bytes,
        write_bytes=counters.write_bytes,
        read_operations=counters.read_count,
        write_operations=counters.write_count,
    )


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
    """Ports of InfiniBand adapters: sys/class/infiniband/mlx5_0/ports/1."""
    return sorted(port for port in root.glob("sys/class/infiniband/*/ports/*") if (port / "counters").is_dir())


def _port_speed(port: Path) -> int | None:
    """`100 Gb/sec (4X EDR)` → 100000."""
    rate = (files.text(port / "rate") or "").split()
    return int(float(rate[0]) * 1000) if len(rate) > 1 and rate[1].startswith("Gb") else None


def _words(file: Path) -> int | None:
    words = files.text(file) or ""
    return int(words) * WORD_BYTES if words.isdigit() else None


def numbers(ranges: str | None) -> list[int]:
    """`0-3,8` → [0, 1, 2, 3, 8], the way the kernel writes lists of cores."""
    numbers: list[int] = []
    for part in (ranges or "").split(","):
        first, _, last = part.partition("-")
        if first.isdigit():
            numbers += range(int(first), int(last or first) + 1)
    return numbers


def _mean(values: Sequence[float] | None) -> float | None:
    return sum(values) / len(values) if values else None


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def _string(value: bytes | str | None) -> str | None:
    return value.decode(errors="replace") if isinstance(value, bytes) else value

"""What this machine is: hardware, drivers, topology, and limits of a container."""

import functools
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from evalsuite import __version__
from evalsuite.core import files, paths, redaction
from evalsuite.core.decode import whole
from evalsuite.core.documents import ContainerLimits, HostEnvironment
from evalsuite.machine import cgroups
from evalsuite.machine.sensors.accelerators import open_accelerators
from evalsuite.machine.sensors.network import Network
from evalsuite.machine.sensors.processor import Cpu
from evalsuite.machine.sensors.system import Disks, Memory

SECTOR = 512  # bytes of /sys/block/*/size, whatever the disk's own (kernel, Documentation/ABI/stable/sysfs-block)
TURNS = {"0": "SSD", "1": "HDD"}
TOPOLOGY_TIMEOUT_S = 20.0


def read_environment(host: str, node_rank: int, root: Path = Path("/")) -> HostEnvironment:
    limits = cgroups.limits(root)
    cpu, memory = Cpu(limits, root), Memory(limits)
    gpus = open_accelerators()
    versions = gpus.versions()
    disks, interfaces = Disks(root).names, Network(root).facts
    return HostEnvironment(
        host=host,
        node_rank=node_rank,
        os=operating_system(root),
        kernel=platform.release(),
        cpu_model=cpu_model(root),
        cpu_count=os.cpu_count(),
        cpu_count_usable=cpu.capacity,
        memory_total_bytes=memory.total_bytes,
        container=container(limits),
        disks=tuple(disks),
        interfaces=interfaces,
        models=models(disks, interfaces, root),
        gpus=tuple(gpus.facts()),
        driver=versions.get("driver"),
        cuda_driver=versions.get("toolkit"),
        topology=output("nvidia-smi", "topo", "-m") if len(gpus) else None,
        python=platform.python_version(),
        evalsuite=__version__,
        environment_variables=relevant(os.environ),
    )


def boot_id() -> str | None:
    """Of the running kernel (proc_sys_kernel(5)); None where it does not say."""
    return files.text(Path("/proc/sys/kernel/random/boot_id"))


def operating_system(root: Path = Path("/")) -> str:
    """`Debian GNU/Linux 12 (bookworm)`"""
    return _value(files.text(root / "etc/os-release"), "PRETTY_NAME", "=").strip("\"'") or platform.system()


def cpu_model(root: Path = Path("/")) -> str | None:
    """`Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz`; by lscpu on Arm, where the kernel gives numbers only."""
    if printed := _value(files.text(root / "proc/cpuinfo"), "model name", ":"):
        return printed
    return _value(output("lscpu"), "Model name", ":") or platform.processor() or None


def _value(text: str | None, wanted: str, sign: str) -> str:
    parts = (line.partition(sign) for line in (text or "").splitlines())
    return next((value.strip() for name, _, value in parts if name.strip() == wanted), "")


def container(limits: cgroups.Limits) -> ContainerLimits | None:
    if limits.cpus is None and limits.memory_bytes is None:
        return None
    return ContainerLimits(cpus=limits.cpus, memory_bytes=limits.memory_bytes)


@functools.cache
def output(*argv: str) -> str | None:
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=TOPOLOGY_TIMEOUT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="replace").rstrip() or None


def absent(programs: Collection[str]) -> list[str]:
    """Those that are not here. An mpicc builds nothing without mpi.h, often in a package of its own."""
    include = ("mpicc", "-E", "-include", "mpi.h", "-xc", "/dev/null")
    unbuilt = ["mpicc + mpi.h"] if include[0] in programs and not output(*include) else []
    return [name for name in programs if not shutil.which(name)] or unbuilt


def models(disks: Iterable[str], interfaces: Iterable[str], root: Path = Path("/")) -> dict[str, str]:
    """Those that the machine says."""
    found = {**{name: _disk(root, name) for name in disks}, **{name: _card(root, name) for name in interfaces}}
    return {name: model for name, model in found.items() if model}


def _disk(root: Path, name: str) -> str:
    """`nvme0n1` → `SAMSUNG MZWLL1T6HEHP, 1,600 GB SSD`"""
    block = root / "sys/block" / name.replace("/", "!")
    model, sectors = files.text(block / "device/model"), whole(files.text(block / "size") or "")
    size = f"{sectors * SECTOR / 1e9:,.0f} GB" if sectors else ""
    kind = TURNS.get(files.text(block / "queue/rotational") or "", "") if model else ""  # without one it is made up
    return ", ".join(filter(None, (model, " ".join(filter(None, (size, kind))))))


def _card(root: Path, name: str) -> str:
    """`mlx5_0/1` → `MT4119 16.28.2006`, by hca_type and firmware; `eth0` → `ixgbe 8086:10fb`, by driver and PCI ids."""
    if "/" in name:
        folder = root / "sys/class/infiniband" / name.partition("/")[0]
        return " ".join(filter(None, (files.text(folder / "hca_type"), files.text(folder / "fw_ver"))))
    device = root / "sys/class/net" / name / "device"
    ids = [(files.text(device / each) or "").removeprefix("0x") for each in ("vendor", "device")]
    driver = (device / "driver").resolve().name if (device / "driver").exists() else ""
    return " ".join(filter(None, (driver, ":".join(ids) if all(ids) else "")))


SET = "[set]"  # instead of a value that may be secret

_NAMES: Mapping[str, str] = paths.read_data("variables.toml")
KNOWN = frozenset(f"{beginning}{name}" for beginning, names in _NAMES.items() for name in names.split())
_BEGINNINGS = re.compile("|".join(sorted(filter(None, _NAMES))))
# Terraform's, TensorFlow's list of hosts, and names like those of secrets.
_OTHERS = re.compile(r"TF_(?:CLI|CONFIG|VAR|LOG)|.*(?:CREDENTIAL|KEY|PASSW|SECRET|TOKEN)", re.IGNORECASE)


def relevant(environment: Mapping[str, str]) -> dict[str, str]:
    """Of variables that only share a prefix with known ones, that they are set."""
    values = {}
    for name, value in sorted(environment.items()):
        if name in KNOWN:
            values[name] = value
        elif _BEGINNINGS.match(name) and not _OTHERS.match(name) and not redaction.is_secret_name(name):
            values[name] = SET
    return redaction.redact_variables(values)

"""Models of disks, network cards and memory modules, as far as Linux says them; a hypervisor mostly hides them."""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from evalsuite import files
from evalsuite.decode import whole

SECTOR = 512  # bytes of /sys/block/*/size, whatever the disk's own (kernel, Documentation/ABI/stable/sysfs-block)
TURNS = {"0": "SSD", "1": "HDD"}


def disk_models(names: Iterable[str], root: Path = Path("/")) -> dict[str, str]:
    """`nvme0n1` → `SAMSUNG MZWLL1T6HEHP, 1,600 GB SSD`"""
    return _without_empty((name, _disk(root / "sys/block" / name.replace("/", "!"))) for name in names)


def _disk(block: Path) -> str:
    model, sectors = files.text(block / "device/model"), whole(files.text(block / "size") or "")
    size = f"{sectors * SECTOR / 1e9:,.0f} GB" if sectors else ""
    kind = TURNS.get(files.text(block / "queue/rotational") or "", "") if model else ""  # without one it is made up
    return ", ".join(filter(None, (model, " ".join(filter(None, (size, kind))))))


def card_models(names: Iterable[str], root: Path = Path("/")) -> dict[str, str]:
    """`mlx5_0/1` → `MT4119 16.28.2006`, by hca_type and firmware; `eth0` → `ixgbe 8086:10fb`, by driver and PCI ids."""
    return _without_empty((name, _adapter(root, name) if "/" in name else _card(root, name)) for name in names)


def _adapter(root: Path, name: str) -> str:
    folder = root / "sys/class/infiniband" / name.partition("/")[0]
    return " ".join(filter(None, (files.text(folder / "hca_type"), files.text(folder / "fw_ver"))))


def _card(root: Path, name: str) -> str:
    device = root / "sys/class/net" / name / "device"
    ids = [(files.text(device / each) or "").removeprefix("0x") for each in ("vendor", "device")]
    driver = (device / "driver").resolve().name if (device / "driver").exists() else ""
    return " ".join(filter(None, (driver, ":".join(ids) if all(ids) else "")))


def memory_modules(dmidecode: str | None) -> str | None:
    """`12 × 32 GB DDR4 2666 MT/s`, of `dmidecode --type 17`, which only root may read."""
    blocks = [dict(re.findall(r"(?m)^\s+(Size|Type|Speed): (\S.*)$", text)) for text in (dmidecode or "").split("\n\n")]
    modules = Counter(
        " ".join(block[name] for name in ("Size", "Type", "Speed") if block.get(name, "Unknown") != "Unknown")
        for block in blocks
        if whole(block.get("Size", "").partition(" ")[0])
    )
    return ", ".join(f"{n} × {text}" for text, n in modules.items()) or None


def _without_empty(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {name: text for name, text in pairs if text}

"""Lustre and NFS, as this machine's client counts what it moves.

The Lustre manual, "Monitoring Client Activity" (llite.*.stats); the kernel's Documentation/filesystems/nfs and
fs/nfs/iostat.h (statvers=1.1).
"""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

from evalsuite.core import files
from evalsuite.runs.samples import FilesystemCounters

LUSTRE = ("proc/fs/lustre/llite", "sys/kernel/debug/lustre/llite", "sys/fs/lustre/llite")
# lustre01-ffff8d3c1f0e4800: the file system, and where the kernel keeps it
LUSTRE_NAME = re.compile(r"(.+)-[0-9a-f]{8,}")
# device fs1:/export mounted on /data with fstype nfs4 statvers=1.1
NFS_MOUNT = re.compile(r"device (\S+) mounted on (\S+) with fstype (nfs4?)\b")
NFS_BYTES = 8  # after "bytes:"; the fifth was read from the server, the sixth written
NOT_OPERATIONS = frozenset({"read_bytes", "write_bytes", "snapshot_time", "start_time", "elapsed_time"})


class Filesystems:
    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root
        self._lustre = {name: file for folder in LUSTRE for name, file in _lustre(root / folder)}
        self._mounts = root / "proc/self/mountstats"
        self.kinds: Mapping[str, str] = {
            **dict.fromkeys(self._lustre, "lustre"),
            **{name: kind for name, kind, _ in self._nfs()},
        }

    def reading(self) -> dict[str, FilesystemCounters]:
        """Name (`lustre:NAME`, `nfs:SERVER:/EXPORT`) → its counters."""
        readings = {name: counters for name, file in self._lustre.items() if (counters := _lustre_counters(file))}
        if any(kind != "lustre" for kind in self.kinds.values()):
            readings |= {name: counters for name, _, counters in self._nfs() if name in self.kinds}
        return readings

    def _nfs(self) -> Iterator[tuple[str, str, FilesystemCounters]]:
        seen = set()
        for name, kind, lines in _mounts((files.text(self._mounts) or "").splitlines()):
            counters = _nfs_counters(lines)
            if counters and name not in seen:
                seen.add(name)
                yield name, kind, counters


def _lustre(folder: Path) -> Iterator[tuple[str, Path]]:
    try:
        mounts = sorted(folder.iterdir())
    except OSError:
        return
    for mount in mounts:
        match = LUSTRE_NAME.fullmatch(mount.name)
        if (mount / "stats").is_file():
            yield f"lustre:{match[1] if match else mount.name}", mount / "stats"


def _lustre_counters(file: Path) -> FilesystemCounters | None:
    """The last number is the sum of bytes:

    read_bytes 12 samples [bytes] 4096 1048576 8454144 8804682956800

    getattr 41 samples [usecs] 2 1201 5313 2216101
    """
    moved = {"read_bytes": 0, "write_bytes": 0}
    operations = 0
    text = files.text(file)
    for line in (text or "").splitlines():
        name, count, *more = [*line.split(), "", ""][:8]
        if name in moved and len(line.split()) >= 7:
            moved[name], operations = int(line.split()[6]), operations + int(count)
        elif name not in NOT_OPERATIONS and count.isdigit() and more[:1] == ["samples"]:
            operations += int(count)
    return FilesystemCounters(**moved, operations=operations) if text else None


def _mounts(lines: list[str]) -> Iterator[tuple[str, str, list[str]]]:
    starts = [place for place, line in enumerate(lines) if line.startswith("device ")]
    for begin, end in pairwise([*starts, len(lines)]):
        if match := NFS_MOUNT.match(lines[begin]):
            yield f"nfs:{match[1]}", match[3], lines[begin + 1 : end]


def _nfs_counters(lines: list[str]) -> FilesystemCounters | None:
    """`bytes:` and, after "per-op statistics", `READ: 7 7 0 1344 28680 0 3 5 0`, a line an operation."""
    read = written = None
    operations, counts_operations = 0, False
    for line in lines:
        name, _, rest = line.strip().partition(":")
        numbers = rest.split()
        if name == "bytes" and len(numbers) >= NFS_BYTES:
            read, written = int(numbers[4]), int(numbers[5])
        elif name == "per-op statistics":
            counts_operations = True
        elif counts_operations and numbers and numbers[0].isdigit() and name != "NULL":
            operations += int(numbers[0])
    if read is None or written is None:
        return None
    return FilesystemCounters(read_bytes=read, write_bytes=written, operations=operations)

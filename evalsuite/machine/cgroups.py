"""The CPU quota and the memory limit of our control groups, version 1 and 2.

docs.kernel.org/admin-guide/cgroup-v2.html (`cpu.max`, `memory.max`), docs.kernel.org/scheduler/sched-bwc.html and
…/cgroup-v1/memory.html (`cpu.cfs_quota_us`, `memory.limit_in_bytes`). A limit holds for all groups inside it, so the
tightest on the way up counts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from evalsuite.core import files

MICROSECONDS = 1e6
NANOSECONDS = 1e9
UNLIMITED_BYTES = 1 << 62  # version 1 writes a huge number for no limit


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The tightest limits, and the groups that set them. None: there is none."""

    cpus: float | None = None
    memory_bytes: int | None = None
    cpu_group: "Group | None" = None
    memory_group: "Group | None" = None


@dataclass(frozen=True, kw_only=True)
class Group:
    folder: Path
    version: int

    def cpus(self) -> float | None:
        if self.version == 2:
            quota, _, period = (files.text(self.folder / "cpu.max") or "max").partition(" ")
        else:
            quota = files.text(self.folder / "cpu.cfs_quota_us") or "-1"
            period = files.text(self.folder / "cpu.cfs_period_us") or ""
        return None if not quota.isdigit() or not period.isdigit() or int(period) == 0 else int(quota) / int(period)

    def memory_bytes(self) -> int | None:
        limit = files.text(self.folder / ("memory.max" if self.version == 2 else "memory.limit_in_bytes")) or ""
        return int(limit) if limit.isdigit() and int(limit) < UNLIMITED_BYTES else None

    def cpu_s(self) -> float | None:
        if self.version == 2:
            used = _table(self.folder / "cpu.stat").get("usage_usec")
            return None if used is None else used / MICROSECONDS
        counted = files.text(self.folder / "cpuacct.usage") or ""
        return int(counted) / NANOSECONDS if counted.isdigit() else None

    def memory_used_bytes(self) -> int | None:
        """Without the file cache that the kernel can drop, as cadvisor's working set
        (container/libcontainer/handler.go, `setMemoryStats`)."""
        current, inactive = (
            ("memory.current", "inactive_file")
            if self.version == 2
            else ("memory.usage_in_bytes", "total_inactive_file")
        )
        used = files.text(self.folder / current) or ""
        if not used.isdigit():
            return None
        return max(0, int(used) - _table(self.folder / "memory.stat").get(inactive, 0))


def limits(root: Path = Path("/")) -> Limits:
    """*root* is where `/proc` and the control groups are found."""
    cpus = [(limit, group) for group in _groups("cpu", root) if (limit := group.cpus()) is not None]
    memory = [(limit, group) for group in _groups("memory", root) if (limit := group.memory_bytes()) is not None]
    cpu_limit, cpu_group = min(cpus, key=itemgetter(0), default=(None, None))
    memory_limit, memory_group = min(memory, key=itemgetter(0), default=(None, None))
    return Limits(
        cpus=cpu_limit, memory_bytes=memory_limit, cpu_group=_with_usage(cpu_group, root), memory_group=memory_group
    )


def _with_usage(group: Group | None, root: Path) -> Group | None:
    """Version 1 may count CPU time in another hierarchy (cpuacct) than the one that limits it."""
    if group is None or group.version == 2 or (group.folder / "cpuacct.usage").is_file():
        return group
    return next((other for other in _groups("cpuacct", root) if other.folder.name == group.folder.name), group)


def _groups(controller: str, root: Path) -> Iterator[Group]:
    for version, top, folder in _places(controller, root):
        inmost = folder if folder.is_dir() else top  # else the path is the host's, and this mount shows only our part
        inside = (each for each in (inmost, *inmost.parents) if each.is_relative_to(top))
        yield from (Group(folder=each, version=version) for each in inside)


def _places(controller: str, root: Path) -> Iterator[tuple[int, Path, Path]]:
    """(version, where it is mounted, our group's folder) of each hierarchy that has *controller*."""
    home = dict(_memberships(root))
    for version, controllers, inner, mount in _mounts(root):
        key = "" if version == 2 else controller
        if key in home and (version == 2 or controller in controllers):
            top = root / mount.lstrip("/")
            yield version, top, top / _below(home[key], inner)


def _memberships(root: Path) -> Iterator[tuple[str, str]]:
    """Controller → path of our group; "" for version 2."""
    for line in (files.text(root / "proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            yield controller, path


def _mounts(root: Path) -> Iterator[tuple[int, frozenset[str], str, str]]:
    """(version, controllers, path inside the hierarchy, mount point) of each hierarchy.

    35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory (proc_pid_mountinfo(5))
    """
    for line in (files.text(root / "proc/self/mountinfo") or "").splitlines():
        place, _, kind = line.partition(" - ")
        fields, (filesystem, _, options) = place.split(" "), [*kind.split(" ", 2), "", ""][:3]
        if filesystem in ("cgroup", "cgroup2") and len(fields) > 4:
            version = 2 if filesystem == "cgroup2" else 1
            yield version, frozenset(options.split(",")), fields[3], fields[4]


def _below(path: str, inner: str) -> str:
    """*path* below a mount that shows the hierarchy from *inner* on."""
    if inner != "/" and (path == inner or path.startswith(inner + "/")):
        path = path[len(inner) :]
    return path.lstrip("/") if ".." not in path.split("/") else ""


def _table(file: Path) -> dict[str, int]:
    pairs = (line.split() for line in (files.text(file) or "").splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}

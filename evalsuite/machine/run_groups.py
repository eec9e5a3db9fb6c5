"""A control group for the processes of a run: the kernel counts what they use, and one write ends them all.

No process can leave it. It takes the right to make a group below our own: root has it, or a user where systemd
delegates one (`systemd-run --user --scope -p Delegate=yes`). Elsewhere a run is ended and counted by its process tree
alone.

docs.kernel.org/admin-guide/cgroup-v2.html: `cgroup.procs`, `cgroup.kill` (Linux 5.14), `cpu.stat` without a controller.
Version 1 has `cpuacct.usage` and no kill: the members are killed one by one.
"""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evalsuite.core.messages import Message
from evalsuite.machine import cgroups

PREFIX = "evalsuite-"
PROCESSES, KILL = "cgroup.procs", "cgroup.kill"
LEAVE_S = 2.0  # for the kernel to clear up what was killed
POLL_S = 0.02


@dataclass(frozen=True, kw_only=True)
class RunGroup:
    group: cgroups.Group
    home: Path

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        _move(self.group.folder)
        try:
            yield
        finally:
            _move(self.home)

    def cpu_s(self) -> float | None:
        used_s = self.group.cpu_s()
        return None if used_s is None else round(used_s, 6)

    def kill(self) -> tuple[int, int]:
        return _kill_all(self.group.folder), len(_members(self.group.folder))

    def end(self) -> int:
        return _end(self.group.folder)


def make_group(name: str, root: Path = Path("/")) -> RunGroup | str:
    home = _home(root)
    if home is None:
        return Message("agent.no_control_groups")
    folder = home.folder / f"{PREFIX}{name}"
    try:
        folder.mkdir()
    except OSError as error:
        return Message("system.of", name=folder, what=error)
    return RunGroup(group=cgroups.Group(folder=folder, version=home.version), home=home.folder)


def why_no_group() -> str | None:
    group = make_group(f"{os.getpid()}-try")
    if isinstance(group, str):
        return group
    group.end()
    return None


def end(name: str, root: Path = Path("/")) -> int:
    """Kills what a run whose agent is gone has left; how many processes that were."""
    home = _home(root)
    return _end(home.folder / f"{PREFIX}{name}") if home else 0


def _home(root: Path) -> cgroups.Group | None:
    known = list(cgroups.own("cpuacct", root))
    return next((group for group in known if group.version == 2), known[0] if known else None)


def _move(folder: Path) -> None:
    """Moves this process; to fail must not stop the measurement."""
    with contextlib.suppress(OSError), open(folder / PROCESSES, "w") as file:
        file.write(str(os.getpid()))


def _end(folder: Path) -> int:
    killed = _kill_all(folder)
    with contextlib.suppress(OSError):
        _remove(folder, time.monotonic() + LEAVE_S)
    return killed


def _kill_all(folder: Path) -> int:
    killed: set[int] = set()
    deadline = time.monotonic() + LEAVE_S
    while left := _members(folder):
        killed |= left
        _kill(folder, left)
        if time.monotonic() > deadline:
            break
        time.sleep(POLL_S)
    return len(killed)


def _members(folder: Path) -> set[int]:
    members: set[int] = set()
    with contextlib.suppress(OSError):
        for file in folder.rglob(PROCESSES):
            with contextlib.suppress(OSError, ValueError):
                members |= {int(word) for word in file.read_text().split()}
    return members - {os.getpid(), 0}


def _kill(folder: Path, members: set[int]) -> None:
    try:
        (folder / KILL).write_text("1")
    except OSError:
        for pid in members:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def _remove(folder: Path, deadline: float) -> None:
    for inner in sorted((path for path in folder.rglob("*") if path.is_dir()), reverse=True):
        inner.rmdir()
    while True:
        try:
            return folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(POLL_S)

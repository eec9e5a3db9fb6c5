"""The evaluator's side of the heartbeat of a run on other hosts (`machine.heartbeat`)."""

import time

from evalsuite.core import files
from evalsuite.launch.remote import launcher_errors
from evalsuite.machine.heartbeat import PERIOD_S, SILENT_S, FileWatch, touch
from evalsuite.runs.store import RunFolder

START_S = 300.0  # from the first agent to the last: schedulers may start tasks one by one


class HeartbeatMonitor:
    """The agents of the run in *folder* hear of us and are watched, as often as `find_lost` is called."""

    def __init__(self, folder: RunFolder, silent_s: float = SILENT_S, *, nodes: int = 1) -> None:
        self._folder = folder
        self._nodes = nodes
        self._silent_s = silent_s
        self._watches: dict[str, FileWatch] = {}
        self._next_s = 0.0
        self._began_s: float | None = None
        files.write_atomically(folder.pulse, f"{silent_s}".encode())

    def find_lost(self) -> list[str]:
        """Hosts whose file has not changed for too long though their agent has not ended, or that the launcher lost."""
        if time.monotonic() < self._next_s:
            return []
        self._next_s = time.monotonic() + min(PERIOD_S, self._silent_s / 4)
        touch(self._folder.pulse)
        for host in self._folder.beating():
            self._watches.setdefault(host, FileWatch(self._folder.beat_path(host)))
        silent = {host for host, watch in self._watches.items() if watch.silent_s() > self._silent_s}
        lost = silent.difference(self._folder.agents() if silent else ())
        return sorted(lost.union(launcher_errors.read_lost_nodes(self._folder.engine_log)))

    def is_incomplete(self) -> bool:
        """A node never called while another long has: MPICH 4 waits for ever for a host that ssh did not reach."""
        if not self._watches or self._folder.waiting():
            self._began_s = None
        elif self._began_s is None:
            self._began_s = time.monotonic()
        return (
            self._began_s is not None
            and len(self._watches) < self._nodes
            and time.monotonic() - self._began_s > max(START_S, self._silent_s)
        )

"""The evaluator's side of a run on other hosts: its sign of life, its ear for theirs, and the clock that they ask."""

import contextlib
import json
import socket
import time
from types import TracebackType

from evalsuite import files
from evalsuite.agent import calls, heartbeat
from evalsuite.launch.remote import launcher_errors
from evalsuite.launch.remote.door import Door
from evalsuite.runs.store import RunFolder

PERIOD_S = heartbeat.PERIOD_S
START_S = 300.0  # from the first agent to the last: a scheduler may start the tasks of a step one by one
ELSEWHERE = "192.0.2.1"  # an address that belongs to nobody (RFC 5737)


class Pulse:
    """While this is entered, the agents of the run in *folder* hear of us and may ask our clock."""

    def __init__(self, folder: RunFolder, silent_s: float = heartbeat.SILENT_S, *, nodes: int = 1) -> None:
        self._folder = folder
        self._nodes = nodes
        self._silent_s = silent_s
        self._call_silent_s = calls.silent_s(silent_s)
        self._period_s = min(PERIOD_S, self._call_silent_s / 4)
        self._gap_s = 3 * self._period_s  # between a host's last call and the last change of its file
        self._heard: dict[str, heartbeat.Heard] = {}
        self._ended_cut: dict[str, tuple[float, bool]] = {}  # host that has ended → when, and whether cut off then
        self._door = Door()
        self._next_s = 0.0
        self._looked_s = 0.0
        self._began_s: float | None = None  # when the first agent was heard, and none waited for its turn

    def __enter__(self) -> "Pulse":
        self._door.open()
        facts = {"addresses": _addresses(), "port": self._door.port, "silent_s": self._silent_s}
        files.write_atomically(self._folder.pulse, json.dumps(facts).encode())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._door.close()

    def lost(self) -> list[str]:
        """The hosts without which the run cannot go on. Called often.

        Their agent has not ended and nothing was heard of it for too long, by its file or by the network; or it ended
        where the network did not reach us, so that the launcher will not learn of it; or the launcher says that it
        lost them, and may wait for ever (Open MPI 5).
        """
        if time.monotonic() < self._next_s:
            return []
        self._next_s = time.monotonic() + self._period_s
        heartbeat.touch(self._folder.pulse)
        for host in self._folder.beating():
            self._heard.setdefault(host, heartbeat.Heard(self._folder.beat_path(host)))
        self._note_ended()
        self._looked_s = time.monotonic()
        found = {host for host in self._heard if self._is_lost(host)}
        return sorted(found.union(launcher_errors.lost_in(self._folder.engine_log)))

    def incomplete(self) -> bool:
        """Whether an agent has worked for long, and that of another node was never heard: a launcher may wait for a
        host that its ssh did not reach until the end of days (MPICH 4)."""
        if not self._heard or self._folder.waiting():
            self._began_s = None
        elif self._began_s is None:
            self._began_s = time.monotonic()
        return (
            self._began_s is not None
            and len(self._heard) < self._nodes
            and time.monotonic() - self._began_s > max(START_S, self._silent_s)
        )

    def cut_off(self) -> list[str]:
        """The hosts whose agent lives, or lived until it ended, and was not heard by the network any more."""
        self._note_ended()
        return sorted(host for host in self._heard if self._is_cut(host))

    def _note_ended(self) -> None:
        for host in self._folder.agents():
            if host in self._heard and host not in self._ended_cut:
                self._ended_cut[host] = (time.monotonic(), self._is_cut(host))

    def _is_lost(self, host: str) -> bool:
        if host in self._ended_cut:
            at_s, cut = self._ended_cut[host]
            return cut and time.monotonic() - at_s > self._gap_s
        calls_silent_s = self._door.silent_s(host) or 0.0
        return self._heard[host].silent_s() > self._silent_s or calls_silent_s > self._call_silent_s

    def _is_cut(self, host: str) -> bool:
        """Whether its calls do not come while its file changes: a host that is busy or stopped is silent in both."""
        if host in self._ended_cut:
            return self._ended_cut[host][1]
        if time.monotonic() - self._looked_s > self._gap_s:
            return False  # we were kept from looking, and cannot tell when the file changed
        by_network_s = self._door.silent_s(host)
        return by_network_s is not None and by_network_s - self._heard[host].silent_s() > self._gap_s


def _addresses() -> list[str]:
    """By what other hosts may reach us: our addresses, less the loopback's. Our name only where we know none: one that
    nobody knows keeps a resolver waiting for seconds, and the training with it."""
    name = socket.gethostname()
    found = {_outward()}
    with contextlib.suppress(OSError):
        found |= {str(place[0]) for *_, place in socket.getaddrinfo(name, None, socket.AF_INET)}
    return sorted(address for address in found if address and not address.startswith("127.")) or [name]


def _outward() -> str | None:
    """Our address on the way out of this network. Nothing is sent: a datagram's socket only looks up the route."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        door.connect((ELSEWHERE, 9))
        return str(door.getsockname()[0])
    return None

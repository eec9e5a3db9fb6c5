"""The evaluator's side of the heartbeat of a run on other hosts (`agent.heartbeat`)."""

import contextlib
import json
import select
import socket
import threading
import time
from types import TracebackType

from evalsuite.agent.heartbeat import CALL_SILENT_S, FILE_SILENT_S, GREETING, PERIOD_S, FileWatch, touch
from evalsuite.core import files
from evalsuite.launch.remote import launcher_errors
from evalsuite.runs.store import RunFolder

START_S = 300.0  # from the first agent to the last: schedulers may start tasks one by one
LOOK_S = 0.5
LONGEST = 512  # bytes of a call: a host's name has 255 at most
ELSEWHERE = "192.0.2.1"  # an unassigned address (RFC 5737)


class CallServer:
    """UDP server: answers each call with the time, and notes when each host called."""

    def __init__(self) -> None:
        self._called_s: dict[str, float] = {}  # host → when, by our monotonic clock
        self._emptied_s = time.monotonic()
        self._closed = threading.Event()
        self.port: int | None = None  # None where no socket can be opened

    def open(self) -> None:
        with contextlib.suppress(OSError):
            server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            server.bind(("", 0))
            server.setblocking(False)
            self.port = int(server.getsockname()[1])
            threading.Thread(target=self._serve, args=(server,), daemon=True).start()

    def close(self) -> None:
        self._closed.set()

    def silent_s(self, host: str) -> float | None:
        """From its last call to when the queue was last empty; None for one that never called (a firewall)."""
        called_s = self._called_s.get(host)
        return None if called_s is None else max(0.0, self._emptied_s - called_s)

    def _serve(self, server: socket.socket) -> None:
        with server:
            while not self._closed.is_set():
                ready, _, _ = select.select([server], [], [], LOOK_S)
                while ready and self._answer_next(server):
                    pass
                self._emptied_s = time.monotonic()

    def _answer_next(self, server: socket.socket) -> bool:
        try:
            call, caller = server.recvfrom(LONGEST)
        except OSError:
            return False
        unix_s = time.time()
        if call.startswith(GREETING):
            self._called_s[call.removeprefix(GREETING).decode(errors="replace")] = time.monotonic()
            with contextlib.suppress(OSError):
                server.sendto(f"{unix_s:.6f}".encode(), caller)
        return True


class HeartbeatMonitor:
    """While entered, the agents of the run in *folder* hear of us, may ask our clock, and are watched."""

    def __init__(self, folder: RunFolder, silent_s: float = FILE_SILENT_S, *, nodes: int = 1) -> None:
        self._folder = folder
        self._nodes = nodes
        self._silent_s = silent_s
        self._call_silent_s = min(CALL_SILENT_S, silent_s)
        self._period_s = min(PERIOD_S, self._call_silent_s / 4)
        self._gap_s = 3 * self._period_s  # between a host's last call and the last change of its file
        self._watches: dict[str, FileWatch] = {}
        self._ended_cut: dict[str, tuple[float, bool]] = {}  # ended host → when, and whether cut off then
        self._server = CallServer()
        self._next_s = 0.0
        self._looked_s = 0.0
        self._began_s: float | None = None

    def __enter__(self) -> "HeartbeatMonitor":
        self._server.open()
        facts = {"addresses": _own_addresses(), "port": self._server.port, "silent_s": self._silent_s}
        files.write_atomically(self._folder.pulse, json.dumps(facts).encode())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()

    def find_lost(self) -> list[str]:
        """Silent by file or network for too long, ended out of our reach, or lost by the launcher."""
        if time.monotonic() < self._next_s:
            return []
        self._next_s = time.monotonic() + self._period_s
        touch(self._folder.pulse)
        for host in self._folder.beating():
            self._watches.setdefault(host, FileWatch(self._folder.beat_path(host)))
        self._note_ended()
        self._looked_s = time.monotonic()
        lost = {host for host in self._watches if self._is_lost(host)}
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

    def find_cut_off(self) -> list[str]:
        """The hosts that the network no longer reaches, though their agent lives or lived."""
        self._note_ended()
        return sorted(host for host in self._watches if self._is_cut_off(host))

    def _note_ended(self) -> None:
        for host in self._folder.agents():
            if host in self._watches and host not in self._ended_cut:
                self._ended_cut[host] = (time.monotonic(), self._is_cut_off(host))

    def _is_lost(self, host: str) -> bool:
        if host in self._ended_cut:
            at_s, cut_off = self._ended_cut[host]
            return cut_off and time.monotonic() - at_s > self._gap_s
        call_silent_s = self._server.silent_s(host) or 0.0
        return self._watches[host].silent_s() > self._silent_s or call_silent_s > self._call_silent_s

    def _is_cut_off(self, host: str) -> bool:
        if host in self._ended_cut:
            return self._ended_cut[host][1]
        if time.monotonic() - self._looked_s > self._gap_s:
            return False  # we were kept from looking, and cannot tell when the file changed
        call_silent_s = self._server.silent_s(host)
        return call_silent_s is not None and call_silent_s - self._watches[host].silent_s() > self._gap_s


def _own_addresses() -> list[str]:
    """But the loopback's; our name where we know none, since an unknown name keeps a resolver waiting for seconds."""
    name, addresses = socket.gethostname(), set()
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect((ELSEWHERE, 9))  # sends nothing: only looks up the route
        addresses.add(str(client.getsockname()[0]))
    with contextlib.suppress(OSError):
        addresses |= {str(place[0]) for *_, place in socket.getaddrinfo(name, None, socket.AF_INET)}
    return sorted(address for address in addresses if not address.startswith("127.")) or [name]

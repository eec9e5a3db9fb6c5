"""The evaluator's side of a run on other hosts: its sign of life, its ear for theirs, and the clock that they ask."""

import contextlib
import json
import socket
import threading
import time
from types import TracebackType

from evalsuite import files
from evalsuite.agent import beat
from evalsuite.runs.store import RunFolder

PERIOD_S = beat.PERIOD_S
ELSEWHERE = "192.0.2.1"  # an address that belongs to nobody (RFC 5737)


class Pulse:
    """While this is entered, the agents of the run in *folder* hear of us and may ask our clock."""

    def __init__(self, folder: RunFolder, silent_s: float = beat.SILENT_S) -> None:
        self._folder = folder
        self._silent_s = silent_s
        self._heard: dict[str, beat.Heard] = {}
        self._door: socket.socket | None = None
        self._closed = threading.Event()
        self._next_s = 0.0

    def __enter__(self) -> "Pulse":
        with contextlib.suppress(OSError):
            self._door = _door()
        port = self._door.getsockname()[1] if self._door else None
        facts = {"addresses": _addresses(), "port": port, "silent_s": self._silent_s}
        files.write_atomically(self._folder.pulse, json.dumps(facts).encode())
        if self._door:
            threading.Thread(target=_answer, args=(self._door, self._closed), name="clock", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed.set()

    def lost(self) -> list[str]:
        """The hosts whose agent was heard of, has not ended, and has been silent for too long. Called often."""
        if time.monotonic() < self._next_s:
            return []
        self._next_s = time.monotonic() + min(PERIOD_S, self._silent_s / 4)
        beat.touch(self._folder.pulse)
        for host in self._folder.beating():
            self._heard.setdefault(host, beat.Heard(self._folder.beat_path(host)))
        ended = set(self._folder.agents())
        return sorted(
            host for host, heard in self._heard.items() if heard.silent_s() > self._silent_s and host not in ended
        )


def _door() -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    found.bind(("", 0))
    found.settimeout(PERIOD_S / 10)
    return found


def _answer(door: socket.socket, closed: threading.Event) -> None:
    """Tells the time to whoever asks, with the number of the question."""
    with door:
        while not closed.is_set():
            with contextlib.suppress(OSError):  # nobody asked, or who did has gone
                question, place = door.recvfrom(64)
                unix_s = time.time()
                if question.isdigit():
                    door.sendto(json.dumps({"number": int(question), "unix_s": unix_s}).encode(), place)


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

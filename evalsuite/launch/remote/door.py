"""The evaluator's door in the network: it tells the time to whoever asks, and remembers which hosts have called.

A question is a number, and behind it the host's name where the call is a sign of life too (`agent.calls`).
"""

import contextlib
import json
import select
import socket
import threading
import time

from evalsuite.agent import calls

LOOK_S = 0.5  # between two looks at whether it is to be closed
LONGEST = 512  # bytes of a question: a host's name has 255 at most


class Door:
    """A datagram's socket with a thread that answers, from `open` to `close`."""

    def __init__(self) -> None:
        self._called: dict[str, float] = {}  # host → when, by our monotonic clock
        self._looked_s = time.monotonic()
        self._closed = threading.Event()
        self._socket: socket.socket | None = None

    @property
    def port(self) -> int | None:
        """Where it is; None where none can be opened."""
        return None if self._socket is None else int(self._socket.getsockname()[1])

    def open(self) -> None:
        with contextlib.suppress(OSError):
            self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self._socket.bind(("", 0))
            self._socket.setblocking(False)
            threading.Thread(target=self._answer, args=(self._socket,), name="door", daemon=True).start()

    def close(self) -> None:
        self._closed.set()

    def silent_s(self, host: str) -> float | None:
        """Seconds without a call of *host*, up to when the door was last found empty: whoever called while we were
        stopped still waits there. None for a host that has never called: a firewall may keep it from it."""
        called_s = self._called.get(host)
        return None if called_s is None else max(0.0, self._looked_s - called_s)

    def _answer(self, door: socket.socket) -> None:
        with door:
            while not self._closed.is_set():
                ready, _, _ = select.select([door], [], [], LOOK_S)
                while ready and self._answered_one(door):
                    pass
                self._looked_s = time.monotonic()

    def _answered_one(self, door: socket.socket) -> bool:
        """Answers the next question; False if none waits."""
        try:
            question, place = door.recvfrom(LONGEST)
        except OSError:
            return False
        unix_s = time.time()
        if (asked := calls.understood(question)) is not None:
            number, host = asked
            if host:
                self._called[host] = time.monotonic()
            with contextlib.suppress(OSError):  # who asked has gone
                door.sendto(json.dumps({"number": number, "unix_s": unix_s}).encode(), place)
        return True

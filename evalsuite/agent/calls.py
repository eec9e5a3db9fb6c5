"""An agent's signs of life over the network: it calls the evaluator every few seconds, which answers.

Files in a shared folder (`agent.heartbeat`) tell nothing where the storage has a network of its own: a host whose link
to the others is cut may go on writing for days. Only a silence that follows an answer counts, for a firewall may let
no call through.
"""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Sequence

from evalsuite.agent.heartbeat import PERIOD_S, Evaluator, lost

ANSWER_S = 1.0
SILENT_S = 90.0  # eighteen calls: a network that is full of a training loses some


def silent_s(of_files_s: float) -> float:
    """After what silence in the network the other side is taken for lost, where it is *of_files_s* for files."""
    return min(SILENT_S, of_files_s)


def question(host: str) -> bytes:
    return b"0 " + host.encode()


def understood(said: bytes) -> tuple[int, str] | None:
    """The number of a question and the host that calls ("" where it only asks the time); None of other words."""
    number, _, host = said.partition(b" ")
    try:
        return (int(number), host.decode()) if number.isdigit() else None
    except ValueError:
        return None


class Calls:
    """The calls of one agent, on a thread of their own: a file system that hangs must not silence them."""

    def __init__(self, host: str, of: Evaluator, fail: Callable[[BaseException], None]) -> None:
        self._question = question(host)
        self._addresses = list(of.addresses)
        self._port = of.port
        self._silent_s = silent_s(of.silent_s)
        self._fail = fail
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._go, name="calls", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._closed.set()

    def _go(self) -> None:
        if self._port is None:
            return
        answered_s: float | None = None
        while not self._closed.is_set():
            if address := self._answering(self._addresses, self._port):
                answered_s, self._addresses = time.monotonic(), [address]
            elif answered_s is not None and (silent := time.monotonic() - answered_s) > self._silent_s:
                self._fail(lost(silent))
                return
            self._closed.wait(min(PERIOD_S, self._silent_s / 4))

    def _answering(self, addresses: Sequence[str], port: int) -> str | None:
        """The first of *addresses* at which the evaluator answers; None if it does at none."""
        return next((address for address in addresses if _answers(address, port, self._question)), None)


def _answers(address: str, port: int, question: bytes) -> bool:
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        door.settimeout(ANSWER_S)
        door.connect((address, port))
        door.send(question)
        return bool(door.recv(200))
    return False

"""How far this host's clock is ahead of the evaluator's, asked over UDP as NTP does (RFC 5905, section 8)."""

import contextlib
import json
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass

QUESTIONS = 5  # of which the one with the shortest way counts
ANSWER_S = 0.3


@dataclass(frozen=True, kw_only=True)
class Offset:
    """Of our clock against another's."""

    ahead_s: float
    error_s: float  # half of the way there and back: so far off it may be


def offset(addresses: Sequence[str], port: int) -> Offset | None:
    """Our offset against the clock at the first of *addresses* that answers; None where none does."""
    for address in addresses:
        with contextlib.suppress(OSError):
            if found := _asked(address, port):
                return found
    return None


def _asked(address: str, port: int) -> Offset | None:
    family, kind, protocol, _, place = socket.getaddrinfo(address, port, type=socket.SOCK_DGRAM)[0]
    best: Offset | None = None
    with socket.socket(family, kind, protocol) as door:
        door.settimeout(ANSWER_S)
        door.connect(place)
        for number in range(QUESTIONS):
            sent = time.time()
            door.send(str(number).encode())
            try:
                answer = json.loads(door.recv(200))
            except (TimeoutError, ValueError):
                if best is None and number:
                    return None  # nobody there: do not keep the training waiting
                continue
            received = time.time()
            if answer.get("number") != number:
                continue
            found = Offset(ahead_s=(sent + received) / 2 - float(answer["unix_s"]), error_s=(received - sent) / 2)
            best = found if best is None or found.error_s < best.error_s else best
    return best

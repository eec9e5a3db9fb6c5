"""Signs of life between the evaluator and the agents of a run, by files and by UDP.

The evaluator touches one file in the run folder, each agent another; only times of files are compared with each other,
since a file server has its own clock. Each agent also calls the evaluator, which answers with its time: storage may
have its own network and outlive the link. Only silence after an answer counts, since a firewall may block calls.

An agent that hears nothing ends the training.
"""

import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from evalsuite.agent.order import EVALUATOR_LOST
from evalsuite.core import files
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message

PERIOD_S = 5.0
FILE_SILENT_S = 180.0  # an NFS client may show the times of a minute ago (nfs(5), acregmax)
CALL_SILENT_S = 90.0  # eighteen calls: a network that is full of a training loses some
ANSWER_S = 1.0
GREETING = b"evalsuite "  # before the caller's name; "" where it only asks the time
OFFSET_QUESTIONS = 5  # the one with the shortest way counts
OFFSET_ANSWER_S = 0.3


class EvaluatorLost(EvalsuiteError):
    exit_code = EVALUATOR_LOST

    def __init__(self, silent_s: float) -> None:
        super().__init__(Message("agent.evaluator_lost", seconds=silent_s))


class FileWatch:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._last: int | None = None
        self._at_s = time.monotonic()

    def silent_s(self) -> float:
        """Seconds since the file was last seen to change; one that is gone does not change."""
        now = time.monotonic()
        with contextlib.suppress(OSError):
            changed = self._file.stat().st_mtime_ns
            if changed != self._last:
                self._last, self._at_s = changed, now
        return now - self._at_s


@dataclass(frozen=True, kw_only=True)
class Evaluator:
    file: Path
    silent_s: float  # then it is lost
    addresses: tuple[str, ...]
    port: int | None


@dataclass(frozen=True, kw_only=True)
class Offset:
    ahead_s: float
    error_s: float  # half of the way there and back


def read_evaluator(file: Path) -> Evaluator | None:
    """None where there is none: an agent at a shell or on the evaluator's machine."""
    try:
        facts = files.parse_json(files.read_bytes(file))
        return Evaluator(
            file=file,
            silent_s=float(facts["silent_s"]),
            addresses=tuple(map(str, facts["addresses"])),
            port=None if facts["port"] is None else int(facts["port"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def touch(file: Path) -> None:
    """A refusal is seen as silence at the other end."""
    with contextlib.suppress(OSError):
        os.utime(file)


def ask_clock(address: str, port: int, timeout_s: float, host: str = "") -> Offset | None:
    """Our offset by one question, as NTP computes it (RFC 5905, section 8); None without an answer."""
    with contextlib.suppress(OSError, ValueError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(timeout_s)
        client.connect((address, port))
        sent_s = time.time()
        client.send(GREETING + host.encode())
        theirs_s = float(client.recv(64))
        received_s = time.time()
        return Offset(ahead_s=(sent_s + received_s) / 2 - theirs_s, error_s=(received_s - sent_s) / 2)
    return None


def measure_offset(evaluator: Evaluator) -> Offset | None:
    for address in evaluator.addresses if evaluator.port is not None else ():
        assert evaluator.port is not None
        if first := ask_clock(address, evaluator.port, OFFSET_ANSWER_S):
            more = [ask_clock(address, evaluator.port, OFFSET_ANSWER_S) for _ in range(OFFSET_QUESTIONS - 1)]
            return min([first, *filter(None, more)], key=lambda offset: offset.error_s)
    return None


class Heartbeat:
    """Files and calls have a thread each: a file system that hangs must not silence the calls."""

    def __init__(self, host: str, own: Path, evaluator: Evaluator, fail: Callable[[BaseException], None]) -> None:
        self._host, self._own, self._evaluator, self._fail = host, own, evaluator, fail
        self._watch = FileWatch(evaluator.file)
        self._closed = threading.Event()

    def start(self) -> None:
        with contextlib.suppress(OSError):
            self._own.touch()
        for work in (self._beat, self._call):
            threading.Thread(target=work, daemon=True).start()

    def stop(self) -> None:
        self._closed.set()

    def _beat(self) -> None:
        most_s = self._evaluator.silent_s
        while not self._closed.wait(min(PERIOD_S, most_s / 4)):
            touch(self._own)
            if (silent_s := self._watch.silent_s()) > most_s:
                self._fail(EvaluatorLost(silent_s))
                return

    def _call(self) -> None:
        addresses, port = self._evaluator.addresses, self._evaluator.port
        if port is None:
            return
        most_s = min(CALL_SILENT_S, self._evaluator.silent_s)
        answered_s: float | None = None
        while not self._closed.is_set():
            if address := next((at for at in addresses if ask_clock(at, port, ANSWER_S, self._host)), None):
                answered_s, addresses = time.monotonic(), (address,)
            elif answered_s is not None and (silent_s := time.monotonic() - answered_s) > most_s:
                self._fail(EvaluatorLost(silent_s))
                return
            self._closed.wait(min(PERIOD_S, most_s / 4))

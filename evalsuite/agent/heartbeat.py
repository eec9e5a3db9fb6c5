"""Signs of life between the evaluator and the agents of a run, by files in the folder that both see.

The evaluator touches its file, each agent one of its own. Whoever finds the other's unchanged for long, by its own
clock, takes it for lost: an agent then ends the training, so that nothing is left when the evaluator's host dies, and
the evaluator ends the run as a failure of the infrastructure. Times of files are compared with each other alone, for
the file server's clock may be another.
"""

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from evalsuite.agent.order import EVALUATOR_LOST
from evalsuite.errors import EvalsuiteError

PERIOD_S = 5.0
CACHED_S = 60.0  # for so long an NFS client may show the times of yesterday (nfs(5), acregmax)
SILENT_S = 3 * CACHED_S


class EvaluatorLost(EvalsuiteError):
    """Nothing was heard of the evaluator for too long; the run was ended for it."""

    exit_code = EVALUATOR_LOST


def lost(silent_s: float) -> EvaluatorLost:
    return EvaluatorLost(
        f"nothing was heard of the evaluator for {silent_s:.0f} s, and the training was ended; expected a sign of it "
        "every few seconds. Start it again: finished runs are kept."
    )


class Heard:
    """How long ago a file was last seen to change."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._last: int | None = None
        self._at_s = time.monotonic()

    def silent_s(self) -> float:
        """Seconds since the file was last seen in another state; a file that is gone does not change."""
        now = time.monotonic()
        with contextlib.suppress(OSError):
            changed = self._file.stat().st_mtime_ns
            if changed != self._last:
                self._last, self._at_s = changed, now
        return now - self._at_s


def touch(file: Path) -> None:
    """Says through *file* that we live. A file system that refuses is seen as silence, at the other end."""
    with contextlib.suppress(OSError):
        os.utime(file)


@dataclass(frozen=True, kw_only=True)
class Evaluator:
    """What the evaluator wrote for the agents of a run."""

    file: Path  # which it touches
    silent_s: float  # after which it is taken for lost
    addresses: tuple[str, ...]  # at which its clock answers
    port: int | None


def evaluator(file: Path) -> Evaluator | None:
    """What the evaluator wrote; None where there is none: an agent at a shell, or one whose end it sees by itself."""
    try:
        facts = json.loads(file.read_bytes())
        return Evaluator(
            file=file,
            silent_s=float(facts["silent_s"]),
            addresses=tuple(map(str, facts["addresses"])),
            port=None if facts["port"] is None else int(facts["port"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


class Beat:
    """An agent's own sign of life, and its ear for the evaluator's, on a thread: a file system may hang."""

    def __init__(self, own: Path, of: Evaluator, fail: Callable[[BaseException], None]) -> None:
        self._own = own
        self._heard = Heard(of.file)
        self._silent_s = of.silent_s
        self._fail = fail
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._go, name="beat", daemon=True)

    def start(self) -> None:
        with contextlib.suppress(OSError):
            self._own.touch()
        self._thread.start()

    def stop(self) -> None:
        self._closed.set()

    def _go(self) -> None:
        while not self._closed.wait(min(PERIOD_S, self._silent_s / 4)):
            touch(self._own)
            if (silent := self._heard.silent_s()) > self._silent_s:
                self._fail(lost(silent))
                return

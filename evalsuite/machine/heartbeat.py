"""Signs of life between the evaluator and the agents of a run: files in the run folder that each touches.

Only times of files are compared with each other, since a file server has its own clock.
"""

import contextlib
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from evalsuite.core import decode, files
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message
from evalsuite.runs.endings import EVALUATOR_LOST

PERIOD_S = 5.0
SILENT_S = 180.0  # an NFS client may show the times of a minute ago (nfs(5), acregmax)


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


def touch(file: Path) -> None:
    """A refusal is seen as silence at the other end."""
    with contextlib.suppress(OSError):
        os.utime(file)


class Heartbeat:
    """The agent's: touches *own*, and fails once the evaluator's file *pulse* has not changed for long. Does nothing
    where there is no such file: at a shell, or on the evaluator's machine."""

    def __init__(self, own: Path, pulse: Path, fail: Callable[[BaseException], None]) -> None:
        self._own, self._watch, self._fail = own, FileWatch(pulse), fail
        try:
            self._most_s = decode.number(files.read_text(pulse))
        except OSError:
            self._most_s = None
        self._closed = threading.Event()

    def start(self) -> None:
        if self._most_s is not None:
            with contextlib.suppress(OSError):
                self._own.touch()
            threading.Thread(target=self._beat, args=(self._most_s,), daemon=True).start()

    def stop(self) -> None:
        self._closed.set()

    def _beat(self, most_s: float) -> None:
        while not self._closed.wait(min(PERIOD_S, most_s / 4)):
            touch(self._own)
            if (silent_s := self._watch.silent_s()) > most_s:
                self._fail(EvaluatorLost(silent_s))
                return

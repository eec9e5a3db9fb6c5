"""Signs of life between the evaluator and the agents of a run: files in the run folder that each touches. Only times of
files are compared with each other, since a file server has its own clock."""

import contextlib
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from evalsuite.core import decode, files
from evalsuite.core.errors import EvalsuiteError
from evalsuite.runs.endings import EVALUATOR_LOST
from evalsuite.runs.store import PULSE, RunFolder

PERIOD_S = 5.0
SILENT_S = 180.0  # an NFS client may show the times of a minute ago (nfs(5), acregmax)


class EvaluatorLost(EvalsuiteError):
    exit_code = EVALUATOR_LOST


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
                self._fail(EvaluatorLost.of("agent.evaluator_lost", seconds=silent_s))
                return


class HeartbeatMonitor:
    """The evaluator's, of a run on other hosts: the agents of the run in *folder* hear of us and are watched, as often
    as `find_lost` is called."""

    def __init__(self, folder: RunFolder, silent_s: float = SILENT_S) -> None:
        self._folder = folder
        self._silent_s = silent_s
        self._watches: dict[str, FileWatch] = {}
        self._next_s = 0.0
        files.write_atomically(folder.pulse, f"{silent_s}".encode())

    def find_lost(self) -> list[str]:
        """Hosts whose file has not changed for too long though their agent has not ended."""
        if time.monotonic() < self._next_s:
            return []
        self._next_s = time.monotonic() + min(PERIOD_S, self._silent_s / 4)
        touch(self._folder.pulse)
        for host in sorted(file.name[len(PULSE) + 1 :] for file in self._folder.scratch.glob(f"{PULSE}.*")):
            self._watches.setdefault(host, FileWatch(self._folder.beat_path(host)))
        silent = {host for host, watch in self._watches.items() if watch.silent_s() > self._silent_s}
        return sorted(silent.difference(self._folder.agents() if silent else ()))

"""Output of a process, written byte for byte with the time at which each piece came."""

import contextlib
import fcntl
import hashlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from evalsuite.core.errors import EvalsuiteError
from evalsuite.runs.store import RunFolder

CHUNK_BYTES = 1 << 16
PIPE_BYTES = 1 << 20  # the most that Linux gives without privilege (pipe(7))


class TooMuchOutput(EvalsuiteError):
    exit_code = 128 + signal.SIGXFSZ  # what a shell says of a program that went beyond `ulimit -f`


class Quota:
    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._taken = 0
        self._lock = threading.Lock()

    def take(self, count: int) -> None:
        """Raises TooMuchOutput once *count* more bytes are too many."""
        with self._lock:
            self._taken += count
            if self._taken > self._most_bytes:
                raise TooMuchOutput.of("agent.too_much_output", megabytes=self._most_bytes / 1e6)


class Reader:
    def __init__(
        self,
        folder: RunFolder,
        host: str,
        rank: int | None,
        start_s: float,
        echo: bool,
        fail: Callable[[BaseException], None],
        quota: Quota,
    ) -> None:
        self._read_end, self.write_end = os.pipe()
        with contextlib.suppress(OSError):  # near the user's limit: 64 KiB
            fcntl.fcntl(self._read_end, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self._log = File(folder.log_path(host, rank))
        self._arrivals = File(folder.arrivals_path(host, rank))
        self._start_s = start_s
        self._echo = echo
        self._fail = fail
        self._quota = quota
        self._thread = threading.Thread(target=self._copy, name="reader", daemon=True)

    def start(self) -> None:
        """Call it once the process that writes has been started."""
        os.close(self.write_end)
        self._thread.start()

    @property
    def hashes(self) -> dict[str, str]:
        return {file.name: file.written.hexdigest() for file in (self._log, self._arrivals)}

    def join(self, seconds: float) -> None:
        self._thread.join(seconds)

    def _copy(self) -> None:
        try:
            self._arrivals.write(b"end_byte,at_s\n")
            written = 0
            while chunk := os.read(self._read_end, CHUNK_BYTES):
                at_s = time.monotonic() - self._start_s
                self._log.write(chunk)
                written += len(chunk)
                self._arrivals.write(b"%d,%.6f\n" % (written, at_s))
                self._print(chunk)
                self._quota.take(len(chunk))
        except BaseException as error:
            self._fail(error)
            with contextlib.suppress(OSError):
                while os.read(self._read_end, CHUNK_BYTES):
                    pass
        finally:
            os.close(self._read_end)
            self._log.close()
            self._arrivals.close()

    def _print(self, chunk: bytes) -> None:
        if not self._echo:
            return
        try:
            sys.stdout.buffer.write(chunk)
            sys.stdout.buffer.flush()
        except OSError:
            self._echo = False  # the reader has gone; the log goes on


class File:
    """A new file whose bytes are with the kernel when `write` returns."""

    def __init__(self, path: Path) -> None:
        self._path, self.name = path, path.name
        self.written = hashlib.sha256()  # of what we wrote
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)

    def write(self, content: bytes) -> None:
        self.written.update(content)
        view = memoryview(content)
        while view:
            try:
                view = view[os.write(self._descriptor, view) :]
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(self._path)) from error

    def close(self) -> None:
        with contextlib.suppress(OSError):  # write has raised it before
            os.close(self._descriptor)

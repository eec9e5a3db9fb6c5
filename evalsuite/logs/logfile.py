"""A log file as chunks of whole lines: gzip and zstd unpacked, colour codes taken out, in constant memory.

What a chunk gives back is where its bytes stood in the file, because receipts and arrival times count the
bytes as they were printed.
"""

import bisect
import gzip
import io
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

FIRST_CHUNK_BYTES = 1 << 14  # a log whose first lines already hold the window costs no more than this
CHUNK_BYTES = 1 << 18
LINE_BYTES = 1 << 20  # what lies beyond in one line is no log line; it is left out
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
# ESC [ … letter, as terminals know them: ECMA-48 §5.4 (colours, cursor moves, erase)
_ANSI = re.compile(rb"\x1b\[[0-9;?]*[@-~]")


class Unreadable(Exception):
    """The file cannot be read as a log; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """Some whole lines of a log. *complete* is false if the last of them has no line end (cut off)."""

    text: bytes  # without colour codes
    first_line: int  # 1-based number of the first line
    offset: int  # of the first byte in the (unpacked) file
    complete: bool
    line_ends: int
    removed: tuple[tuple[int, int], ...] = field(default=())  # (position in text, bytes taken out before it)

    def raw_offset(self, position: int) -> int:
        """Where the text before *position* ended in the file: a code that begins there belongs to what follows."""
        if not self.removed:
            return self.offset + position
        index = bisect.bisect_left(self.removed, (position,)) - 1
        return self.offset + position + (self.removed[index][1] if index >= 0 else 0)


def chunks(path: Path) -> Iterator[Chunk]:
    """The file in order, a few lines first and then in larger pieces. Raises Unreadable."""
    line, offset = 1, 0
    for raw, complete in _pieces(path):
        text, removed = _plain(raw)
        ends = raw.count(b"\n")
        yield Chunk(text=text, first_line=line, offset=offset, complete=complete, line_ends=ends, removed=removed)
        line += ends
        offset += len(raw)


def _pieces(path: Path) -> Iterator[tuple[bytes, bool]]:
    """(whole lines, does the last one end) until the end of the file. A line without end comes in pieces."""
    size = FIRST_CHUNK_BYTES
    with _opened(path) as file:
        while block := _read(file.read, size):
            size = min(2 * size, CHUNK_BYTES)
            if not block.endswith(b"\n"):
                block += _read(file.readline, LINE_BYTES)
            yield block, block.endswith((b"\n", b"\r")) or len(block) > LINE_BYTES


def _plain(raw: bytes) -> tuple[bytes, tuple[tuple[int, int], ...]]:
    if b"\x1b" not in raw:
        return raw, ()
    removed, total = [], 0
    for match in _ANSI.finditer(raw):
        start = match.start() - total
        total += match.end() - match.start()
        removed.append((start, total))
    return _ANSI.sub(b"", raw), tuple(removed)


def _opened(path: Path) -> io.BufferedIOBase:
    if path.is_dir():
        raise Unreadable("a directory stands there; expected a log file")
    if path.is_symlink() and not path.exists():
        raise Unreadable("the symbolic link leads nowhere")
    try:
        if path.exists() and not path.is_file():
            raise Unreadable("neither a file nor a link to one; expected a log file")
        file = open(path, "rb")  # noqa: SIM115 (closed by the caller's with)
    except (OSError, ValueError) as error:
        raise Unreadable(getattr(error, "strerror", None) or str(error)) from error
    magic = file.read(4)
    file.seek(0)
    if magic.startswith(_GZIP):
        return gzip.GzipFile(fileobj=file)
    if magic == _ZSTD:
        return _zstd(file)
    return file


def _zstd(file: io.BufferedReader) -> io.BufferedIOBase:
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.ZstdFile(file)
    try:
        import zstandard
    except ImportError as error:
        file.close()
        raise Unreadable("packed with zstd; try pip install zstandard, or unpack it first") from error
    return io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True, closefd=True))


def _read(how: Callable[[int], bytes], size: int) -> bytes:
    try:
        return how(size)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise Unreadable(f"cannot be read to its end: {error}") from error
    except Exception as error:
        if type(error).__name__ == "ZstdError":  # the library that raises it is imported only where needed
            raise Unreadable(f"cannot be unpacked: {error}") from error
        raise

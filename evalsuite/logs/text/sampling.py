"""A bounded part of a large log: its beginning, its middle and its end."""

from collections.abc import Callable, Iterator
from pathlib import Path

from evalsuite.logs.text.logfile import Chunk, chunks, plain
from evalsuite.messages import Message

WHOLE_BYTES = 16 << 20  # a log up to this size is read whole
HEAD_BYTES = 4 << 20
PART_BYTES = 2 << 20  # in the middle, and at the end
BLOCK_BYTES = 1 << 22

Watcher = Callable[[int], None]
"""Is told how many bytes of the file have been gone through."""


def sampled(path: Path) -> str | None:
    """Which parts `pieces` gives, in words; None: the whole log."""
    size = _size(path)
    if size <= WHOLE_BYTES:
        return None
    head, part = HEAD_BYTES >> 20, PART_BYTES >> 20
    if not plain(path):
        return Message("logs.log_part_unpacked", head=head)
    return Message("logs.log_parts", head=head, part=part, last=part, size=size >> 20)


def pieces(path: Path, watcher: Watcher | None = None, *, whole: bool = False, bare: bool = False) -> Iterator[Chunk]:
    """All chunks if the log is small or *whole*, else those of its parts. Raises Unreadable.

    *bare*: as `logfile.chunks` has it; of a large log, its beginning alone.
    """
    size = _size(path)
    small = whole or size <= WHOLE_BYTES
    for chunk in chunks(path, bare=bare):
        if not small and chunk.offset >= HEAD_BYTES:
            break
        if watcher is not None:
            watcher(chunk.offset)
        yield chunk
    if not small and plain(path):
        yield from _behind(path, size, watcher)


def _behind(path: Path, size: int, watcher: Watcher | None) -> Iterator[Chunk]:
    """In the middle and at the end; the lines before them are only counted."""
    with path.open("rb") as file:
        lines, at = 1, 0
        for begin in (size // 2, size - PART_BYTES):
            while at < begin and (block := file.read(min(BLOCK_BYTES, begin - at))):
                lines += block.count(b"\n")
                at += len(block)
                if watcher is not None:
                    watcher(at)
            rest = file.readline(BLOCK_BYTES)
            text = file.read(PART_BYTES)
            text = text[: text.rfind(b"\n") + 1] if begin < size - PART_BYTES else text
            lines, at = lines + rest.count(b"\n"), at + len(rest)
            ends = text.count(b"\n")
            yield Chunk(
                text=text, first_line=lines, offset=at, complete=text.endswith(b"\n"), line_ends=ends, removed=()
            )
            lines, at = lines + ends, at + len(text)
            file.seek(at)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return 0

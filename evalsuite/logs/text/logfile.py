"""A log file as chunks of whole lines: unpacked, recoded, without colour codes, in constant memory.

A chunk knows where its bytes were in the file: receipts and arrival times count them as printed.
"""

import bisect
import codecs
import contextlib
import itertools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from evalsuite.core import files, paths
from evalsuite.core.messages import Message, message_of

FIRST_CHUNK_BYTES = 1 << 14
CHUNK_BYTES = 1 << 18
LINE_BYTES = 1 << 20
LONGEST_BYTES = 1 << 18  # longer lines are left out, unless they are rows of bars
bytes(4 * LINE_BYTES)  # once freed, glibc keeps blocks of this size (mallopt(3), M_TRIM_THRESHOLD): a tenth of the time
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# ESC [ … letter, as terminals know them: ECMA-48 §5.4 (colours, cursor moves, erase)
_ANSI = re.compile(rb"\x1b\[[0-9;?]*[@-~]")


def kind(head: bytes) -> str | None:
    """Its format, if it is no text."""
    if b"brain.Event:" in head[:64]:
        return "TensorBoard"
    text = head.lstrip(b"\0")[:4096]
    if abs(text[1::2].count(0) - text[::2].count(0)) > len(text) // 4:  # unlike a hole that a file system left
        return "UTF-16"
    begins = paths.read_data("log_words.toml")["no_log"]
    known = (name for name, magic in begins if head.startswith(magic.encode("latin-1")))
    return "tar" if head.startswith(b"ustar", 257) else next(known, None)


class Unreadable(Exception):
    """The file cannot be read as a log; the message says why. *failed*: it is a log, of a run that failed. *final*: no
    other way of reading it may be tried."""

    def __init__(self, reason: str, *, failed: bool = False, final: bool = True) -> None:
        super().__init__(reason)
        self.failed, self.final = failed, final and not failed


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """Some whole lines of a log. *complete* is false if the last of them has no line end (cut off)."""

    text: bytes  # without colour codes
    first_line: int  # 1-based
    offset: int  # of the first byte in the (unpacked) file
    complete: bool
    line_ends: int
    skipped: int = 0  # bytes left out before and after it, of a line that is too long
    raw: bytes = b""  # with what was taken out, if anything was
    prefix: "re.Pattern[bytes] | None" = None

    @cached_property
    def _removed(self) -> list[tuple[int, int]]:
        """(position in text, bytes taken out before it)"""
        spans = _spans(self.raw, self.prefix)
        totals = itertools.accumulate(end - begin for begin, end in spans)
        return [(end - total, total) for (_, end), total in zip(spans, totals, strict=True)]

    def raw_offset(self, position: int) -> int:
        """Where the text before *position* ended in the file: a code that begins there belongs to what follows."""
        if not self.raw:
            return self.offset + position
        index = bisect.bisect_left(self._removed, (position,)) - 1
        return self.offset + position + (self._removed[index][1] if index >= 0 else 0)

    def lines_from(self, begin: int, size: int) -> tuple["Chunk", int]:
        """(Whole lines from *begin* on, about *size* bytes; where in the text they end)."""
        start = 0 if begin == 0 else self.text.find(b"\n", begin - 1) + 1 or len(self.text)
        end = len(self.text) if start + size >= len(self.text) else self.text.find(b"\n", start + size) + 1
        end = end or len(self.text)
        whole = end < len(self.text)
        part = Chunk(
            text=self.text[start:end],
            first_line=self.first_line + self.text.count(b"\n", 0, start),
            offset=self.raw_offset(start),
            complete=whole or self.complete,
            line_ends=self.text.count(b"\n", start, end),
        )
        return part, end


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A chunk of a log, and what its step lines are to the window."""

    chunk: Chunk
    behind: int | None = None  # where in its text the window is full; None: it goes on
    reports: int = 0  # step lines in it that were read as records
    records: int = 0  # of the log so far
    steps_alone: bool = False  # it is after the window, and says nothing else
    unlike: bytes = b""  # its lines with 0 for each digit, each once: what is not in it, the chunk has not


def chunks(path: Path, *, bare: bool = False) -> Iterator[Chunk]:
    """The file in order, a few lines first, without lines that are too long. Raises Unreadable.

    Bars that begin anew in one line stay. So does the end of a line left out: lines are counted.

    *bare*: without what a launcher wrote before the lines of the lowest rank.
    """
    line, offset, within = 1, 0, False
    prefix = None
    for piece, complete in pieces(path):
        begin = max(0, piece.find(b"\n") if b"\n" in piece else len(piece)) if within else 0
        last = max(piece.rfind(b"\n", 0, -1), piece.rfind(b"\r", 0, -1)) + 1
        if begin > last or len(piece) - last <= LONGEST_BYTES:
            within = within and begin == len(piece)
            raw, complete = piece[begin:], complete or within
        else:
            within = not piece.endswith(b"\n")
            raw, complete = piece[begin:last] + (b"" if within else b"\n"), True
        glances = (0, len(raw) // 2, max(0, len(raw) - GLANCE_BYTES)) if bare and prefix is None else ()
        if any(_PREFIX.search(b"\n" + raw[at : at + GLANCE_BYTES]) for at in glances):
            prefix = prefix_of_lowest(raw)
        text = raw if prefix is None and b"\x1b" not in raw else _plain(raw, prefix)
        ends = raw.count(b"\n")
        yield Chunk(
            text=text,
            first_line=line,
            offset=offset + begin,
            complete=complete,
            line_ends=ends,
            skipped=len(piece) - len(raw),
            raw=b"" if text is raw else raw,
            prefix=prefix,
        )
        line += ends
        offset += len(piece)


def within(file_chunks: Iterator[Chunk], lines: tuple[int, int]) -> Iterator[Chunk]:
    for chunk in file_chunks:
        size, begins = len(chunk.text), [0, *itertools.accumulate(len(line) + 1 for line in chunk.text.split(b"\n"))]
        numbers = (max(0, line - chunk.first_line) for line in (lines[0], lines[1] + 1))
        begin, end = (min(size, begins[min(number, len(begins) - 1)]) for number in numbers)
        if begin < end:
            yield chunk if end - begin == size else chunk.lines_from(begin, end - begin - 1)[0]
        if chunk.first_line > lines[1]:
            return


def pieces(path: Path) -> Iterator[tuple[bytes, bool]]:
    """(whole lines, does the last one end). A line without end comes in pieces, of bars in whole ones."""
    size, bar = FIRST_CHUNK_BYTES, b""
    with contextlib.ExitStack() as opened:
        try:
            file: BinaryIO = (reader := opened.enter_context(files.unpacking(path, follow=True)))
        except (OSError, ValueError) as error:
            _refuse(path)
            raise Unreadable(message_of(error)) from error
        try:
            if reader.peek(2).startswith(_UTF_16):  # as Windows' PowerShell redirects output
                file = codecs.EncodedFile(file, "utf-8", "utf-16", "replace")
            while block := bar + file.read(size):
                size, bar = min(2 * size, CHUNK_BYTES), b""
                if not block.endswith(b"\n"):
                    block += file.readline(LINE_BYTES)
                begins = block.rfind(b"\r") + 1
                if begins > LINE_BYTES and b"\n" not in block[begins - LINE_BYTES :]:
                    block, bar = block[:begins], block[begins:]
                yield block, block.endswith((b"\n", b"\r")) or len(block) > LINE_BYTES
        except files.NOT_UNPACKED as error:
            raise Unreadable(Message("logs.log_unread", error=error)) from error


def _plain(raw: bytes, prefix: "re.Pattern[bytes] | None") -> bytes:
    if prefix is None:
        return _ANSI.sub(b"", raw)
    bounds = (0, *itertools.chain(*_spans(raw, prefix)), len(raw))
    return b"".join(raw[begin:end] for begin, end in zip(bounds[::2], bounds[1::2], strict=True))


def _spans(raw: bytes, prefix: "re.Pattern[bytes] | None") -> list[tuple[int, int]]:
    spans = [match.span() for match in _ANSI.finditer(raw)]
    return spans if prefix is None else sorted((*spans, *(match.span() for match in prefix.finditer(raw))))


def _refuse(path: Path) -> None:
    if path.is_dir():
        raise Unreadable(Message("logs.log_directory"))
    if path.is_symlink() and not path.exists():
        raise Unreadable(Message("logs.log_link"))
    if path.exists() and not path.is_file():
        raise Unreadable(Message("logs.log_no_file"))


# what launchers and relays write before each line

FEWEST_MARKED = 3  # lines with one prefix; what begins fewer may be the script's own
GLANCE_BYTES = 1 << 11  # at the beginning, in the middle and at the end of a text: where none is marked, none will be
MARKED_SHARE = 0.5  # of the lines have a prefix, of whatever rank

# [pod/train-worker-0/main] 2026-11-21T04:29:23.123456789Z …    kubectl logs --prefix --timestamps
# trainer-1  | 2026-11-21T04:29:23.123456789Z …                  docker compose logs -t
# Nov 21 04:29:23.123456 node7 python[4711]: …                   journalctl, also with -o short-precise
# 2026-11-21T04:29:23.123456+00:00 node7 python[4711]: …         journalctl -o short-iso-precise
_ISO = rb"\d{4}-\d\d-\d\dT[\d:]{8}(?:[.,]\d+)?"
_RELAY_CLOCK = rb"(?:%b(?:Z|[+-]\d\d:?\d\d)|[A-Z][a-z]{2} [ \d]\d [\d:]{8}(?:\.\d+)?) (?:\S+ \S+\[\d+\]: )?" % _ISO
_POD = rb"\[pod/[^\]\r\n]*\] |[\w.-]+[-_]\d+ +\| "
# [1,3]<stdout>:…                      Open MPI --tag-output, horovodrun in MPI mode
# [3]<stdout>:…                        horovodrun with Gloo
# 3: …                                 srun --label
# [rank3]:… [default3]:… [trainer3|3]: torchrun --tee
_PREFIX = re.compile(  # the line end first: the engine looks for it alone
    rb"\n(?P<source>(?:%b)?)(?P<relay>(?:%b)?)"
    % (_POD, _RELAY_CLOCK)
    + rb"(?:(?P<mpi>\[\d+,(?P<mpi_rank>\d+)\])<std(?:out|err)>:?|(?P<gloo>\[(?P<gloo_rank>\d+)\])<std(?:out|err)>:?"
    rb"|(?P<torch>\[(?:rank|default|trainer|worker)[ _]?(?P<torch_rank>\d+)(?:\|\d+)?\]:)"
    rb"|(?P<srun> *(?P<srun_rank>\d+): )|)(?<=[ :>])"  # which they all end with: a line without a prefix is no match
)
_LAUNCHERS = ("mpi", "gloo", "torch", "srun")
# with which of the two it prints, or how far a label is indented, is no matter
_BEHIND_MARK = {"mpi": rb"<std(?:out|err)>:?", "gloo": rb"<std(?:out|err)>:?", "torch": rb"", "srun": rb""}


def prefix_of_lowest(text: bytes) -> "re.Pattern[bytes] | None":
    """The prefix of the lowest rank's lines, which prints what a script prints once. None without prefixes.

    Of several pods or services it is the one that comes first by its name.
    """
    lines = sum(1 for line in text.split(b"\n") if line.strip())
    marked = Counter(mark for match in _PREFIX.finditer(b"\n" + text) for mark in _marks(match))
    often = [mark for mark, count in marked.items() if count >= FEWEST_MARKED]
    if not often or sum(marked[mark] for mark in often) < MARKED_SHARE * lines:
        return None
    _, source, kind, _, mark = min(often)
    before = rb"(?m)(?:^|(?<=\r))" + re.escape(source) + rb"(?:%b)" % _RELAY_CLOCK
    if not kind:
        return re.compile(before + (b"?" if source else b""))
    blanks = rb" *" if kind == "srun" else b""
    after = rb" " if kind == "srun" else b""
    return re.compile(before + b"?" + blanks + re.escape(mark) + _BEHIND_MARK[kind] + after)


_Mark = tuple[bool, bytes, str, int, bytes]
"""(no launcher's, the relay's name for the source, kind of launcher, rank, what it writes): in the order of ranks."""


def _marks(match: "re.Match[bytes]") -> list[_Mark]:
    if kind := next((kind for kind in _LAUNCHERS if match[kind] is not None), ""):
        return [(False, match["source"], kind, int(match[f"{kind}_rank"]), match[kind].strip(b" "))]
    return [(True, match["source"], "", 0, b"")] if match["source"] or match["relay"] else []

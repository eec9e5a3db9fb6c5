"""One pass over a log file, in bounded memory: its records until the window is full, and what is needed of the rest."""

import functools
import itertools
import math
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from evalsuite.contracts.dialect import Dialect, Line
from evalsuite.core import paths
from evalsuite.core.messages import Message
from evalsuite.logs.formatting import shown
from evalsuite.logs.scan.collectors import (
    OWN_TIMERS,
    CollectiveLines,
    FactCollector,
    Incidents,
    ScoreCollector,
    TimerCollector,
)
from evalsuite.logs.text.intact import IntactCheck, lines_of_reports, may_be_cut
from evalsuite.logs.text.logfile import Chunk, Piece, chunks, within
from evalsuite.logs.text.records import Extractor, Record, count, is_whole, matches, rate_of, whole_match

QUIET_CHUNKS = 4  # searched for a failure, after the last step and at the end
LINE_LOOKED_AT = 8192  # bytes, likewise
MAX_RECORDS = 200_000  # bounds the memory
NEXT_PIECES = 4  # of each piece of the file
NEXT_BYTES = 1 << 12  # until there are as many reports as in the window
SAMPLE_BYTES = 1 << 11  # of each later piece
MOST_SAMPLED = 20_000  # of a log of any size


class TooMany:
    """Every record is kept, until there are more than any window can need.

    *steps*: so many of one epoch are enough in a plain log.
    """

    steps: int | None = None

    def __call__(self, scan: "Scan") -> bool:
        return len(scan.records) > MAX_RECORDS


class Scan:
    """Records until the window is full, then only how many more there are."""

    def __init__(self, dialect: Dialect, enough: TooMany) -> None:
        self.dialect = dialect
        self.records: list[Record] = []
        self.uncollected = 0  # step lines after the window
        self.final: float | None = None  # the last final figure
        self.finals = (math.inf, 0.0)  # the least and the most
        self.finals_together = False  # two in lines one after the other
        self.ended = False
        self.cut_line: int | None = None  # in whose middle the file ends
        self.skipped = 0  # bytes in lines that are too long
        self.facts = FactCollector(dialect)
        self.incidents = Incidents(dialect)
        self.timers = TimerCollector(dialect.timers or OWN_TIMERS, dialect.every or 1)
        self.collectives = CollectiveLines()
        self.scores = ScoreCollector(dialect) if dialect.scores else None
        self.second = dialect.second() if dialect.second else None
        self.rest = Rest(dialect)
        self.intact = IntactCheck(lines_of_reports(dialect))
        self.behind = Quiet((dialect.step, (*dialect.final, *dialect.evaluation, *dialect.end)))
        self._collectors = [  # each with the bytes without which a piece says nothing to it
            *((b"", each) for each in (self.intact, self.facts, self.incidents)),
            (self.timers.timers.line.literal, self.timers),
            (b"NCCL ", self.collectives),
            *((b"", each) for each in (self.scores, self.behind) if each is not None),
        ]
        self._extractor = Extractor(dialect)
        self._enough = enough
        self._full = False

    def read(self, path: Path, lines: tuple[int, int] | None = None) -> "Scan":
        pieces = chunks(path, bare=self.dialect.spans_lines)
        for chunk in within(pieces, lines) if lines else pieces:
            self._full = self._full or (bool(self.records) and self._enough(self))
            earlier, behind = len(self.records), 0 if self._full else None
            if not self._full:
                behind = self._extractor.extend(self.records, chunk, self._enough.steps)
                self._full = behind is not None
            more = 0 if behind is None else count(chunk.text[behind:], self.dialect.step)
            self.uncollected += more
            reports = len(self.records) - earlier
            piece = Piece(
                chunk=chunk,
                behind=behind,
                steps=reports + more,
                reports=reports,
                records=len(self.records),
                steps_alone=behind == 0 and more == chunk.line_ends,
            )
            for literal, collector in self._collectors:
                if literal in chunk.text:
                    collector.add(piece)
            if piece.behind is not None:
                self.rest.add(piece, piece.behind)
            if self.second is not None:
                self.second.add(chunk.text)
            self.skipped += chunk.skipped
            before = -1  # a figure in this chunk
            for match, line in matches(chunk.text, self.dialect.final):
                if may_be_cut(match, line) or not whole_match(match, chunk) or not is_whole(match, line):
                    continue
                fields = line.read(match)
                if fields is not None and (rate := rate_of(fields)) is not None:
                    between = chunk.text[before : match.start()].split(b"\n")[1:-1]
                    self.finals_together |= before >= 0 and not b"".join(between).strip()
                    before = match.start()
                    self.final, self.finals = rate, (min(self.finals[0], rate), max(self.finals[1], rate))
            self.ended = self.ended or any(True for _ in matches(chunk.text, self.dialect.ends))
            self.cut_line = None if chunk.complete else _cut_line(chunk, self.dialect)
        return self


@dataclass(frozen=True, kw_only=True)
class Failure:
    kind: str
    text: str
    line: int

    @property
    def reason(self) -> str:
        """The line as printed, less what looks like a secret."""
        from evalsuite.core.redaction import redact  # its patterns cost as much as to read a log, and few logs end so

        return Message(
            "logs.failure_line",
            kind=Message(f"logs.failure_{self.kind.replace(' ', '_')}"),
            line=self.line,
            text=redact(self.text),
        )


@dataclass
class Quiet:
    """The text after the last sign of training: its first and last chunks, in bounded memory."""

    signs: tuple[tuple[Line, ...], tuple[Line, ...]] = ((), ())  # step lines, others
    _first: list[Chunk] = field(default_factory=list)
    _last: deque[Chunk] = field(default_factory=functools.partial(deque, maxlen=QUIET_CHUNKS))

    def add(self, piece: Piece) -> None:
        """Where in a piece the last sign is, is only looked for at the end."""
        if piece.steps or any(beginning in piece.chunk.text for line in self.signs[1] for beginning in line.beginnings):
            self._first.clear()
            self._last.clear()
        (self._first if len(self._first) < QUIET_CHUNKS else self._last).append(piece.chunk)

    def find_failure(self) -> Failure | None:
        """The decisive line of the text; None if none says so."""
        quiet: list[tuple[int, bytes]] = []
        for chunk in (*self._first, *self._last):
            text, first = chunk.text, chunk.first_line
            sign = -1
            for line in itertools.chain(*self.signs):
                at = text.rfind(line.literal, max(sign, 0)) if line.literal else -1
                while at >= 0 and line.compiled.match(text, at) is None:
                    at = text.rfind(line.literal, max(sign, 0), at)
                unnamed = () if line.literal else line.compiled.finditer(text, max(sign, 0))
                sign = max([sign, at, *(match.start() for match in unnamed)])
            if sign >= 0:
                begin = text.find(b"\n", sign) + 1 or len(text)
                text, first = text[begin:], first + text.count(b"\n", 0, begin)
                quiet.clear()
            numbered = enumerate(text.split(b"\n"), first)
            quiet += [
                (number, part[:LINE_LOOKED_AT])
                for number, each in numbered
                for part in each.split(b"\r")
                if part.strip()
            ]
        if not quiet:
            return None
        exceptions, whole = list(_exceptions(quiet)), b"\n".join(text for _, text in quiet)
        for rank, patterns in enumerate(_ranks()):
            present = {kind: pattern for kind, pattern in patterns.items() if pattern.search(whole)}
            hits = [hit for kind, pattern in present.items() if (hit := _first(quiet, kind, pattern))]
            if rank == 1:
                hits += exceptions[:1]  # an exception says as much as a broken connection: the earlier one wins
            if hits:
                return min(hits, key=lambda hit: hit.line)
        return None


@dataclass
class Rest:
    """Samples the records after the window, so that a log that goes on at another speed is seen.

    To read all would cost as much as twenty windows. As many as the window has are taken right after it, and a few
    at the beginning of every later piece of the file.
    """

    dialect: Dialect
    records: list[Record] = field(default_factory=list)
    _reached: int | None = None  # where in the file the last part ended
    _extractor: Extractor | None = None

    def add(self, piece: Piece, begin: int) -> None:
        wanted = piece.records * 2 // 3  # warm-up included
        for _ in range(NEXT_PIECES):
            if len(self.records) > MOST_SAMPLED or begin >= len(piece.chunk.text):
                return
            size = NEXT_BYTES if len(self.records) < wanted else SAMPLE_BYTES
            part, begin = piece.chunk.lines_from(begin, size)
            apart = self._reached not in (None, part.offset)
            if apart or self._extractor is None:
                self._extractor = Extractor(self.dialect)
            records: list[Record] = []
            self._extractor.extend(records, part)
            if records and apart:
                records[0] = records[0]._replace(gap=True)  # the interval since the report before is unknown
            self.records += records
            self._reached = piece.chunk.raw_offset(begin)
            if len(self.records) >= wanted:
                return


def _cut_line(chunk: Chunk, dialect: Dialect) -> int | None:
    """The step line inside which the file ends. A last line without a line end proves nothing alone."""
    number = chunk.first_line + chunk.line_ends
    last = chunk.text[max(chunk.text.rfind(b"\n"), chunk.text.rfind(b"\r")) + 1 :]
    for line in dialect.step:
        match = line.compiled.search(last)
        if match is not None:
            return None if whole_match(match, replace(chunk, text=last)) else number
        begun = any(last.endswith(line.literal[:size]) for size in range(4, len(line.literal)))
        if line.literal and (line.literal in last or begun):
            return number
    return None


# why a run ended badly: the decisive line after the last sign of training, and what kind of failure it is


_SURVIVED = re.compile(rb"not a failure|[Ww]arning|\bWARN\b|\bINFO\b|retry")
_TRACEBACK = b"Traceback (most recent call last)"
# RuntimeError: ImageNet requires GPU support.
_EXCEPTION = re.compile(rb"[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Iteration|Failure|Failed)\b(?=:|\s*$|\\n)")


@functools.cache
def _ranks() -> list[dict[str, "re.Pattern[bytes]"]]:
    """Compiled at the first use: many logs have no lines after their training."""
    ranks = paths.read_data("failures.toml")["rank"]
    return [
        {kind: re.compile("|".join(parts).encode(), re.MULTILINE) for kind, parts in rank.items()} for rank in ranks
    ]


def _first(lines: list[tuple[int, bytes]], kind: str, pattern: "re.Pattern[bytes]") -> Failure | None:
    for number, text in lines:
        if pattern.search(text) and not _SURVIVED.search(text):
            return Failure(kind=kind, text=shown(text), line=number)
    return None


def _exceptions(lines: list[tuple[int, bytes]]) -> Iterator[Failure]:
    column, said = -1, None
    for number, text in lines:
        at = text.find(_TRACEBACK)
        if at >= 0:
            column, said = at, (number, text)
        elif column >= 0:
            match = _EXCEPTION.match(text, column)
            if match:
                stopped = match[0].endswith((b"KeyboardInterrupt", b"SystemExit"))
                kind = "interrupted" if stopped else "Python exception"
                yield Failure(kind=kind, text=shown(text[column:]), line=number)
                column, said = -1, None
    if said is not None:
        yield Failure(kind="Python exception", text=shown(said[1]), line=said[0])

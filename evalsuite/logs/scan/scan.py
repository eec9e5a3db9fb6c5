"""One pass over a log file, in bounded memory: its records until the window is full, and what is needed of the rest."""

import functools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evalsuite.contracts.dialect import ANY_DIGIT, Dialect, SecondFigure
from evalsuite.core import paths
from evalsuite.core.messages import Message
from evalsuite.logs.formatting import shown
from evalsuite.logs.scan import collectors
from evalsuite.logs.text.intact import IntactCheck, lines_of_reports, may_be_cut
from evalsuite.logs.text.logfile import Chunk, Piece, chunks, within
from evalsuite.logs.text.records import Extractor, Record, count, is_whole, matches, rate_of, whole_match

QUIET_CHUNKS = 4  # searched for a failure, after the last step and at the end
LINE_LOOKED_AT = 8192  # bytes, likewise
MAX_RECORDS = 200_000  # bounds the memory: more than any window can need
NEXT_PIECES = 4  # of each piece of the file
NEXT_BYTES = 1 << 12  # until there are as many reports as in the window
SAMPLE_BYTES = 1 << 11  # of each later piece
MOST_SAMPLED = 20_000  # of a log of any size
Enough = Callable[["Scan"], bool]
Lines = tuple[int, int]


@dataclass(kw_only=True)
class Scan:
    """What one pass over a log has found: records until the window is full, then only how many more there are."""

    facts: collectors.FactCollector
    incidents: collectors.Incidents
    timers: collectors.TimerCollector
    scores: collectors.ScoreCollector | None
    intact: IntactCheck
    rest: "Rest"
    second: SecondFigure | None
    collectives: collectors.CollectiveLines = field(default_factory=collectors.CollectiveLines)
    records: list[Record] = field(default_factory=list)
    uncollected: int = 0  # step lines after the window
    final: float | None = None  # the last final figure
    finals: tuple[float, float] = (math.inf, 0.0)  # the least and the most
    finals_together: bool = False  # two in lines one after the other
    ended: bool = False
    evaluated: bool = False  # since the last record
    texts: list[tuple[Record, bytes]] = field(default_factory=list)  # lines of some records
    cut_line: int | None = None  # in whose middle the file ends
    skipped: int = 0  # bytes in lines that are too long
    quiet: list[Chunk] = field(default_factory=list)  # after the last sign of training: the first and the last


def scan_log(
    path: Path, dialect: Dialect, enough: Enough | None = None, *, steps: int | None = None, lines: Lines | None = None
) -> Scan:
    """Collects records until they are *enough*, which so many *steps* of one epoch are in a plain log."""
    scan = Scan(
        facts=collectors.FactCollector(dialect),
        incidents=collectors.Incidents(dialect),
        timers=collectors.TimerCollector(dialect.timers or collectors.OWN_TIMERS, dialect.every or 1),
        scores=collectors.ScoreCollector(dialect) if dialect.scores else None,
        intact=IntactCheck(lines_of_reports(dialect)),
        rest=Rest(dialect),
        second=dialect.second() if dialect.second else None,
    )
    # each with the bytes without which a piece says nothing to it; after the window, other lines than steps
    collecting: list[tuple[bytes, Any]] = [(b"", each) for each in (scan.intact, scan.incidents, scan.scores) if each]
    beside: list[tuple[bytes, Any]] = [(b"", scan.facts), (b"NCCL ", scan.collectives)]
    (collecting if dialect.timers else beside).append((scan.timers.timers.line.literal, scan.timers))
    others = (*dialect.final, *dialect.evaluation, *dialect.end)
    signs = [sign for line in others for sign in zip(line.begins, line.beginnings, strict=True)]
    extractor, full, pieces = Extractor(dialect), False, chunks(path, bare=dialect.spans_lines)
    for chunk in within(pieces, lines) if lines else pieces:
        text, earlier, plain = chunk.text, len(scan.records), chunk.text.translate(ANY_DIGIT)
        first = plain[: plain.find(b"\n") + 1]  # all are like it where numbers are padded: seen sooner
        alike = len(first) * chunk.line_ends == len(plain) and first * chunk.line_ends == plain
        layouts = Counter({first[:-1]: chunk.line_ends, b"": 1}) if alike else Counter(plain.split(b"\n"))
        full = full or earlier > MAX_RECORDS or bool(enough and earlier and enough(scan))
        behind = 0 if full else extractor.extend(scan.records, chunk, steps)
        full = behind is not None
        more = 0 if behind is None else count(text[behind:], dialect.step, None if behind else layouts)
        scan.uncollected += more
        alone = behind == 0 and more == chunk.line_ends
        reports = len(scan.records) - earlier
        unlike, records = b"\n".join(layouts), len(scan.records)  # of most logs few: what is sought is sooner found
        piece = Piece(chunk=chunk, behind=behind, reports=reports, records=records, steps_alone=alone, unlike=unlike)
        adding = collecting if behind is None else [*collecting, (b"", scan.rest)]
        for literal, collector in adding if alone else (*adding, *beside):
            if literal in text:
                collector.add(piece)
        if scan.second is not None:
            scan.second.add(text)
        scan.skipped += chunk.skipped
        before = -1  # a figure in this chunk
        for match, line in matches(text, dialect.final, unlike):
            sure = not may_be_cut(match, line) and whole_match(match, chunk) and is_whole(match, line)
            fields = line.read(match) if sure else None
            if fields is not None and (rate := rate_of(fields)) is not None:
                between = text[before : match.start()].split(b"\n")[1:-1]
                scan.finals_together |= before >= 0 and not b"".join(between).strip()
                before = match.start()
                if batch := fields.get("global_batch"):
                    scan.facts.said.setdefault("global_batch", batch)
                scan.final, scan.finals = rate, (min(scan.finals[0], rate), max(scan.finals[1], rate))
        scan.ended = scan.ended or any(True for _ in matches(text, dialect.ends, unlike))
        scan.cut_line = None if chunk.complete else _cut_line(chunk, dialect)
        if reports or more or any(begins in unlike and sign in text for begins, sign in signs):
            scan.quiet.clear()  # where in a chunk the last sign is, is only looked for at the end
        scan.quiet.append(chunk)
        del scan.quiet[QUIET_CHUNKS:-QUIET_CHUNKS]
    scan.evaluated, scan.texts = extractor.paused, extractor.texts
    return scan


@dataclass(frozen=True, kw_only=True)
class Failure:
    kind: str
    text: str
    line: int

    @property
    def reason(self) -> str:
        """The line as printed, less what looks like a secret."""
        from evalsuite.core.redaction import redact  # its patterns cost as much as to read a log, and few logs end so

        kind = Message(f"logs.failure_{self.kind.replace(' ', '_')}")
        return Message("logs.failure_line", kind=kind, line=self.line, text=redact(self.text))


def find_failure(chunks: Iterable[Chunk], dialect: Dialect | None = None) -> Failure | None:
    """The decisive line of what *chunks* hold after the last sign of training; None if none says so."""
    signs = (*dialect.step, *dialect.final, *dialect.evaluation, *dialect.end) if dialect else ()
    quiet: list[tuple[int, bytes]] = []
    for chunk in chunks:
        text, first = chunk.text, chunk.first_line
        sign = -1
        for line in signs:
            at = text.rfind(line.literal, max(sign, 0)) if line.literal else -1
            while at >= 0 and line.compiled.match(text, at) is None:
                at = text.rfind(line.literal, max(sign, 0), at)
            unnamed = () if line.literal else line.compiled.finditer(text, max(sign, 0))
            sign = max([sign, at, *(match.start() for match in unnamed)])
        if sign >= 0:
            begin = text.find(b"\n", sign) + 1 or len(text)
            quiet.clear()
            if not text[begin:].strip():
                continue
            text, first = text[begin:], first + text.count(b"\n", 0, begin)
        numbered = enumerate(text.split(b"\n"), first)
        quiet += [(at, part[:LINE_LOOKED_AT]) for at, each in numbered for part in each.split(b"\r") if part.strip()]
    if not quiet:
        return None
    exception, whole = _find_exception(quiet), b"\n".join(text for _, text in quiet)
    for rank, patterns in enumerate(_ranks()):
        present = {kind: pattern for kind, pattern in patterns.items() if pattern.search(whole)}
        hits = [
            Failure(kind=kind, text=shown(text), line=number)
            for kind, pattern in present.items()
            for number, text in quiet
            if pattern.search(text) and not _SURVIVED.search(text)
        ]
        if rank == 1 and exception:
            hits.append(exception)  # it says as much as a broken connection: the earlier one wins
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

    def add(self, piece: Piece) -> None:
        begin, wanted = piece.behind or 0, piece.records * 2 // 3  # warm-up included
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


# frame #2: c10::DistNetworkError::DistNetworkError(…: where it was, and not what
_SURVIVED = re.compile(rb"not a failure|[Ww]arning|\bWARN\b|\bINFO\b|retry|^\s*(?:frame )?#\d+:? ")
_TRACEBACK = b"Traceback (most recent call last)"
# RuntimeError: ImageNet requires GPU support.
_EXCEPTION = re.compile(rb"[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Iteration|Failure|Failed)\b(?=:|\s*$|\\n)")


@functools.cache
def _ranks() -> list[dict[str, "re.Pattern[bytes]"]]:
    """Compiled at the first use: many logs have no lines after their training."""
    ranks = paths.read_data("failures.toml")["rank"]
    return [{kind: re.compile("|".join(of).encode(), re.MULTILINE) for kind, of in rank.items()} for rank in ranks]


def _find_exception(lines: list[tuple[int, bytes]]) -> Failure | None:
    column, said = -1, None
    for number, text in lines:
        at = text.find(_TRACEBACK)
        if at >= 0:
            column, said = at, (number, text)
        elif column >= 0 and (match := _EXCEPTION.match(text, column)):
            stopped = match[0].endswith((b"KeyboardInterrupt", b"SystemExit"))
            kind = "interrupted" if stopped else "Python exception"
            return Failure(kind=kind, text=shown(text[column:]), line=number)
    return Failure(kind="Python exception", text=shown(said[1]), line=said[0]) if said else None

"""One pass over a log file, in bounded memory: its records until the window is full, and what is needed of the rest."""

import re
from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from evalsuite.dialect import Dialect, Line
from evalsuite.logs.scan.arguments import arguments
from evalsuite.logs.scan.incidents import Incidents
from evalsuite.logs.scan.scores import ScoreCollector
from evalsuite.logs.scan.timers import TimerCollector
from evalsuite.logs.text.intact import IntactCheck, may_be_cut
from evalsuite.logs.text.logfile import Chunk, chunks
from evalsuite.logs.text.records import Extractor, Record, count, is_whole, matches, rate_of, whole_match

FACT_BYTES = 1 << 20  # batch and devices are printed before or soon after the start
QUIET_CHUNKS = 4  # searched for a failure, after the last step and at the end
LINE_LOOKED_AT = 8192  # bytes, likewise
BATCHES = frozenset({"batch_per_device", "global_batch", "reduced_batch"})
OVERRULING = frozenset({"reduced_batch"})  # the last counts, not the first
MAX_RECORDS = 200_000  # bounds the memory
NEXT_PIECES = 4  # of each piece of the file
NEXT_BYTES = 1 << 12  # until there are as many reports as in the window
SAMPLE_BYTES = 1 << 11  # of each later piece
MOST_SAMPLED = 20_000  # of a log of any size
# the header of our own reference workloads, whatever dialect they print in
HEADER = Line(
    pattern=rb"reference workload: [^\r\n]*?\bbatch_per_device=(?P<batch_per_device>\d+) processes=(?P<devices>\d+)",
    sample=b"reference workload: framework=mxnet version=1.9.1 model=resnet50_v1.5 batch_per_device=8 processes=2",
    source="evalsuite adapters/workloads/common.py, announce_case()",
)


# World size: 8 · Namespace(…, world_size=8, …) · not that of a part of the job, and not the 1 that is a default
WORLD_SIZE = re.compile(
    rb"(?<![\w-])(?<!parallel )(?<!local )(?<!Local )(?:[Ww]orld[ _][Ss]ize|WORLD_SIZE)"
    rb"['\"]?[ \t]{0,3}[:=][ \t]{0,3}(?!1\b)(\d{1,6})\b(?![.,]\d)"
)
_GOES_ON = re.compile(rb"\d[.,]\d")  # a number behind the end of a match


class Enough(Protocol):
    """Says when a scan holds all the records that a window can need."""

    @property
    def steps(self) -> int | None:
        """Of one epoch, if that many are enough in a plain log."""

    def __call__(self, scan: "Scan") -> bool: ...


class Scan:
    """Records until the window is full, then only how many more there are."""

    def __init__(self, dialect: Dialect, enough: Enough) -> None:
        self.dialect = dialect
        self.records: list[Record] = []
        self.uncollected = 0  # step lines after the window
        self.facts: dict[str, bytes | float] = {}
        self.final: float | None = None  # the last final figure
        self.ended = False
        self.cut_line: int | None = None  # in whose middle the file ends
        self.incidents = Incidents(dialect)
        self.timers = TimerCollector(dialect.timers)
        self.scores = ScoreCollector(dialect)
        self.second = None if dialect.second is None else dialect.second()
        self.rest = Rest(dialect)
        self.intact = IntactCheck(dialect)
        self.skipped = 0  # bytes in lines that are too long
        self._argued = not any(group in BATCHES for line in dialect.lines for group in line.groups)
        self._extractor = Extractor(dialect)
        self._enough = enough
        self._full = False
        self._behind = Quiet(dialect)

    def add(self, chunk: Chunk) -> None:
        text = chunk.text
        self.skipped += chunk.skipped
        self._full = self._full or (bool(self.records) and self._enough(self))
        if self._full:
            seen = count(text, self.dialect.step)
            self.uncollected += seen
            self.incidents.behind(chunk, 0)
            self.rest.add(chunk, 0, len(self.records))
        else:
            seen = self._collect(chunk)
        self._behind.add(chunk, steps=bool(seen))
        self.timers.add(text)
        self.scores.add(chunk)
        if self.second is not None:
            self.second.add(text)
        only_steps = self._full and seen == chunk.line_ends  # then nothing else is said in it
        self.incidents.add(chunk, only_steps=only_steps)
        if not only_steps and chunk.offset < FACT_BYTES:
            self._collect_facts(text)
        if not only_steps and self._argued:
            for name, value in arguments(text).items():
                self.facts.setdefault(name, value)
            self._argued = not self.records
        for match, line in matches(text, self.dialect.final):
            if may_be_cut(match, line) or not whole_match(match, chunk) or not is_whole(match, line):
                continue
            fields = line.read(match)
            if fields is not None and (rate := rate_of(fields)) is not None:
                self.final = rate
        self.ended = self.ended or any(True for _ in matches(text, self.dialect.end))
        self.cut_line = chunk.first_line + chunk.line_ends if _cut_off(chunk, self.dialect) else None

    @property
    def after(self) -> list[tuple[int, bytes]]:
        """The lines after the last sign of training."""
        return self._behind.lines()

    def _collect(self, chunk: Chunk) -> int:
        """Keeps records until there are enough, counts the others. Returns how many there were."""
        before = len(self.records)
        end = self._extractor.extend(self.records, chunk, self._enough.steps)
        self.intact.add(chunk, end, len(self.records) - before)
        more = 0 if end is None else count(chunk.text[end:], self.dialect.step)
        self.uncollected += more
        if end is not None:
            self.incidents.behind(chunk, end)
            self.rest.add(chunk, end, len(self.records))
        return len(self.records) - before + more

    def _collect_facts(self, text: bytes) -> None:
        if "world_size" not in self.facts and (found := _world_size(text)) is not None:
            self.facts["world_size"] = found
        for match, line in matches(text, (HEADER, *self.dialect.facts)):
            if not is_whole(match, line) or _GOES_ON.match(text, match.end() - 1) or may_be_cut(match, line):
                continue  # 491 of 491,520
            for name, value in (line.read(match) or {}).items():
                if name in OVERRULING and value is not None:
                    self.facts[name] = value
                elif value is not None:
                    self.facts.setdefault(name, value)


def _world_size(text: bytes) -> bytes | None:
    """Found by the letters in it: the pattern alone would try every byte."""
    for letters in (b"orld", b"ORLD"):
        at = text.find(letters)
        while at >= 0:
            found = WORLD_SIZE.match(text, max(0, at - 1))
            if found is not None:
                return found[1]
            at = text.find(letters, at + 1)
    return None


class Quiet:
    """The text after the last sign of training: its first and last chunks, in bounded memory."""

    def __init__(self, dialect: Dialect | None) -> None:
        self._steps: tuple[Line, ...] = () if dialect is None else dialect.step
        self._others: tuple[Line, ...] = ()
        if dialect is not None:
            self._others = (*dialect.final, *dialect.evaluation, *dialect.end)
        self._first: list[Chunk] = []
        self._last: deque[Chunk] = deque(maxlen=QUIET_CHUNKS)

    def add(self, chunk: Chunk, steps: bool) -> None:
        """*steps*: does it hold a step line? Where the last one stands is only looked for at the end."""
        if steps or any(line.may_stand_in(chunk.text) for line in self._others):
            self._first.clear()
            self._last.clear()
        (self._first if len(self._first) < QUIET_CHUNKS else self._last).append(chunk)

    def lines(self) -> list[tuple[int, bytes]]:
        found: list[tuple[int, bytes]] = []
        for chunk in (*self._first, *self._last):
            sign, first, text = self._behind(chunk)
            found = [*([] if sign else found), *_numbered(text, first)]
        return found

    def _behind(self, chunk: Chunk) -> tuple[bool, int, bytes]:
        """(Is there a sign of training, the number of the line after it, the text from there)."""
        text = chunk.text
        sign = max((_last_match(text, line, 0) for line in self._steps), default=-1)
        sign = max(sign, *(_last_match(text, line, max(sign, 0)) for line in self._others), -1)
        if sign < 0:
            return False, chunk.first_line, text
        begin = text.find(b"\n", sign) + 1 or len(text)
        return True, chunk.first_line + text.count(b"\n", 0, begin), text[begin:]


class Rest:
    """Samples the records behind the window, so that a log that goes on at another speed is seen.

    To read all would cost as much as twenty windows. As many as the window has are taken right behind it, and a few
    at the beginning of every later piece of the file.
    """

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._reached: int | None = None  # where in the file the last piece ended
        self._extractor = Extractor(dialect)
        self.records: list[Record] = []

    def add(self, chunk: Chunk, begin: int, in_window: int) -> None:
        """From *begin* on, behind a window of *in_window* records, warm-up included."""
        wanted = in_window * 2 // 3
        for _ in range(NEXT_PIECES):
            if len(self.records) > MOST_SAMPLED or begin >= len(chunk.text):
                return
            size = NEXT_BYTES if len(self.records) < wanted else SAMPLE_BYTES
            part, begin = chunk.lines_from(begin, size)
            self._take(part)
            self._reached = chunk.raw_offset(begin)
            if len(self.records) >= wanted:
                return

    def _take(self, part: Chunk) -> None:
        apart = self._reached not in (None, part.offset)
        if apart:
            self._extractor = Extractor(self._dialect)
        found: list[Record] = []
        self._extractor.extend(found, part)
        if found and apart:
            found[0] = found[0]._replace(gap=True)  # nobody knows what lies between it and the report before
        self.records += found


def _numbered(text: bytes, first: int) -> list[tuple[int, bytes]]:
    lines = enumerate(text.split(b"\n"), first)
    return [(number, part[:LINE_LOOKED_AT]) for number, line in lines for part in line.split(b"\r") if part]


def _last_match(text: bytes, line: Line, begin: int) -> int:
    """From *begin* on; -1 if nowhere."""
    if not line.literal:
        return max((match.start() for match in line.compiled.finditer(text, begin)), default=-1)
    at = text.rfind(line.literal, begin)
    while at >= 0 and line.compiled.match(text, at) is None:
        at = text.rfind(line.literal, begin, at)
    return at


def _cut_off(chunk: Chunk, dialect: Dialect) -> bool:
    """Does the file end inside a step line? A last line without a line end proves nothing alone."""
    if chunk.complete:
        return False
    last = chunk.text[max(chunk.text.rfind(b"\n"), chunk.text.rfind(b"\r")) + 1 :]
    for line in dialect.step:
        match = next(iter(line.compiled.finditer(last)), None)
        if match is not None:
            return not whole_match(match, replace(chunk, text=last))
        begun = any(last.endswith(line.literal[:size]) for size in range(4, len(line.literal)))
        if line.literal and (line.literal in last or begun):
            return True
    return False


def scan_file(path: Path, dialect: Dialect, enough: Enough) -> Scan:
    scan = Scan(dialect, enough)
    for chunk in chunks(path, bare=dialect.spans_lines):
        scan.add(chunk)
    return scan


class TooMany:
    """Every record is kept, until there are more than any window can need."""

    steps = None

    def __call__(self, scan: Scan) -> bool:
        return len(scan.records) > MAX_RECORDS

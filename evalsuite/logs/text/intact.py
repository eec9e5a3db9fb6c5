"""A log whose lines were cut or folded, or whose numbers were rewritten, is refused. Terminals, `fold` and spreadsheets
do that. What is left whole then makes another throughput."""

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path

from evalsuite.contracts.dialect import Dialect, Line
from evalsuite.core.messages import Message
from evalsuite.logs.text.logfile import Piece, chunks
from evalsuite.logs.text.records import is_whole

ALTERED = Message("logs.lines_altered")
WIDTHS = frozenset((80, 100, 120, 128, 132, 140, 160, 180, 200, 240))  # columns that terminals usually have
TTY = (4095, 4096)  # bytes that a terminal's driver takes of a line; others are lost
SHARE = 0.05  # of the reports; fewer may be torn by what another process printed
FEWEST = 2  # of them, unless lines near it are as wide as terminals
ALIKE = 0.8  # of the reports cut end at one width; what a script ends early ends anywhere
MOST_TRIED, MOST_OF_UNKNOWN = 1000, 100  # beginnings in a log, and of each dialect in a log of none
LOOKED_BACK = 400  # bytes before a report
MOST_BYTES = 8192
ALWAYS_LINES, MOST_LINES = 6, 24  # it is looked for over so many; over more where these are nearly as wide
MOST_BLANKS = 4  # between two words
LONGEST_WORD = 30  # characters: `fold -s` cuts between words
_DIGITS = tuple(b"0123456789."[place : place + 1] for place in range(11))
_THOUSANDS = re.compile(rb"(?<![\d.,_\w])\d{1,3}(?:[,_]\d{3})+(?=(?:\.\d+)?(?![\d,_]))")
_EXPONENT = re.compile(rb"(?<![\d.,_\w])\d+(?:\.\d*)?[eE]\+?\d{1,2}(?![\d,_.])")
_DECIMAL_COMMA = re.compile(rb"(?<![\d.,:\[(])(\d+),(\d+)(?![\d,.:]|[-/]\d)")  # 7,2025-03-04
_DECIMAL_POINT = re.compile(rb"(?<![\d.,])\d+\.\d+(?![\d.])")
_SPLIT = re.compile(rb"\n(?<=[\x80-\xf4]\n)[\x80-\xbf]")  # a character over two lines, as no script prints it
_COMMA = re.compile(rb",(?<=\d,)(?=\d)")  # the comma first: the engine looks for it alone
FEWEST_NUMBERS = 5  # that tell how fractions are written
POINTS = 0.1  # per comma: version numbers and addresses


@dataclass
class IntactCheck:
    """Counts the altered reports of one log while it is read."""

    kinds: Sequence[Line]  # of reports
    _whole: int = 0
    _altered: int = 0
    _tried: int = 0
    _usual: bool = False  # are lines near altered reports as wide as terminals usually are?
    _commas: bool | None = None
    _cut: Counter[int] = field(default_factory=Counter)  # widths of lines at whose end a report breaks off

    def add(self, piece: Piece) -> None:
        """What comes after the window is not judged."""
        text = piece.chunk.text
        if piece.behind is not None:
            text = text[: text.find(b"\n", piece.behind) + 1 or len(text)] if piece.behind else b""
        self._altered += 0 if b"\0" in text else len(_SPLIT.findall(text))  # what is binary was never a character
        joined, spaced = text.replace(b"\n", b""), text.replace(b"\n", b" ")  # their first words may be broken, too
        begun = sum(max(joined.count(kind.literal), spaced.count(kind.literal)) for kind in self.kinds)
        if not begun:  # other lines, of which there may be gigabytes
            return
        if self._commas is None and _COMMA.search(text):
            self._commas = has_decimal_commas(text)
        if begun > piece.reports:
            for kind in self.kinds:
                begins = (match.start() for match in _over_lines(kind.literal).finditer(text))
                unread = (begin for begin in begins if not _count_reports(text, kind, begin))
                for begin in itertools.islice(unread, MOST_TRIED - self._tried):
                    self._tried += 1
                    if _is_altered(text, begin, kind, self.kinds):
                        self._altered += 1
                        self._usual = self._usual or _has_usual_width(text, begin)
        self._whole += piece.reports
        for line, behind in itertools.pairwise(text.split(b"\n")):
            line = line.rstrip(b"\r").rsplit(b"\r", 1)[-1]
            columns = len(line if line.isascii() else line.decode("utf-8", "replace"))
            usual, digit = columns in WIDTHS, line[-1:] in _DIGITS
            if not usual and not digit:
                continue
            alone = (usual or behind[:1] in _DIGITS) and not any(kind.literal in behind for kind in self.kinds)
            if alone and any(_goes_on(line, behind, kind, usual) for kind in self.kinds):
                self._altered += 1
                self._usual = True
            elif digit:
                found = ((kind, kind.compiled.search(line)) for kind in self.kinds if kind.literal in line)
                self._cut[columns] += any(
                    hit and hit.lastindex and hit.end(hit.lastindex) == len(line) and _tail(kind, hit.lastindex)
                    for kind, hit in found
                )

    def is_altered(self) -> bool:
        altered = self._altered
        for columns, times in self._cut.most_common(1):
            widest = columns in WIDTHS and columns == max(self._cut)  # a terminal leaves none that is wider
            altered += times if widest and times >= ALIKE * self._cut.total() else 0
        return bool(self._commas) or altered >= max(1 if self._usual else FEWEST, SHARE * self._whole)


@cache
def lines_of_reports(dialect: Dialect) -> list[Line]:
    return [line for line in dialect.step if line.literal and b"\n" not in line.sample.strip()]


def is_altered_log(path: Path, dialects: Iterable[Dialect]) -> bool:
    """Is that why no dialect finds a line? Judged by its beginning. Raises Unreadable."""
    first = next(chunks(path))
    for dialect in dialects:
        check = IntactCheck(lines_of_reports(dialect), _tried=MOST_TRIED - MOST_OF_UNKNOWN)
        check.add(Piece(chunk=first))
        if check.is_altered():
            return True
    return False


def may_be_cut(match: "re.Match[bytes]", line: Line) -> bool:
    """Does the last number end where a terminal would break the line, and go on after it?"""
    last, text = match.lastindex, match.string
    if last is None or not match[last][-1:].isdigit():
        return False
    end = match.end(last)
    if text[end : end + 1] not in (b"\n", b"\r"):
        return False
    width = width_of(text[text.rfind(b"\n", 0, match.start()) + 1 : end])
    if width not in WIDTHS and width not in TTY:
        return False
    return bool(_tail(line, last)) or text[end:].lstrip(b"\r\n")[:1].isdigit()


def has_decimal_commas(text: bytes) -> bool | None:
    """0,512 for 0.512? None where too few numbers tell: 5,868 may be thousands."""
    points = len(_DECIMAL_POINT.findall(text))
    commas = _DECIMAL_COMMA.findall(text)
    if points + len(commas) < FEWEST_NUMBERS:
        return None
    clear = sum(len(fraction) != 3 or before == b"0" for before, fraction in commas)
    return clear >= FEWEST_NUMBERS and 2 * clear >= len(commas) and points <= POINTS * len(commas)


def width_of(line: bytes) -> int:
    """Of a terminal, which shows a bar that begins anew in its place."""
    shown = line.rstrip(b"\r").rsplit(b"\r", 1)[-1]
    return len(shown) if shown.isascii() else len(shown.decode("utf-8", "replace"))


def _has_usual_width(text: bytes, begin: int) -> bool:
    """Where a terminal would end it, or where the next word would not have fitted."""
    end = text.find(b"\n", begin)
    line, behind = text[text.rfind(b"\n", 0, begin) + 1 : end], text[end + 1 : end + 1 + max(WIDTHS)]
    blanks = 0 if line.endswith((b" ", b"\t")) else MOST_BLANKS  # may have been taken off
    widest = width_of(line) + width_of(re.split(rb"\s", behind, maxsplit=1)[0]) + blanks
    return any(width_of(line) <= columns <= widest for columns in WIDTHS)


def unfolded(text: bytes) -> bytes | None:
    """Its lines as they were before `fold`, or a terminal, cut them all at one width; None if none did."""
    lines = text.split(b"\n")
    widths = list(map(len if text.isascii() and b"\r" not in text else width_of, lines))
    limit = min((width for width in WIDTHS if width >= max(widths)), default=None)
    if limit is None:
        return None
    pairs = zip(lines, widths, strict=True)
    cut = [width == limit or (line.endswith(b" ") and width > limit - LONGEST_WORD) for line, width in pairs]
    if sum(cut) < FEWEST:
        return None
    return b"".join(line if folded else line + b"\n" for line, folded in zip(lines, cut, strict=True))


# lines that are no reports as they are


@lru_cache(maxsize=64)
def _over_lines(literal: bytes) -> "re.Pattern[bytes]":
    letters = (literal[at : at + 1] for at in range(len(literal)))
    return re.compile(rb"\n?".join(rb"[ \n]" if letter == b" " else re.escape(letter) for letter in letters))


def _is_altered(text: bytes, begin: int, kind: Line, others: Sequence[Line]) -> bool:
    *before, lead = text[text.rfind(b"\n", 0, max(0, begin - LOOKED_BACK)) + 1 : begin].split(b"\n")
    shown = [line.rstrip(b"\r").decode("utf-8", "replace") for line in before]
    full = [not WIDTHS.isdisjoint({len(line), len(line.rpartition("\r")[2])}) for line in shown]  # or since a bar began
    lead = b"".join(line if wide else line + b"\n" for line, wide in zip(before, full, strict=True)) + lead
    lines = text[begin : begin + MOST_BYTES].replace(b"\r\n", b"\n").split(b"\n")
    first, *bars = lines[0].split(b"\r", 1)
    if len(lead.rsplit(b"\n", 1)[-1]) + len(lines[0]) in TTY:
        return False  # it is left out
    first = _THOUSANDS.sub(lambda number: number[0].translate(None, b",_"), first)
    first = _EXPONENT.sub(lambda number: (b"%f" % float(number[0])).rstrip(b"0").rstrip(b"."), first)
    if _count_reports(lead + b"\r".join((first, *bars)) + b"\n", kind, len(lead)):
        return True
    widths: list[int] = []
    for number, line in enumerate(lines[1:MOST_LINES], 2):
        widths.append(width_of(line))
        if number > ALWAYS_LINES and max(widths) - min(widths) > LONGEST_WORD:
            return False
        if any(other.literal in line and _count_reports(line, other) for other in others):
            return False
        if any(_count_reports(lead + join.join(lines[:number]) + b"\n", kind, len(lead)) for join in (b"", b" ")):
            return True
    return False


def _count_reports(text: bytes, kind: Line, at: int | None = None) -> int:
    reports = kind.compiled.finditer(text) if at is None else filter(None, [kind.compiled.match(text, at)])
    return sum(is_whole(match, kind) and (kind.fields is None or kind.read(match) is not None) for match in reports)


# reports that break off


@lru_cache(maxsize=64)
def _tail(line: Line, group: int) -> bytes:
    usual = line.compiled.search(line.sample)
    return line.sample[usual.end(group) :].rstrip() if usual else b""


def _goes_on(line: bytes, behind: bytes, kind: Line, usual: bool) -> bool:
    """Does the report joined to *behind* hold more values, and then go on as the script's does?

    *usual*: the width of terminals tells enough where the script prints nothing after it.
    """
    alone, joined = kind.compiled.search(line), kind.compiled.search(line + behind)
    if alone is None or joined is None:
        return False
    if kind.fields is not None:
        ends = _ending(line) != _ending(kind.sample) == _ending(line + behind)
        return ends and None not in (said := [kind.read(alone), kind.read(joined)]) and said[0] != said[1]
    last = alone.lastindex
    if last is None or alone.end(last) != len(line) or joined.end(last) <= len(line):
        return False
    tail = _tail(kind, last)
    return joined.string[joined.end(last) :][:1] == tail[:1] if tail else usual


def _ending(line: bytes) -> bytes:
    last = line.rstrip()[-1:]
    return b"0" if last.isdigit() else last

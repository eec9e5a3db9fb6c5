"""Reports that are broken over lines: whole only when a line is joined to the next, or shorter than the others.

A terminal or `fold` may have cut a part of a log, at any place in it. There reports are not found, or their numbers
lack digits, and what is left makes another throughput. A log that is cut as a whole is joined again by `wrapping`.
`fold -s` cuts between words: every line may then have another width, below the one asked for. And a report whose
numbers are written otherwise (1,234 for 1234) is not found, either, where others of the log are.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from evalsuite.dialect import Dialect, Line, bytes_of_it_stand_in
from evalsuite.logs.logfile import Chunk
from evalsuite.logs.whole_numbers import OTHERWISE_WRITTEN, in_plain_digits
from evalsuite.logs.wrapping import (
    ALIKE,
    NARROWEST,
    USUAL,
    WIDEST,
    between_words,
    breadth,
    breadths,
    breaks_off,
    partly,
)

MOST_LINES = 6  # a report is looked for over so many, and over more that are all as wide
MOST_OF_WORDS = 24  # lines, which are as wide as words let them be
LONGEST_WORD = 30
MOST_BLANKS = 4  # between two words: those at the end of a line may have been taken off
MOST_BYTES = 8192  # of them together
MOST_TRIED = 200  # beginnings in one piece of a log: the word may stand in every line of another kind
MOST_IN_ALL = 2000  # of them in a log of any size
LOOKED_BACK = 400  # bytes before a report, which its dialect may read, too
FEWEST = 2  # that tell any width of a terminal; one alone only a usual width
SHARE = 0.05  # of the reports; fewer may be torn by what another process printed
_BLANK = re.compile(rb"[ \t\r\n]")
_USUAL = frozenset(USUAL)
_NUMBER_CUT = re.compile(rb"\n(?<=\d\n)[.\d]")  # the line end first: the engine looks for it alone
_DIGIT = tuple(b".0123456789"[place : place + 1] for place in range(11))


class Fragments:
    """Collects the widths at which reports are broken, while a log is read."""

    def __init__(self, dialect: Dialect) -> None:
        self._kinds = [kind for kind in dialect.step if kind.literal and b"\n" not in kind.sample.strip()]
        self._step = dialect.step
        self._broken: list[frozenset[int]] = []  # the widths that each broken report may be cut at
        self._by_words: list[frozenset[int]] = []  # the same, where it is cut between words
        self._grouped = 0  # reports that are none because their numbers are written with thousands
        self._short: Counter[int] = Counter()  # widths of lines whose report lacks what the script prints behind it
        self._whole = 0  # other reports
        self._tried = 0

    def add(self, chunk: Chunk, end: int | None, reports: int) -> None:
        """Looks through *chunk* up to *end* (None: all of it), in which so many *reports* were found."""
        text = chunk.text if end is None else chunk.text[: chunk.text.find(b"\n", end) + 1 or len(chunk.text)]
        begun = self._begun(text)
        if not begun:  # other lines, of which there may be gigabytes
            return
        for kind in self._kinds if begun > reports and self._tried < MOST_IN_ALL else ():
            for begin in _unfinished(text, kind):
                self._tried += 1
                if (first := self._broken_at(text, begin, kind)) is not None:
                    self._broken.append(_widths(chunk, text.rfind(b"\n", 0, first) + 1, first))
                    self._by_words.append(_widths_by_words(text, first) if first > begin else frozenset())
                elif in_plain_digits(text, begin, kind) is not None:
                    self._grouped += 1
        short = self._shortened(text)
        self._short.update(short)
        self._whole += max(0, reports - len(short))

    def _begun(self, text: bytes) -> int:
        """How many reports seem to begin in *text*, also where their first word is broken."""
        likely = [kind.literal for kind in self._kinds if bytes_of_it_stand_in(kind.literal, text)]
        joined = text.replace(b"\n", b"") if likely else b""
        spaced = text.replace(b"\n", b" ") if any(b" " in literal for literal in likely) else b""
        return sum(max(joined.count(literal), spaced.count(literal)) for literal in likely)

    def _shortened(self, text: bytes) -> list[int]:
        """The widths of the lines whose report seems to go on in the next.

        None where no line is as wide as terminals usually are, and none breaks off within a number.
        """
        if not _may_be_cut(text):
            return []
        lines = list(map(_last_bar, text.split(b"\n"))) if b"\r" in text else text.split(b"\n")
        pairs = list(itertools.pairwise(lines))
        suspect = (pair for pair in pairs if breadth(pair[0]) in USUAL or self._in_number(*pair))
        if not any(self._lacks(line, behind) for line, behind in suspect):
            return []
        return [breadth(line) for line, behind in pairs if self._lacks(line, behind)]

    def _in_number(self, line: bytes, behind: bytes) -> bool:
        """May a number of *line* go on *behind* it, where no report begins?"""
        within = line[-1:].isdigit() and behind[:1] in _DIGIT
        return within and not any(kind.literal in behind for kind in self._kinds)

    def _lacks(self, line: bytes, behind: bytes) -> bool:
        """Does a report in *line* end before the script's own does, or say something else with what stands *behind*?"""
        if any(breaks_off(line, kind) for kind in self._kinds):
            return True
        read = [kind for kind in self._kinds if kind.fields is not None]
        return bool(read) and not self._stands_in(behind) and any(_says_more(line, behind, kind) for kind in read)

    def _broken_at(self, text: bytes, begin: int, kind: Line) -> int | None:
        """Where the first line of the report from *begin* on ends, if it stands there over several lines."""
        lead = text[max(0, begin - LOOKED_BACK) : begin].replace(b"\n", b"")
        first = end = _line_end(text, begin)
        if end - begin > MOST_BYTES:
            return None
        second = before = None
        for place in itertools.count(1):
            if _reads(kind, lead, text[begin:end]):  # on one line, it needs what was cut off before it
                return text.rfind(b"\n", 0, begin) if end == first else first
            after = _line_end(text, end + 1)
            width = breadth(text[end + 1 : after])
            second = width if second is None else second
            alike = before is None or abs(before - second) <= (LONGEST_WORD if place < MOST_OF_WORDS else 0)
            far = after - begin > MOST_BYTES or (place >= MOST_LINES and not alike)
            if end + 1 >= len(text) or far or self._stands_in(text[end + 1 : after]):
                return None
            end, before = after, width
        return None

    def _stands_in(self, line: bytes) -> bool:
        found = ((kind, match) for kind in self._step for match in kind.compiled.finditer(line))
        return any(kind.read(match) is not None for kind, match in found)

    def reason(self) -> str | None:
        """Why the reports that are found are not to be believed; None where nothing speaks against them."""
        exact, by_words = self._width(), self._width_by_words()
        if exact is not None and (exact in USUAL or by_words is None):
            return partly(exact)
        if by_words is not None:
            return between_words(by_words)
        return OTHERWISE_WRITTEN if self._grouped >= max(FEWEST, SHARE * self._whole) else None

    def _width_by_words(self) -> int | None:
        """The columns of a terminal at which the broken reports are cut between words."""
        for columns in USUAL:
            times = sum(columns in widths for widths in self._by_words)
            if times and times >= max(SHARE * self._whole, ALIKE * len(self._by_words)):
                return columns
        return None

    def _width(self) -> int | None:
        """The columns at which a part of the reports is cut; None where it is none, or not at one width."""
        short = self._common(self._short, self._short.total()) if self._whole else None
        return short or self._common(Counter(itertools.chain(*self._broken)), len(self._broken))

    def _common(self, widths: Counter[int], lines: int) -> int | None:
        """The one of the *widths* that most of so many *lines* have, if a terminal may have it."""
        for width, times in widths.most_common():
            several = times >= max(FEWEST, SHARE * self._whole) and NARROWEST <= width <= WIDEST
            if (several or width in USUAL) and times >= ALIKE * lines:
                return width
        return None


def _may_be_cut(text: bytes) -> bool:
    """Is any line as wide as terminals usually are, or does one end and the next begin with a digit?"""
    return b"\r" in text or not _USUAL.isdisjoint(breadths(text)) or _NUMBER_CUT.search(text) is not None


def _reads(kind: Line, lead: bytes, report: bytes) -> bool:
    """Is *report* one of that *kind* when its lines are joined, as they are or, between words, with a blank?"""
    ends = (b"", b" ") if b"\n" in report else (b"",)
    for end in ends:
        whole = lead + report.replace(b"\r\n", end).replace(b"\n", end) + b"\n"
        match = kind.compiled.match(whole, len(lead))
        if match is not None and kind.read(match) is not None:
            return True
    return False


def _line_end(text: bytes, begin: int) -> int:
    end = text.find(b"\n", begin)
    return len(text) if end < 0 else end


def _says_more(line: bytes, behind: bytes, kind: Line) -> bool:
    """Does a report in *line* say something else when joined to what stands *behind*, and end as the script's does?"""
    whole = line.rstrip(b"\r") + behind.rstrip(b"\r")
    usual = _ending(kind.sample)
    if _ending(whole) != usual or _ending(line) == usual:
        return False
    said, more = (
        [fields for match in kind.compiled.finditer(text) if (fields := kind.read(match)) is not None]
        for text in (line, whole)
    )
    return bool(said) and len(said) == len(more) and said != more


def _ending(line: bytes) -> bytes:
    last = line.rstrip()[-1:]
    return b"0" if last.isdigit() else last


def _unfinished(text: bytes, kind: Line) -> Iterator[int]:
    """Where a report seems to begin that does not stand there."""
    whole = {match.start() for match in kind.compiled.finditer(text) if kind.read(match) is not None}
    others = (at for at in _beginnings(text, kind.literal) if at not in whole)
    for at in itertools.islice(others, MOST_TRIED):
        match = kind.compiled.match(text, at)
        if match is None or kind.read(match) is None:
            yield at


def _beginnings(text: bytes, literal: bytes) -> Iterator[int]:
    at = text.find(literal)
    while at >= 0:
        yield at
        at = text.find(literal, at + 1)
    yield from (match.start() for match in _over_lines(literal).finditer(text) if b"\n" in match[0])


@lru_cache(maxsize=64)
def _over_lines(literal: bytes) -> "re.Pattern[bytes]":
    letters = (literal[at : at + 1] for at in range(len(literal)))
    return re.compile(rb"\n?".join(rb"(?: |\n)" if letter == b" " else re.escape(letter) for letter in letters))


def _widths_by_words(text: bytes, end: int) -> frozenset[int]:
    """How wide a terminal may have been that breaks the line up to *end* because its next word did not fit on it."""
    line, behind = text[text.rfind(b"\n", 0, end) + 1 : end].rstrip(b"\r"), text[end + 1 : end + 1 + WIDEST]
    word = breadth(_BLANK.split(behind, 1)[0]) + (0 if line.endswith((b" ", b"\t")) else MOST_BLANKS)
    shown = {breadth(line), breadth(_last_bar(line))}
    return frozenset(columns for columns in USUAL if any(width <= columns <= width + word for width in shown))


def _last_bar(line: bytes) -> bytes:
    """What a terminal shows of a *line* in which a bar begins anew."""
    return line.rstrip(b"\r").rsplit(b"\r", 1)[-1]


def _widths(chunk: Chunk, begin: int, end: int) -> frozenset[int]:
    """How wide the line from *begin* to *end* was to what cut it: in all, since a bar began, with colour codes."""
    line = chunk.text[begin:end].rstrip(b"\r")
    codes = chunk.raw_offset(end) - chunk.raw_offset(begin) - (end - begin)
    shown = breadth(line)
    since = breadth(_last_bar(line))
    return frozenset((shown, since, shown + codes, since + codes))

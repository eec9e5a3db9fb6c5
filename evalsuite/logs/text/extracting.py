"""Takes the records out of the chunks of a log: finds its step lines, reads their numbers, and tells who printed them.

Some lines are read at once (`fields`); of each is then told where it stands, and what stands before it.
"""

import re
from collections.abc import Sequence
from itertools import islice, pairwise, takewhile

from evalsuite.dialect import Dialect, Line
from evalsuite.logs.text.fields import PLACES, Columns, Values, columns_of, values
from evalsuite.logs.text.logfile import Chunk
from evalsuite.logs.text.records import RELAY, Record, enough, matches, printer, stamp_s, whole_match
from evalsuite.logs.text.whole_numbers import filter_whole, is_whole

AT_ONCE = 64  # lines; in a long log few are read in vain behind the last that the window needs
NEWLINE = ord("\n")
HOLE = b"\0"  # where a file system lost what was written: a number before it may lack digits
_LINE, _END, _GAP = PLACES["line"], PLACES["end"], PLACES["gap"]
_RANK, _STAMP, _RELAYED = PLACES["rank"], PLACES["stamp_s"], PLACES["relayed"]
_Match = re.Match[bytes]


class Extractor:
    """Takes the records out of the chunks of one file, one after the other."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._paused = False  # an evaluation line has been seen since the last record

    def records(self, chunk: Chunk) -> list[Record]:
        """Those of *chunk*, in the order of the file. Numbers that are no numbers (nan, None) are absent."""
        found: list[Record] = []
        self.extend(found, chunk)
        return found

    def extend(self, found: list[Record], chunk: Chunk, steps: int | None = None) -> int | None:
        """Appends those of *chunk* to *found*, until it holds *steps* of one epoch.

        Returns where in the chunk it has stopped, None at its end.
        """
        text, seen, line = chunk.text, 0, chunk.first_line
        pauses = [match.start() for match, _ in matches(text, self._dialect.evaluation)]
        lines, holes = matches(text, self._dialect.step), HOLE in text
        if not chunk.complete:
            lines = takewhile(lambda found: whole_match(found[0], chunk), lines)
        while some := [*islice(lines, AT_ONCE)]:
            spans, columns = _read([one for one in some if not text.startswith(HOLE, one[0].end())] if holes else some)
            if not spans:
                continue
            starts = [start for start, _ in spans]
            columns[_LINE] = _numbers_of_lines(text, starts, seen, line)
            columns[_END] = _ends(chunk, spans)
            columns[_GAP] = self._gaps(pauses, starts, seen)
            _look_ahead_of(text, starts, columns)
            seen, line = starts[-1], columns[_LINE][-1]
            records = [tuple.__new__(Record, said) for said in zip(*columns, strict=True)]  # half of Record(…)
            if steps is None or not _may_suffice(found, records, steps):
                found += records
                continue
            for record, (_, behind) in zip(records, spans, strict=True):
                found.append(record)
                if enough(found, steps):
                    return behind
        self._paused = self._paused or any(at >= seen for at in pauses)
        return None

    def _gaps(self, pauses: Sequence[int], starts: Sequence[int], seen: int) -> list[bool]:
        """Of the records that begin at *starts*: does one of the *pauses* lie between it and the record before?"""
        gaps = [False] * len(starts)
        if pauses:
            gaps = [any(begin <= at < start for at in pauses) for begin, start in pairwise((seen, *starts))]
        gaps[0] = gaps[0] or self._paused
        self._paused = False
        return gaps


def _may_suffice(found: Sequence[Record], more: Sequence[Record], steps: int) -> bool:
    """Do any of *more* lie so many *steps* behind the first of *found*? Else there are surely not `enough`."""
    first = (found or more)[0].step
    return first is not None and any(record.step is not None and record.step - first >= steps for record in more)


def _read(found: Sequence[tuple[_Match, Line]]) -> tuple[list[tuple[int, int]], Columns]:
    """(where each stands, what they say) of those of the lines *found* whose numbers are whole."""
    kinds = {id(line): line for _, line in found}
    kind = found[0][1] if len(kinds) == 1 else None
    if kind is None or kind.fields is not None:
        told = ((match.span(), _said(match, line)) for match, line in found if is_whole(match, line))
        rows = [(span, said) for span, said in told if said is not None]
        return [span for span, _ in rows], [[*column] for column in zip(*(said for _, said in rows), strict=True)]
    whole = filter_whole([match for match, _ in found], kind)
    return [match.span() for match in whole], columns_of(kind.groups, [match.groups() for match in whole])


def _said(match: _Match, line: Line) -> Values | None:
    if line.fields is None:
        return values(line.groups, match.groups())
    fields = line.read(match)
    return None if fields is None else values(tuple(fields), tuple(fields.values()))


def _numbers_of_lines(text: bytes, starts: Sequence[int], seen: int, line: int) -> list[int]:
    """Those of the lines in which each of *starts* lies; at *seen* is number *line*."""
    found = []
    for start in starts:
        line += text.count(b"\n", seen, start)
        seen = start
        found.append(line)
    return found


def _ends(chunk: Chunk, spans: Sequence[tuple[int, int]]) -> list[int]:
    """Where in the file the line ends that each of *spans* stands in."""
    text, size = chunk.text, len(chunk.text)
    found = [text.find(b"\n", behind) + 1 or size for _, behind in spans]
    return [chunk.raw_offset(end) for end in found] if chunk.removed else [chunk.offset + end for end in found]


def _look_ahead_of(text: bytes, starts: Sequence[int], columns: Columns) -> None:
    """Takes rank and stamp from what stands in the same line before a match, where the match has none."""
    for place, start in enumerate(starts):
        if not start or text[start - 1] == NEWLINE:
            continue
        lead = text[_line_start(text, start) : start]
        if lead and columns[_RANK][place] is None:
            columns[_RANK][place] = printer(lead)
        if lead and columns[_STAMP][place] is None:
            relay = RELAY.match(lead)
            columns[_STAMP][place] = stamp_s(lead[relay.end() :] if relay else lead)
            if relay and columns[_STAMP][place] is None:
                columns[_STAMP][place], columns[_RELAYED][place] = stamp_s(relay[0]), True


def _line_start(text: bytes, position: int) -> int:
    start = text.rfind(b"\n", 0, position) + 1
    return max(start, text.rfind(b"\r", start, position) + 1)

"""Takes the records out of the chunks of a log: its step lines, their numbers, and who printed them."""

from collections import deque
from collections.abc import Callable, Sequence
from functools import lru_cache
from re import Match
from typing import Any

from evalsuite.dialect import Dialect, Line
from evalsuite.logs.text.logfile import Chunk
from evalsuite.logs.text.records import (
    RELAY,
    Record,
    enough,
    is_whole,
    matches,
    number,
    positive,
    printer,
    stamp_s,
    whole,
    whole_match,
)

NEWLINE = ord("\n")
HOLE = b"\0"  # where a file system lost what was written: a number before it may lack digits
_PLACES = {name: place for place, name in enumerate(Record._fields)}
_NOTHING = tuple(Record(line=0, end=0))
_LINE, _END, _GAP = _PLACES["line"], _PLACES["end"], _PLACES["gap"]
_RANK, _STAMP, _RELAYED = _PLACES["rank"], _PLACES["stamp_s"], _PLACES["relayed"]


class Extractor:
    """Takes the records out of the chunks of one file, one after the other."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._paused = False  # an evaluation line has been seen since the last record

    def extend(self, found: list[Record], chunk: Chunk, steps: int | None = None) -> int | None:
        """Appends the records of *chunk* to *found*, until it holds *steps* of one epoch.

        What is no number (nan, None) is absent. Returns where in the chunk it has stopped, None at its end.
        """
        text, seen, line, holes = chunk.text, 0, chunk.first_line, HOLE in chunk.text
        pauses = deque(match.start() for match, _ in matches(text, self._dialect.evaluation))
        for match, kind in matches(text, self._dialect.step):
            if not chunk.complete and not whole_match(match, chunk):
                break
            values = None if holes and text.startswith(HOLE, match.end()) else _values(match, kind)
            if values is None:
                continue
            start = match.start()
            line += text.count(b"\n", seen, start)
            seen = start
            while pauses and pauses[0] < start:
                pauses.popleft()
                self._paused = True
            values[_LINE], values[_GAP] = line, self._paused
            values[_END] = chunk.raw_offset(text.find(b"\n", match.end()) + 1 or len(text))
            self._paused = False
            if start and text[start - 1] != NEWLINE:
                _read_lead(text, start, values)
            found.append(tuple.__new__(Record, values))  # half of what Record(…) costs
            if steps is not None and enough(found, steps):
                return match.end()
        self._paused = self._paused or bool(pauses)
        return None


# a line → the fields of a record


def _to_text(value: bytes | float) -> str:
    return value.decode("ascii", "replace") if isinstance(value, bytes) else str(value)


def _times(factor: float) -> Callable[[bytes | float | None], float | None]:
    def scaled(value: bytes | float | None) -> float | None:
        found = positive(value)
        return None if found is None else found * factor

    return scaled


# group → (field of the record, how its text becomes the value; fields differ in their types)
_FIELDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "epoch": ("epoch", whole),
    "step": ("step", whole),
    "of": ("of", whole),
    "interval": ("interval", positive),
    "since": ("since", number),
    "rank": ("rank", _to_text),
    "begins": ("begins", bool),
    "evaluated": ("evaluated", bool),
    "rate": ("rate", positive),
    "rate_k": ("rate", _times(1e3)),
    "steps_per_s": ("steps_per_s", positive),
    "seconds": ("step_s", positive),
    "ms": ("step_s", _times(1e-3)),
    "us": ("step_s", _times(1e-6)),
    "report_s": ("report_s", positive),
    "report_ms": ("report_s", _times(1e-3)),
    "mean_s": ("mean_s", positive),
    "elapsed_s": ("elapsed_s", positive),
    "elapsed_ms": ("elapsed_s", _times(1e-3)),
    "items": ("items", positive),
    "consumed": ("consumed", number),
    "loss": ("loss", number),
    "stamp": ("stamp_s", stamp_s),
    "unix_s": ("stamp_s", number),
    "unix_ms": ("stamp_s", _times(1e-3)),
    "global_batch": ("global_batch", positive),
}


@lru_cache(maxsize=256)
def _taken(names: tuple[str, ...]) -> tuple[tuple[int, int, Callable[[Any], Any]], ...]:
    """(place among *names*, place in a record, conversion) of those that a record has."""
    known = ((place, *_FIELDS[name]) for place, name in enumerate(names) if name in _FIELDS)
    return tuple((place, _PLACES[field], convert) for place, field, convert in known)


def _values(match: Match[bytes], line: Line) -> list[Any] | None:
    """As the fields of a record; None where a number is not whole, or it is no such line."""
    if not is_whole(match, line):
        return None
    names: tuple[str, ...] = line.groups
    said: Sequence[bytes | float | None] = match.groups()
    if line.fields is not None:
        fields = line.read(match)
        if fields is None:
            return None
        names, said = tuple(fields), tuple(fields.values())
    found = [*_NOTHING]
    for place, field, convert in _taken(names):
        if said[place] is not None:
            found[field] = convert(said[place])
    return found


def _read_lead(text: bytes, start: int, values: list[Any]) -> None:
    """Rank and stamp from before the match, where it has none."""
    begin = text.rfind(b"\n", 0, start) + 1
    lead = text[max(begin, text.rfind(b"\r", begin, start) + 1) : start]
    if lead and values[_RANK] is None:
        values[_RANK] = printer(lead)
    if lead and values[_STAMP] is None:
        relay = RELAY.match(lead)
        values[_STAMP] = stamp_s(lead[relay.end() :] if relay else lead)
        if relay and values[_STAMP] is None:
            values[_STAMP], values[_RELAYED] = stamp_s(relay[0]), True

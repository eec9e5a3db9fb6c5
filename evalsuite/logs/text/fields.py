"""What the groups of step lines say, as the fields of records: of many lines at once, for logs have many.

The numbers of one group, one below the other, are brought to numbers together: that costs a third of one by one.
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from evalsuite.logs.text.records import Record, number, positive, stamp_s, whole

Values = list[Any]
"""The fields of a record, each at its place."""
Columns = list[list[Any]]
"""The same of several records: for each field, what it is in each of them."""
Said = bytes | float | None
"""What stands in one group of a line."""


def _text(value: bytes | float) -> str:
    return value.decode("ascii", "replace") if isinstance(value, bytes) else str(value)


def _times(factor: float) -> Callable[[Said], float | None]:
    def scaled(value: Said) -> float | None:
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
    "rank": ("rank", _text),
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
PLACES = {name: place for place, name in enumerate(Record._fields)}
_NOTHING = tuple(Record(line=0, end=0))


@lru_cache(maxsize=256)
def _taken(names: tuple[str, ...]) -> tuple[tuple[int, int, Callable[[Any], Any]], ...]:
    """(place among *names*, place in a record, how its text becomes the value) of those that are of a record.

    Others are facts and not for here.
    """
    known = ((place, *_FIELDS[name]) for place, name in enumerate(names) if name in _FIELDS)
    return tuple((place, PLACES[field], convert) for place, field, convert in known)


def values(names: tuple[str, ...], said: Sequence[Said]) -> Values:
    """What a line *said* in groups of those *names*, as fields of a record."""
    found = [*_NOTHING]
    for place, field, convert in _taken(names):
        value = said[place]
        if value is not None:
            found[field] = convert(value)
    return found


def columns_of(names: tuple[str, ...], lines: Sequence[Sequence[bytes | Any]]) -> Columns:
    """The same of several *lines* of one kind, in columns."""
    found: Columns = [[nothing] * len(lines) for nothing in _NOTHING]
    columns = [*zip(*lines, strict=True)]
    for place, field, convert in _taken(names) if lines else ():
        together = _TOGETHER.get(convert)
        found[field] = (together(columns[place]) if together else None) or [
            before if value is None else convert(value)
            for value, before in zip(columns[place], found[field], strict=True)
        ]
    return found


def wholes(column: Sequence[bytes]) -> Sequence[int | None]:
    """Each of *column* as `records.whole` reads it."""
    return _wholes(column) or [*map(whole, column)]


def numbers(column: Sequence[bytes]) -> Sequence[float | None]:
    """Each of *column* as `records.number` reads it."""
    return _numbers(column) or [*map(number, column)]


# each gives None where one of the numbers must be looked at by itself


def _wholes(column: Sequence[bytes]) -> list[int] | None:
    try:
        found = [*map(int, column)] if b"".join(column).isdigit() else None
    except (ValueError, TypeError):
        return None
    return found if found and max(found) < 10**15 else None  # as many digits as are surely read as they stand


def _numbers(column: Sequence[bytes]) -> list[float] | None:
    try:
        found = [*map(float, column)]
    except (ValueError, TypeError):
        return None
    return found if math.isfinite(sum(found)) else None  # nan and inf stay in the sum


def _positives(column: Sequence[bytes]) -> list[float] | None:
    found = _numbers(column)
    return found if found and min(found) > 1e-9 and max(found) < 1e15 else None


_TOGETHER: dict[Callable[[Any], Any], Callable[[Sequence[bytes]], list[Any] | None]] = {
    whole: _wholes,
    number: _numbers,
    positive: _positives,
}

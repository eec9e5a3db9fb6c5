"""When the lines of a log arrived, as the agent noted them next to it."""

import bisect
from collections.abc import Callable
from pathlib import Path

from evalsuite.core import files
from evalsuite.logs.text.records import number, whole

MOST_BYTES = 1 << 28  # ten million chunks
Arrival = Callable[[int], float | None]
"""When the byte before an offset of a log arrived."""


def read_arrivals(path: Path) -> Arrival | None:
    """By the first chunk that reaches as far as the offset. None: there is no record."""
    try:
        rows = files.read_bytes(path, most=MOST_BYTES).splitlines()[1:]
    except OSError:
        return None
    cells = [row.split(b",") for row in rows if row.count(b",") == 1]
    read = [(whole(end), number(at)) for end, at in cells]
    known = [(end, at) for end, at in read if end is not None and at is not None]
    ends, at_s = [end for end, _ in known], [at for _, at in known]

    def arrival(end: int) -> float | None:
        index = bisect.bisect_left(ends, end)
        return at_s[index] if index < len(at_s) else None

    return arrival if known else None

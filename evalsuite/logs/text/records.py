"""What one printer said in one line, and how its words and numbers are read: rates, ranks, dates."""

import calendar
import math
import re
from collections import deque
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from evalsuite.dialect import Dialect, Fields, Line
from evalsuite.logs.text.logfile import Chunk

ENOUGH_REPORTS = 8  # a sparse log needs one discarded and five measured reports; two are spare
HALF_DAY_S = 43_200
DAY_S = 86_400


class Record(NamedTuple):
    """One report as one printer printed it. Times are per report or per step, as their names say.

    A named tuple, because logs have many lines and few other things cost anything.
    """

    line: int
    end: int  # offset just after the line in the file, for the arrival time
    gap: bool = False  # evaluation, or another pause of training, since the record before
    rank: str | None = None
    epoch: int | None = None
    step: int | None = None  # as printed
    of: int | None = None
    interval: float | None = None
    since: float | None = None
    rate: float | None = None  # items per second, of whomever the dialect says
    steps_per_s: float | None = None
    step_s: float | None = None
    report_s: float | None = None
    mean_s: float | None = None
    elapsed_s: float | None = None
    items: float | None = None
    consumed: float | None = None
    loss: float | None = None
    stamp_s: float | None = None
    relayed: bool = False  # the stamp is not the script's: a relay wrote it when it passed the line on
    global_batch: float | None = None
    evaluated: bool = False  # an evaluation lies inside its time
    begins: bool = False  # no report: the time of the next one begins here
    parts: tuple[tuple[int, float], ...] = ()  # (steps, seconds) between the lines that were joined to this report


def place(record: Record) -> tuple[int, int] | None:
    """None where the line has no number."""
    if record.step is None and record.epoch is None:
        return None
    return (record.epoch or 0, record.step or 0)


def enough(found: list[Record], steps: int) -> bool:
    """Do they cover *steps* of one epoch, in enough reports for a log that prints rarely?"""
    first, last = found[0], found[-1]
    if first.step is None or last.step is None or first.epoch != last.epoch or last.step - first.step < steps:
        return False
    return len({record.step for record in found}) >= ENOUGH_REPORTS


def whole_match(match: "re.Match[bytes]", chunk: Chunk) -> bool:
    """False if the file ends inside one of its numbers, which may then lack digits."""
    if chunk.complete or match.end() < len(chunk.text):
        return True
    return all(match.end(group) < match.end() for group in range(1, match.re.groups + 1))


def count(text: bytes, dialect: Dialect) -> int:
    return sum(count_of(text, line) for line in dialect.step)


_THOUSANDS = re.compile(rb"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d*)?")


def number(value: bytes | float | None) -> float | None:
    """`b"5,868"` → 5868.0; None for what is no finite number, and for commas that group nothing."""
    if value is None or value is True or value is False:
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError, TypeError):
        grouped = isinstance(value, bytes) and _THOUSANDS.fullmatch(value)
        return number(value.replace(b",", b"")) if isinstance(value, bytes) and grouped else None
    return found if -math.inf < found < math.inf else None


def whole(value: bytes | float | None) -> int | None:
    if type(value) is bytes and value.isdigit() and len(value) < 16:
        return int(value)
    found = number(value)
    return None if found is None or abs(found) > 1e18 else int(found)


def positive(value: bytes | float | None) -> float | None:
    """If it can be a rate or a time: above zero (D01), and not absurdly large."""
    if value is None:
        return None
    found: float | None
    try:
        found = float(value)
    except (ValueError, OverflowError, TypeError):
        found = number(value)
    return found if found is not None and 1e-9 < found < 1e15 else None


def rate_of(fields: Fields) -> float | None:
    thousands = positive(fields.get("rate_k"))
    return 1000 * thousands if thousands is not None else positive(fields.get("rate"))


# who prints: the prefixes of launchers

# [1,3]<stdout>:…                 Open MPI --tag-output, horovodrun in MPI mode
# [3]<stdout>:…                   horovodrun with Gloo
# 3: …                            srun --label
# [rank3]:… [default3]:… [trainer3|3]:   torchrun --tee, PyTorch's own rank tag
_PRINTER = re.compile(
    rb"\[\d+,(?P<mpi>\d+)\]<std(?:out|err)>:?|\[(?P<gloo>\d+)\]<std(?:out|err)>:?"
    rb"|\[(?:rank|default|trainer|worker)[ _]?(?P<torch>\d+)(?:\|\d+)?\]:?|^\s*(?P<srun>\d+): "
)


def printer(lead: bytes) -> str | None:
    """The rank that a launcher wrote; the last one, where one line follows another's bar."""
    found = None
    for match in _PRINTER.finditer(lead):
        found = match
    return None if found is None else next(group for group in found.groups() if group is not None).decode()


# when it was printed

_DATE = rb"(?P<y>\d{4})[-/](?P<mo>\d\d)[-/](?P<d>\d\d)[ T]"
_CLOCK = rb"(?P<h>\d\d):(?P<mi>\d\d):(?P<s>\d\d(?:[.,]\d{1,9})?)"
# 2023-08-04 05:50:24.058929 · 2020-07-10 18:52:50,644 · 2023/07/28 07:14:48
_DATED = re.compile(_DATE + _CLOCK)
# I0917 12:01:18.520732: glog and absl, which print no year
_GLOG = re.compile(rb"\b[IWEF](?P<mo>\d\d)(?P<d>\d\d) " + _CLOCK)
# 16:38:39 alone: the day is not said
_TIME_OF_DAY = re.compile(rb"(?<![\d:])" + _CLOCK + rb"(?![\d:])")
_LEAP_YEAR = 2020  # any leap year serves where none is printed: only differences are used


# 2026-11-21T04:29:23.123456789Z …                       kubectl logs --timestamps, docker logs -t
# [pod/train-0/main] 2026-11-21T04:29:23.123456789Z …     kubectl logs --prefix --timestamps
# trainer-1  | 2026-11-21T04:29:23.123456789Z …           docker compose logs -t
# Nov 21 04:29:23.123456 node7 python[4711]: …           journalctl -o short-precise
# 2026-11-21T04:29:23.123456+00:00 node7 python[4711]: … journalctl -o short-iso-precise
RELAY = re.compile(
    rb"\s*(?:\d+: )?(?:\[pod/[^\]]*\] |[\w.-]+ +\| )?"
    rb"(?:\d{4}-\d\d-\d\dT[\d:]{8}(?:\.\d+)?Z "
    rb"|(?:[A-Z][a-z]{2} [ \d]\d [\d:]{8}(?:\.\d+)?|\d{4}-\d\d-\d\dT[\d:]{8}(?:\.\d+)?[+-]\d\d:?\d\d) \S+ \S+\[\d+\]: )"
)


def stamp_s(text: bytes) -> float | None:
    """The last date and time, as seconds of a fixed origin; None if there is none."""
    for pattern in (_DATED, _GLOG, _TIME_OF_DAY):
        found = deque(pattern.finditer(text), maxlen=1)
        if found:
            return _seconds_of(found[0].groupdict())
    return None


def _seconds_of(parts: Mapping[str, bytes]) -> float | None:
    month, day = int(parts.get("mo") or 1), int(parts.get("d") or 1)
    hour, minute = int(parts["h"]), int(parts["mi"])
    second = float(parts["s"].replace(b",", b"."))
    year = int(parts.get("y") or _LEAP_YEAR)
    if not (year >= 1970 and 1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second < 61):
        return None
    days = calendar.timegm((year, month, day, 0, 0, 0))
    return days + 3600 * hour + 60 * minute + second


def matches(text: bytes, lines: tuple[Line, ...]) -> Iterator[tuple["re.Match[bytes]", Line]]:
    """In order."""
    present = [line for line in lines if line.may_stand_in(text)]
    if not present:
        return
    if len(present) == 1:
        yield from ((match, present[0]) for match in present[0].compiled.finditer(text))
        return
    found = [(match, line) for line in present for match in line.compiled.finditer(text)]
    yield from sorted(found, key=lambda pair: pair[0].start())


def count_of(text: bytes, line: Line) -> int:
    if line.literal not in text:
        return 0
    if line.fields is None:
        return len(line.counting.findall(text))
    return sum(1 for match in line.compiled.finditer(text) if line.read(match) is not None)


# numbers that go on behind what a pattern takes of them: of `9,399.8` the pattern `[\d.]+` finds a 9

# more digits · ,399 · .5 but not .0 · _399 · e+03
_GOES_ON = re.compile(rb"[,_]?\d|\.(?!0+(?!\d))\d|[eE][+-]?\d")
_BEGINNINGS = frozenset(bytes([byte]) for byte in b"0123456789,_.eE")  # of what goes on
_NUMBER = re.compile(rb"[-+]?\d[\d.]*(?:[eE][+-]?\d+)?")
_TAILS = (b",399", b"_399", b".5", b"e+03")


def is_whole(match: "re.Match[bytes]", line: Line) -> bool:
    """False where a number of *match* goes on behind it."""
    text = match.string
    for group in _open_groups(line):
        end = match.end(group)
        more = end > 0 and text[end : end + 1] in _BEGINNINGS and _GOES_ON.match(text, end)
        if more and _NUMBER.fullmatch(match[group]):
            return False
    return True


_OPEN: dict[int, tuple[Line, tuple[int, ...]]] = {}  # by the identity of a line, which is kept so that it stays its own


def _open_groups(line: Line) -> tuple[int, ...]:
    """Behind which a number may go on unseen, as the sample tells."""
    known = _OPEN.get(id(line))
    if known is None:
        known = _OPEN[id(line)] = (line, tuple(_find_open_groups(line)))
    return known[1]


def _find_open_groups(line: Line) -> Iterator[int]:
    usual = line.compiled.search(line.sample)
    for group in range(1, line.compiled.groups + 1) if usual else ():
        if usual is None or usual[group] is None:
            yield group  # the sample does not tell
        elif not _NUMBER.fullmatch(usual[group]) or _GOES_ON.match(line.sample, usual.end(group)):
            continue  # no number, or one behind which the script itself prints more
        elif any(_is_unseen(line, usual, group, tail) for tail in _TAILS):
            yield group


def _is_unseen(line: Line, usual: "re.Match[bytes]", group: int, tail: bytes) -> bool:
    """Is the same found in the sample when the number goes on with *tail*?"""
    end = usual.end(group)
    found = line.compiled.search(line.sample[:end] + tail + line.sample[end:])
    return found is not None and found[group] == usual[group]

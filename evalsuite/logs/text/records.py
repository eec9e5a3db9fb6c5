"""The step lines of a log as records: the numbers, rank and time of one line of one process."""

import bisect
import calendar
import itertools
import math
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial, reduce
from pathlib import Path
from typing import Any, NamedTuple

from evalsuite.contracts.dialect import ANY_DIGIT, Dialect, Fields, Line
from evalsuite.core import files
from evalsuite.logs.text.logfile import Chunk

ENOUGH_REPORTS = 8  # a sparse log needs one discarded and five measured reports; two are spare
HALF_DAY_S = 43_200
DAY_S = 86_400
MOST_VALUES = 1 << 14
MOST_TEXTS, MOST_BEHIND = 40, 1000  # records whose text is kept, and bytes behind its match
GROUPING = rb"\xc2\xa0|\xe2\x80[\x89\x99\xaf]"  # between thousands: a blank that breaks no line, thin ones, ’
HOLE = b"\0"  # where a file system lost what was written: a number before it may lack digits


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
    return None if record.step is None and record.epoch is None else (record.epoch or 0, record.step or 0)


def find_places(records: Sequence[Record]) -> list[tuple[int, int]]:
    """Of each; what says neither stands one step behind the one before it."""
    behind = itertools.accumulate(map(place, records), lambda last, own: own or (last[0], last[1] + 1), initial=(0, 0))
    return list(behind)[1:]


# numbers

_THOUSANDS = re.compile(rb"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d*)?")


def number(value: bytes | float | None, above: float = -math.inf, below: float = math.inf) -> float | None:
    """`b"5,868"` → 5868.0; None for what is no number between the limits, and for commas that group nothing."""
    if value is None or value is True or value is False:
        return None
    try:
        read = float(value)
    except (ValueError, OverflowError, TypeError):
        if isinstance(value, bytes) and _THOUSANDS.fullmatch(value):
            return number(value.replace(b",", b""), above, below)
        return None
    return read if above < read < below else None


positive = partial(number, above=1e-9, below=1e15)
"""What can be a rate or a time: above zero (D01), and not absurdly large."""


def whole(value: bytes | float | None) -> int | None:
    if type(value) is bytes and value.isdigit() and len(value) < 16:
        return int(value)
    read = None if value is None else number(value)
    return None if read is None or abs(read) > 1e18 else int(read)


def clock_s(text: bytes) -> float:
    """`49:39` and `1:20:35` as seconds."""
    return float(reduce(lambda seconds, part: 60 * seconds + int(part), text.split(b":"), 0))


def rate_of(fields: Fields) -> float | None:
    thousands = positive(fields.get("rate_k"))
    return 1000 * thousands if thousands is not None else positive(fields.get("rate"))


# who prints: the prefixes of launchers (examples: logfile), and PyTorch's own rank tag

_PRINTER = re.compile(
    rb"\[\d+,(?P<mpi>\d+)\]<std(?:out|err)>:?|\[(?P<gloo>\d+)\]<std(?:out|err)>:?"
    rb"|\[(?:rank|default|trainer|worker)[ _:]?(?P<torch>\d+)(?:\|\d+)?\]:?|^\s*(?P<srun>\d+): "
)


def printer(lead: bytes) -> str | None:
    """The rank that a launcher wrote; the last one, where one line follows another's bar."""
    last = None
    for match in _PRINTER.finditer(lead):
        last = match
    return None if last is None else next(group for group in last.groups() if group is not None).decode()


# when it was printed

_DATE = rb"(?P<y>\d{4})[-/](?P<mo>\d\d)[-/](?P<d>\d\d)[ T:]"
_CLOCK = rb"(?P<h>\d\d):(?P<mi>\d\d):(?P<s>\d\d(?:[.,]\d{1,9})?)"
_STAMPS = (
    # 2023-08-04 05:50:24.058929 · 2020-07-10 18:52:50,644 · 2023/07/28 07:14:48
    re.compile(_DATE + _CLOCK),
    # I0917 12:01:18.520732: glog and absl, which print no year
    re.compile(rb"\b[IWEF](?P<mo>\d\d)(?P<d>\d\d) " + _CLOCK),
    # 16:38:39 without the day
    re.compile(rb"(?<![\d:])" + _CLOCK + rb"(?!:?\d)"),
    # 20250304_100424 · 2025_03_04_10_04_24 · 2025-03-04_10-04-24
    re.compile(
        rb"(?<!\d)(?P<y>20\d\d)[_-]?(?P<mo>\d\d)[_-]?(?P<d>\d\d)[_ T-]"
        rb"(?P<h>\d\d)[_-]?(?P<mi>\d\d)[_-]?(?P<s>\d\d)(?!\d)"
    ),
)
COMPACT = rb"20(?<!\d20)\d\d(?:[_-]?\d\d){2}[_ T-]\d\d(?:[_-]?\d\d){2}(?!\d)"
# eta: 20:50:49 · 1:02:03 left is what is not over: no clock
TO_COME = (
    rb"(?i:\b(?:eta|remaining|remain|left|total(?:[ _]time)?|expected|finish\w*)\b)\W{0,6}"
    rb"(?:\d+ ?days?,? )?[\d:]*:[\d:.]+|(?i:\beta\W{0,3}\d[\d.]*(?: ?[a-z]+)?)"
)
_COMES = re.compile(TO_COME)
_day_s = lru_cache(MOST_VALUES)(calendar.timegm)
_LEAP_YEAR = 2020  # any leap year serves where none is printed: only differences are used


# a relay's prefix (examples: logfile), also that of kubectl logs --timestamps and docker logs -t
RELAY = re.compile(
    rb"\s*(?:\d+: )?(?:\[pod/[^\]]*\] |[\w.-]+ +\| )?"
    rb"(?:\d{4}-\d\d-\d\dT[\d:]{8}(?:\.\d+)?Z "
    rb"|(?:[A-Z][a-z]{2} [ \d]\d [\d:]{8}(?:\.\d+)?|\d{4}-\d\d-\d\dT[\d:]{8}(?:\.\d+)?[+-]\d\d:?\d\d) \S+ \S+\[\d+\]: )"
)


def stamp_s(text: bytes) -> float | None:
    """The last date and time, as seconds of a fixed origin; None if there is none."""
    stamps = next((stamps for form in _STAMPS if (stamps := deque(form.finditer(text), maxlen=1))), None)
    if stamps is None:
        return None
    parts = stamps[0].groupdict()
    month, day = int(parts.get("mo") or 1), int(parts.get("d") or 1)
    hour, minute = int(parts["h"]), int(parts["mi"])
    second = float(parts["s"].replace(b",", b"."))
    year = int(parts.get("y") or _LEAP_YEAR)
    if not (year >= 1970 and 1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second < 61):
        return None
    return _day_s((year, month, day, 0, 0, 0)) + 3600 * hour + 60 * minute + second


# lines of a text


def matches(
    text: bytes, lines: tuple[Line, ...], unlike: bytes | None = None
) -> Iterator[tuple["re.Match[bytes]", Line]]:
    """*unlike*: the layouts of its lines."""
    has = (text if unlike is None else unlike).__contains__
    present = [line for line in lines if any(map(has, line.beginnings if unlike is None else line.begins))]
    pairs = [zip(line.compiled.finditer(text), itertools.repeat(line)) for line in present]  # a loop costs more
    return pairs[0] if len(pairs) == 1 else iter(sorted(itertools.chain(*pairs), key=lambda pair: pair[0].start()))


_OWN_DIGIT = re.compile(rb"(?<![{,])(?<!\\x)(?<!\\x[89])\d(?![,}])|\(\?P=")  # none of \d{1,3} or \x80


def count(text: bytes, lines: Iterable[Line], known: Counter[bytes] | None = None) -> int:
    """Of lines that differ in their digits alone one is looked at, where the pattern names no digit. *known*: them."""
    total = 0
    for line in lines:
        if line.literal not in text:
            continue
        if line.fields is not None and not line.sure:
            total += sum(1 for match in line.compiled.finditer(text) if line.read(match) is not None)
            continue
        layouts = (known or Counter(text.translate(ANY_DIGIT).split(b"\n"))) if _is_plain(line) else Counter[bytes]()
        if 2 * len(layouts) < layouts.total():
            total += sum(times * _count_in(layout, line) for layout, times in layouts.items())
        else:
            total += len(line.counting.findall(text))
    return total


@cache
def _is_plain(line: Line) -> bool:
    return b"\n" not in line.sample and not _OWN_DIGIT.search(line.pattern)


@lru_cache(maxsize=256)
def _count_in(text: bytes, line: Line) -> int:
    return len(line.counting.findall(b"\n%b\n" % text))


def whole_match(match: "re.Match[bytes]", chunk: Chunk) -> bool:
    """False if the file ends inside one of its numbers, which may then lack digits."""
    if chunk.complete or match.end() < len(chunk.text):
        return True
    return all(match.end(group) < match.end() for group in range(1, match.re.groups + 1))


# numbers that go on after what a pattern takes of them: of `9,399.8` the pattern `[\d.]+` finds a 9

# more digits · ,399 · .5 but not .0 · _399 · '399, of whatever apostrophe or narrow blank · e+03
_GOES_ON = re.compile(rb"(?:[,_']|%b)?\d|\.(?!0+(?!\d))\d|[eE][+-]?\d" % GROUPING)
_HAS_UNIT = re.compile(rb"%b|(?:[mun]s|\xc2\xb5s|\xce\xbcs|[kKMGmh]|min)\b" % _GOES_ON.pattern)  # or 100ms, 1.2k
_TAILS = {b"0123456789": b"399", b",": b",399", b"_": b"_399", b"'": b"'399", b".": b".5", b"eE": b"e+03"}
_BEGINNINGS = frozenset(bytes([byte]) for byte in b"".join((*_TAILS, b"munkKMGh\xc2\xce\xe2")))
_NUMBER = re.compile(rb"[-+]?\d[\d.]*(?:[eE][+-]?\d+)?")


def is_whole(match: "re.Match[bytes]", line: Line) -> bool:
    """False where a number of *match* goes on after it, or has a unit that its script does not print."""
    text = match.string
    for group, (_, goes_on) in open_groups(line).items():
        end = match.end(group)
        if text[end : end + 1] in _BEGINNINGS and goes_on.match(text, end) and _NUMBER.fullmatch(match[group]):
            return False
    return True


@cache
def open_groups(line: Line) -> Mapping[int, tuple[bytes, "re.Pattern[bytes]"]]:
    """Those of *line* after which a number may go on unseen, as its sample tells: with which bytes, and how."""
    usual = line.compiled.search(line.sample)
    unseen: dict[int, tuple[bytes, re.Pattern[bytes]]] = {}
    for group, said in enumerate(usual.groups() if usual else (), 1):
        end = usual.end(group) if usual else 0
        if said is not None and (not _NUMBER.fullmatch(said) or _HAS_UNIT.match(line.sample, end)):
            continue  # no number, or one after which the script itself prints more
        for begins, tail in (*_TAILS.items(), (b"", b"ms")):
            longer = line.compiled.search(line.sample[:end] + tail + line.sample[end:])
            if said is None or (longer and longer[group] == said):  # None: the sample does not tell
                seen = unseen.get(group, (b"",))[0] + begins
                unseen[group] = seen, _GOES_ON if begins or said is None else _HAS_UNIT
    return unseen


# a line → the fields of a record


def _scaled(factor: float, value: bytes | float | None) -> float | None:
    read = positive(value)
    return None if read is None else read * factor


# group → (field of the record, how its text becomes the value; fields differ in their types)
_FIELDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "epoch": ("epoch", whole),
    "step": ("step", whole),
    "of": ("of", whole),
    "interval": ("interval", positive),
    "since": ("since", number),
    "rank": ("rank", lambda value: value.decode("ascii", "replace") if isinstance(value, bytes) else str(value)),
    "begins": ("begins", bool),
    "evaluated": ("evaluated", bool),
    "rate": ("rate", positive),
    "rate_k": ("rate", partial(_scaled, 1e3)),
    "steps_per_s": ("steps_per_s", positive),
    "seconds": ("step_s", positive),
    "ms": ("step_s", partial(_scaled, 1e-3)),
    "us": ("step_s", partial(_scaled, 1e-6)),
    "report_s": ("report_s", positive),
    "report_ms": ("report_s", partial(_scaled, 1e-3)),
    "mean_s": ("mean_s", positive),
    "elapsed_s": ("elapsed_s", positive),
    "elapsed_ms": ("elapsed_s", partial(_scaled, 1e-3)),
    "items": ("items", positive),
    "consumed": ("consumed", number),
    "loss": ("loss", number),
    "stamp": ("stamp_s", stamp_s),
    "unix_s": ("stamp_s", number),
    "unix_ms": ("stamp_s", partial(_scaled, 1e-3)),
    "global_batch": ("global_batch", positive),
}


_OF_TEXT: Mapping[Any, Any] = {of: lru_cache(MOST_VALUES)(of) for of in (whole, positive)}  # numbers come again


@lru_cache(maxsize=256)
def _taken(said: Line | tuple[str, ...]) -> tuple[tuple[int, int, Callable[[Any], Any]], ...]:
    """Which groups of a line, or names that its `fields` give, become which field of a record, and how."""
    names, of_text = (said.groups, _OF_TEXT) if isinstance(said, Line) else (said, {})
    known = ((place, *_FIELDS[name]) for place, name in enumerate(names) if name in _FIELDS)
    return tuple((place, _PLACES[field], of_text.get(convert, convert)) for place, field, convert in known)


_PLACES = {name: place for place, name in enumerate(Record._fields)}
_NOTHING = list(Record(line=0, end=0))
_LINE, _END, _GAP = _PLACES["line"], _PLACES["end"], _PLACES["gap"]
_RANK, _STAMP, _RELAYED = _PLACES["rank"], _PLACES["stamp_s"], _PLACES["relayed"]


@dataclass
class Extractor:
    """Takes the records out of the chunks of one file, one after the other."""

    dialect: Dialect
    texts: list[tuple[Record, bytes]] = field(default_factory=list)  # of every fourth record
    paused: bool = False  # an evaluation line has been seen since the last record

    def extend(self, records: list[Record], chunk: Chunk, steps: int | None = None) -> int | None:
        """Appends those of *chunk* to *records*, until it holds *steps* of one epoch.

        What is no number (nan, None) is absent. Returns where in the chunk it has stopped, None at its end.
        """
        text, seen, line, holes = chunk.text, 0, chunk.first_line, HOLE in chunk.text
        pauses = deque(match.start() for match, _ in matches(text, self.dialect.evaluation))
        open_ends = {kind: b"".join(begins for begins, _ in open_groups(kind).values()) for kind in self.dialect.step}
        plain = {kind for kind, begins in open_ends.items() if not any(map(text.__contains__, begins))}
        unsure = {*self.dialect.step}  # of a chunk's first report is seen whether its numbers have units
        for match, kind in matches(text, self.dialect.step):
            if not chunk.complete and not whole_match(match, chunk):
                break
            if kind in unsure:
                if not is_whole(match, kind):
                    continue
                if kind in plain:
                    unsure.discard(kind)
            if holes and text.startswith(HOLE, match.end()):
                continue
            if kind.fields is None:
                said, taken = match.groups(), _taken(kind)
            elif (fields := kind.read(match)) is None:
                continue
            else:
                said, taken = tuple(fields.values()), _taken(tuple(fields))
            values = _NOTHING.copy()
            for at, name, convert in taken:
                if said[at] is not None:
                    values[name] = convert(said[at])
            start = match.start()
            line, seen = line + text.count(b"\n", seen, start), start
            while pauses and pauses[0] < start:
                pauses.popleft()
                self.paused = True
            values[_LINE], values[_GAP] = line, self.paused
            end = text.find(b"\n", match.end()) + 1 or len(text)
            values[_END] = chunk.raw_offset(end) if chunk.raw else chunk.offset + end
            self.paused = False
            begin = text.rfind(b"\n", 0, start) + 1
            lead = text[max(begin, text.rfind(b"\r", begin, start) + 1) : start] if begin < start else b""
            if lead and values[_RANK] is None and (b"[" in lead or b": " in lead):
                values[_RANK] = printer(lead)
            if lead and values[_STAMP] is None:
                lead = _COMES.sub(b"", lead) if b"eta" in lead or b"ETA" in lead or b"ema" in lead else lead
                relay = RELAY.match(lead)
                values[_STAMP] = stamp_s(lead[relay.end() :] if relay else lead)
                if relay and values[_STAMP] is None:
                    values[_STAMP], values[_RELAYED] = stamp_s(relay[0]), True
            record = tuple.__new__(Record, values)  # half of what Record(…) costs
            records.append(record)
            if not len(records) & 3 and len(self.texts) < MOST_TEXTS:
                self.texts.append((record, text[begin : min(match.end() + MOST_BEHIND, max(end, match.end()))]))
            first = records[0]
            if steps is None or first.step is None or record.step is None or first.epoch != record.epoch:
                continue
            if record.step - first.step >= steps and len({each.step for each in records}) >= ENOUGH_REPORTS:
                return match.end()
        self.paused = self.paused or bool(pauses)
        return None


# when the lines of a log arrived, as the agent noted them next to it

MOST_ARRIVAL_BYTES = 1 << 28  # ten million chunks
Arrival = Callable[[int], float | None]
"""When the byte before an offset of a log arrived."""


def read_arrivals(path: Path) -> Arrival | None:
    """By the first chunk that reaches as far as the offset. None: there is no record."""
    try:
        with files.unpacking(path) as file:
            rows = file.read(MOST_ARRIVAL_BYTES).splitlines()[1:]
    except files.NOT_UNPACKED:
        return None
    read = [(whole(end), number(at)) for end, at in (row.split(b",") for row in rows if row.count(b",") == 1)]
    known = [(end, at) for end, at in read if end is not None and at is not None]
    ends, at_s = [end for end, _ in known], [at for _, at in known]

    def arrival(end: int) -> float | None:
        index = bisect.bisect_left(ends, end)
        return at_s[index] if index < len(at_s) else None

    return arrival if known else None

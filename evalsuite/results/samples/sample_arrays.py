"""The samples of a host as arrays. Imported where a figure is computed: numpy loads slowly."""

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy
from numpy import bool_, float64, int64
from numpy.typing import NDArray

from evalsuite.core.model import by_key
from evalsuite.runs.columns import PackedTables
from evalsuite.runs.samples import Header, Samples, gpu_name

EXACT = 20_000  # summing more numbers exactly takes as long as all the rest
LARGEST_SUM = 2**62  # of whole numbers in an array
Floats = NDArray[float64]
Flags = NDArray[bool_]


@dataclass(frozen=True, kw_only=True)
class Readout:
    """One quantity of all devices of a host: a row a device, a place a reading."""

    of: tuple[str, ...]
    values: Floats  # where a place was not read, any number
    read: Flags | None  # None: all were

    def at(self, places: NDArray[int64]) -> "Readout":
        read = None if self.read is None else self.read[:, places]
        return Readout(of=self.of, values=self.values[:, places], read=read)

    def rows(self, places: Sequence[int]) -> "Readout":
        of = tuple(self.of[place] for place in places)
        return Readout(of=of, values=self.values[places], read=None if self.read is None else self.read[places])

    def where(self, places: Sequence[int], read: Flags | None) -> Floats:
        return self.values if read is None else self.values[numpy.ix_(numpy.array(places), read)]

    def plus(self, other: "Readout") -> "Readout":
        read = [flags for flags in (self.read, other.read) if flags is not None]
        return replace(self, values=self.values + other.values, read=numpy.logical_and.reduce(read) if read else None)

    def row(self, device: str) -> tuple[Floats, Flags] | None:
        if device not in self.of:
            return None
        place = self.of.index(device)
        every = numpy.ones(self.values.shape[1], dtype=bool)
        return self.values[place], every if self.read is None else self.read[place]


def table_of(samples: Samples, name: str) -> Readout | None:
    """The quantity called *name*; None where it was never read. Raises EvalsuiteError if it is damaged."""
    if isinstance(samples.tables, PackedTables) and (readout := _summed(samples.tables, name)):
        return readout
    rows = samples.tables.get(name)
    if rows is None:
        return None
    values = numpy.array(list(rows.values()), dtype=float)
    absent = numpy.isnan(values)
    return Readout(of=tuple(rows), values=numpy.where(absent, 0.0, values), read=~absent if absent.any() else None)


def _summed(tables: PackedTables, name: str) -> Readout | None:
    """The quantity from its steps, much faster than by lists; None where a reading is absent, odd or too large."""
    if (packed := tables.line(name)) is None:
        return None
    line, readings, scale = packed
    rows = [row.partition(b'":[') for row in line.strip()[2:-2].split(b'],"')]  # {"gpu0":[17,-1,0],"gpu1":[20,0,3]}
    if any(numbers.translate(None, b"0123456789-,") or numbers.count(b",") != readings - 1 for *_, numbers in rows):
        return None
    steps = numpy.fromstring(b",".join(numbers for *_, numbers in rows), dtype=int64, sep=",")
    most = LARGEST_SUM // (readings + 1)
    if steps.size != len(rows) * readings or not -most <= steps.min() <= steps.max() <= most:
        return None
    sums = steps.reshape(len(rows), readings).cumsum(axis=1)
    return Readout(of=tuple(device.decode() for device, *_ in rows), values=sums / scale, read=None)


def times_s(samples: Samples) -> Floats:
    readout = table_of(samples, "at_s")
    return numpy.zeros(0) if readout is None else readout.values[0]


@dataclass(frozen=True, kw_only=True)
class Readings:
    samples: Samples
    times_s: Floats
    places: NDArray[int64]  # of these readings in the file
    host: str | None = None  # None: the only one
    stride: int = 1  # every Nth reading of the file is here
    _known: dict[Hashable, "Spans"] = field(default_factory=dict, init=False, compare=False, repr=False)

    def spans(self, key: Hashable, made: Callable[[], "Spans"]) -> "Spans":
        """What *made* gives, made once for all that has the same *key*: quantities are mostly read together."""
        if key not in self._known:
            self._known[key] = made()
        return self._known[key]

    @property
    def header(self) -> Header:
        return self.samples.header

    @property
    def period_s(self) -> float:
        return self.stride / self.header.hz

    def table(self, name: str) -> Readout | None:
        readout = table_of(self.samples, name)
        return None if readout is None else readout.at(self.places)

    def some(self, chosen: slice) -> "Readings":
        return replace(
            self, times_s=self.times_s[chosen], places=self.places[chosen], stride=self.stride * (chosen.step or 1)
        )

    def near(self, begin_s: float, end_s: float) -> "Readings":
        first = max(0, int(numpy.searchsorted(self.times_s, begin_s, side="right")) - 1)
        last = int(numpy.searchsorted(self.times_s, end_s, side="left")) + 1
        return self.some(slice(first, last))


@dataclass(frozen=True, kw_only=True)
class DeviceSeries:
    """What rules see of the job's devices (`findings.DeviceReadings`): their readings from *begin_s* to *end_s*."""

    hosts: Sequence[Readings]
    begin_s: float
    end_s: float

    def each(self, quantity: str) -> Iterator[Floats]:
        for host in self.hosts:
            yield from self._of(
                host, quantity, [gpu_name(g.index) for g in host.header.gpus or () if g.of_job is not False]
            )

    def sent_bytes_per_s(self, *, ports: bool) -> float | None:
        sent = []
        for host in self.hosts:
            names = [name for name in host.header.interfaces or () if name != "lo" and ("/" in name) == ports]
            sent += [float(counts[-1] - counts[0]) for counts in self._of(host, "interfaces.sent_bytes", names)]
        return sum(sent) / (self.end_s - self.begin_s) if sent and len(self.hosts) > 1 else None

    def _of(self, host: Readings, quantity: str, names: Sequence[str]) -> Iterator[Floats]:
        table, inside = host.table(quantity), (host.times_s >= self.begin_s) & (host.times_s <= self.end_s)
        for row in (table.row(name) for name in names) if table else ():
            if row is not None and (values := row[0][row[1] & inside]).size:
                yield values


def on_one_clock(hosts: Mapping[str, Samples], clock: str | None) -> list[Readings]:
    """The readings of each host, brought to the clock of the host *clock* (None: the first).

    A reading that does not come after the one before it is left out (D21).
    """
    first = clock or next(iter(hosts), "")
    origin = _began(hosts[first].header) if first in hosts else None
    readings = []
    for host, samples in hosts.items():
        start = _began(samples.header)
        shift_s = start - origin if start is not None and origin is not None else 0.0
        at_s = times_s(samples)
        later = numpy.ones(len(at_s), dtype=bool)
        later[1:] = at_s[1:] > numpy.maximum.accumulate(at_s)[:-1]
        places = numpy.nonzero(later)[0]
        label = host if len(hosts) > 1 else None
        readings.append(Readings(samples=samples, times_s=at_s[places] + shift_s, places=places, host=label))
    return readings


def _began(header: Header) -> float | None:
    if header.started_at_unix_s is None:
        return None
    return header.started_at_unix_s - (header.clock_ahead_s or 0.0)


@dataclass(frozen=True, kw_only=True)
class Spans:
    begin_s: Floats
    end_s: Floats
    at_s: Floats  # when each was read: where it is drawn
    values: Callable[[Floats], Floats]
    _known: dict[int, float] = field(default_factory=dict, init=False, compare=False, repr=False)

    @cached_property
    def seconds(self) -> Floats:
        return self.end_s - self.begin_s

    def whole_s(self, devices: int = 1) -> float:
        if devices not in self._known:
            self._known[devices] = sum_of(numpy.tile(self.seconds, devices))
        return self._known[devices]

    def where(self, flags: Flags) -> "Spans":
        if flags.all():
            return self
        return Spans(
            begin_s=self.begin_s[flags],
            end_s=self.end_s[flags],
            at_s=self.at_s[flags],
            values=lambda readings: self.values(readings)[:, flags],
        )

    def inside(self, begin_s: float, end_s: float) -> "Spans":
        return replace(self, begin_s=numpy.maximum(self.begin_s, begin_s), end_s=numpy.minimum(self.end_s, end_s))


@dataclass(frozen=True, kw_only=True)
class Cells:
    spans: Spans
    values: Floats  # a row a device


def percent_of(values: Floats, wholes: Sequence[float]) -> Floats:
    of: Floats = numpy.array(wholes)[:, None]
    return 100.0 * values / of


def read_together(table: Readout) -> list[tuple[tuple[int, ...], Flags | None]]:
    """(rows, where they were read) for each group of devices of *table* that were read at the same times.

    None: always.
    """
    if table.read is None:
        return [(tuple(range(len(table.of))), None)]
    groups = by_key((flags.tobytes(), place) for place, flags in enumerate(table.read))
    return [(tuple(places), table.read[places[0]]) for places in groups.values()]


def since_before(times_s: Floats, read: Flags | None) -> Spans:
    """Values that hold for the time since the reading before; that of the first is unknown."""
    kept = slice(None) if read is None else read[1:]
    known = 1 if read is None or read[0] else 0
    begin_s, end_s = times_s[:-1][kept], times_s[1:][kept]
    return Spans(begin_s=begin_s, end_s=end_s, at_s=end_s, values=lambda readings: readings[:, known:])


def rates(times_s: Floats, period_s: float) -> Spans:
    """How fast a counter went from one reading to the next, per second.

    The agent's last reading is passed over where it follows hard on another: the counters' grain would make a peak.
    """
    hasty = len(times_s) > 2 and bool(times_s[-1] - times_s[-2] < period_s / 2)
    times_s = numpy.delete(times_s, -2) if hasty else times_s
    lasting_s = numpy.diff(times_s)

    def values(counts: Floats) -> Floats:
        counts = numpy.delete(counts, -2, axis=1) if hasty else counts
        return numpy.diff(counts, axis=1) / lasting_s

    return Spans(begin_s=times_s[:-1], end_s=times_s[1:], at_s=times_s[1:], values=values)


def gauge(times_s: Floats, reach_s: float, edges_s: tuple[float, float] | None) -> Spans:
    """Readings of an instant: each holds for the time around it, up to half-way to its neighbours.

    *reach_s* is the time from one reading to the next. Of *edges_s* (None: none) no reading outside counts.
    """
    held = None if edges_s is None else (times_s >= edges_s[0]) & (times_s <= edges_s[1])
    times_s = times_s if held is None else times_s[held]
    half = numpy.minimum(numpy.diff(times_s) / 2, 0.75 * reach_s)
    begin_s, end_s = times_s - reach_s, times_s + reach_s
    begin_s[1:] = times_s[1:] - half
    end_s[:-1] = times_s[:-1] + half

    def values(readings: Floats) -> Floats:
        return readings if held is None else readings[:, held]

    return Spans(begin_s=begin_s, end_s=end_s, at_s=times_s, values=values)


Part = tuple[Cells, Flags | None]  # cells, and which of their values count; None: all


def together(parts: Sequence[Part]) -> Cells:
    if len(parts) == 1:
        return _alone(*parts[0])
    counts = [(cells.spans, *_counted(cells, flags)) for cells, flags in parts]
    devices = sum(cells.values.shape[0] for cells, _ in parts)
    edges, places = numpy.unique(
        numpy.concatenate([edge for spans, _, _ in counts for edge in (spans.begin_s, spans.end_s)]),
        return_inverse=True,
    )
    change = numpy.concatenate([each for _, known, _ in counts for each in (known, -known)]).astype(float)
    rise = numpy.concatenate([each for _, _, sums in counts for each in (sums, -sums)])
    held = numpy.cumsum(numpy.rint(numpy.bincount(places, change, len(edges))))[:-1]
    total = numpy.cumsum(numpy.bincount(places, rise, len(edges)).astype(numpy.longdouble))[:-1].astype(float)
    total[abs(total) < 1e-12 * max(abs(total).max(initial=0.0), 1e-300)] = 0.0  # what cancelling leaves of a zero
    first = counts[0][0]
    read_s = first.at_s[numpy.clip(numpy.searchsorted(first.begin_s, edges[:-1], side="right") - 1, 0, None)]
    spans = Spans(
        begin_s=edges[:-1],
        end_s=edges[1:],
        at_s=numpy.clip(read_s, edges[:-1], edges[1:]),
        values=lambda readings: readings,
    )
    return _where(Cells(spans=spans, values=numpy.maximum(total, 0.0)[None, :]), held == devices)


def _alone(cells: Cells, flags: Flags | None) -> Cells:
    known, sums = _counted(cells, flags)
    summed = Cells(spans=cells.spans, values=sums[None, :])
    return summed if flags is None else _where(summed, known == cells.values.shape[0])


def _counted(cells: Cells, flags: Flags | None) -> tuple[NDArray[int64], Floats]:
    if flags is None:
        devices, instants = cells.values.shape
        return numpy.full(instants, devices), cells.values.sum(axis=0)
    return flags.sum(axis=0), (cells.values * flags).sum(axis=0)


def _where(cells: Cells, flags: Flags) -> Cells:
    return cells if flags.all() else Cells(spans=cells.spans.where(flags), values=cells.values[:, flags])


def flat(parts: Sequence[Part]) -> tuple[Floats, Floats]:
    flattened = [_flat(*part) for part in parts]
    values, seconds = [each for each, _ in flattened], [each for _, each in flattened]
    return numpy.concatenate(values or [numpy.zeros(0)]), numpy.concatenate(seconds or [numpy.zeros(0)])


def _flat(cells: Cells, flags: Flags | None) -> tuple[Floats, Floats]:
    seconds = numpy.broadcast_to(cells.spans.seconds, cells.values.shape)
    return (cells.values.ravel(), seconds.ravel()) if flags is None else (cells.values[flags], seconds[flags])


def lasting_s(parts: Sequence[Part], seconds: Floats) -> float:
    """The sum of *seconds*, those of all devices of *parts* that count: known already where all do on one host."""
    (cells, flags), *others = parts
    return sum_of(seconds) if others or flags is not None else cells.spans.whole_s(len(cells.values))


def percentiles(values: Floats, seconds: Floats, whole_s: float, shares: Sequence[float]) -> list[float]:
    """For each of *shares* the smallest of *values* below which the resource was for that share of the time.

    *whole_s* is the sum of *seconds*.
    """
    order = values.argsort(kind="stable")
    passed_s = seconds[order].cumsum()
    places = passed_s.searchsorted([share * whole_s for share in shares], side="left")
    return [float(values[order[min(place, len(order) - 1)]]) for place in places]


def means(cells: Cells, sound: Flags | None) -> list[float]:
    """Of each device that was measured the mean of its *sound* values, each with the weight of its seconds."""
    seconds = cells.spans.seconds
    if sound is None:
        whole_s = cells.spans.whole_s()
        return [sum_of(row) / whole_s for row in cells.values * seconds] if seconds.size else []
    rows = ((values[flags], seconds[flags]) for values, flags in zip(cells.values, sound, strict=True))
    return [sum_of(values * each) / sum_of(each) for values, each in rows if each.size]


def sum_of(numbers: Floats) -> float:
    """Exact to the last digit of a few thousand *numbers*, whatever the machine; of more, nearly so."""
    return math.fsum(numbers.tolist()) if numbers.size < EXACT else float(numbers.sum())

"""The samples of a host as arrays. Imported where a figure is computed: numpy loads slowly."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import NamedTuple

import numpy
from numpy import bool_, float64, int64
from numpy.typing import NDArray

from evalsuite.core import findings as rules
from evalsuite.core.model import Finding, by_key
from evalsuite.runs.columns import PackedTables
from evalsuite.runs.samples import Header, Samples, gpu_name

EXACT, FEW = 20_000, 4_000  # summing more numbers exactly takes as long as all the rest; fewer, number by number
FEW_HOSTS = 4  # of which all quantities fit into memory at once
SOME, NEAR = 10_000, 0.01  # values that show about where a percentile is; how near, in shares of them
READ_AT_ONCE = 32  # quantities: those of one host, of which several are asked for again
GPU_USE = "gpus.utilisation_percent"
LARGEST_SUM = 2**62  # of whole numbers in an array
END = b",%d," % LARGEST_SUM  # of a row
Floats = NDArray[float64]
Places = slice | NDArray[bool_]  # in a row


class Readout(NamedTuple):
    """One quantity of all devices of a host: a row a device, a place a reading; NaN where it was not read."""

    of: tuple[str, ...]
    values: Floats

    def row(self, device: str) -> Floats | None:
        return self.values[self.of.index(device)] if device in self.of else None


def table_of(samples: Samples, name: str, others: tuple[str, ...] = ()) -> Readout | None:
    """The quantity called *name*; None where it was never read. Raises EvalsuiteError if it is damaged. *others* are
    read with it, where they will be asked for too."""
    if name not in samples.tables:
        return None
    for names in (others, (name,)) if isinstance(samples.tables, PackedTables) else ():
        if readout := _summed(samples.tables, names).get(name):
            return readout
    rows = samples.tables[name]
    return Readout(of=tuple(rows), values=numpy.array(list(rows.values()), dtype=float))


@lru_cache(maxsize=READ_AT_ONCE)
def _summed(tables: PackedTables, names: tuple[str, ...]) -> dict[str, Readout]:
    """Quantities from their steps, much faster than by lists; without one of which a reading is absent or odd."""
    found, every, readings = [], [], 0
    for name in names:
        if (packed := tables.line(name)) is None:
            continue
        line, readings, scale = packed
        _, *parts = line.strip().split(b'"')  # {"gpu0":[17,-1,0],"gpu1":[20,0,3]}
        numbers = b"".join(row[2:-2] + END for row in parts[1::2])
        if not numbers or numbers.translate(None, b"0123456789-,"):
            continue
        found.append((name, tuple(device.decode() for device in parts[::2]), scale))
        every.append(numbers)
    try:
        steps = numpy.fromstring(b"".join(every), dtype=int64, sep=",")
    except ValueError:  # a place without a number
        return {}
    most, ends = LARGEST_SUM // (readings + 1), [*accumulate(len(of) for _, of, _ in found)]
    if not found or steps.size != ends[-1] * (readings + 1) or (steps[readings :: readings + 1] != LARGEST_SUM).any():
        return {}
    steps = steps.reshape(ends[-1], readings + 1)[:, :-1]
    sums, sure = steps.cumsum(axis=1), -most <= steps.min() <= steps.max() <= most
    ended = zip(found, ends, strict=True) if sure else ()
    return {name: Readout(of=of, values=sums[end - len(of) : end] / scale) for (name, of, scale), end in ended}


@dataclass(frozen=True, kw_only=True)
class Readings:
    samples: Samples
    times_s: Floats
    places: range | NDArray[int64]  # of these readings in the file
    others: tuple[str, ...] = ()  # quantities that are read with the first

    @property
    def header(self) -> Header:
        return self.samples.header

    def table(self, name: str) -> Readout | None:
        readout = table_of(self.samples, name, self.others)
        return None if readout is None else Readout(readout.of, readout.values[:, _places(self.places)])

    def near(self, begin_s: float, end_s: float) -> "Readings":
        first = max(0, int(numpy.searchsorted(self.times_s, begin_s, side="right")) - 1)
        last = int(numpy.searchsorted(self.times_s, end_s, side="left")) + 1
        return replace(self, times_s=self.times_s[first:last], places=self.places[first:last])


@dataclass(frozen=True, kw_only=True)
class DeviceSeries:
    """The readings of the job's devices from *begin_s* to *end_s*."""

    hosts: Sequence[Readings]
    begin_s: float
    end_s: float

    def findings(self) -> Iterator[Finding]:
        """Clocks are held back, by nvml.h, nvmlClocksEventReason…, by the hardware (8), by heat (32, 64) or by a brake
        on power (128). A busy device reaches its power cap (4): no finding."""
        named = ((host, name) for host in self.hosts for name in host.header.interfaces or () if name != "lo")
        each = ((name, self._of(host, "interfaces.sent_bytes", [name])) for host, name in named)
        sent = by_key(("/" in name, float(counts[-1] - counts[0])) for name, rows in each for counts in rows)
        ports, others = (sum(sent.get(of, ())) / (self.end_s - self.begin_s) for of in (True, False))
        busy, idle = len(self.hosts) > 1 and any(True for _ in self._each(GPU_USE)), rules.InfinibandIdle
        if True in sent and busy and others > idle.least_bytes_per_s and ports < others * idle.limit:
            yield idle(infiniband=ports, ethernet=others, unit="bytes/s")
        slowed, fewest = 8 | 32 | 64 | 128, 5
        read = (readings for readings in self._each("gpus.clock_limits") if len(readings) >= fewest)
        shares = [sum(int(bits) & slowed != 0 for bits in of) / len(of) for of in read]
        if held := [share for share in shares if share > rules.ClocksHeldBack.limit]:
            yield rules.ClocksHeldBack(devices=len(held), of=len(shares), share=max(held))
        driver = sum(int(counts[-1]) for counts in self._each("gpus.driver_errors"))
        memory = sum(int(counts[-1] - counts[0]) for counts in self._each("gpus.memory_errors_uncorrected"))
        if driver or memory > 0:
            yield rules.DeviceErrors(driver=driver, memory=max(0, memory))

    def _each(self, quantity: str) -> Iterator[Floats]:
        for host in self.hosts:
            names = [gpu_name(gpu.index) for gpu in host.header.gpus or () if gpu.of_job is not False]
            yield from self._of(host, quantity, names)

    def _of(self, host: Readings, quantity: str, names: Sequence[str]) -> Iterator[Floats]:
        table = host.table(quantity) if names else None
        inside = (host.times_s >= self.begin_s) & (host.times_s <= self.end_s)
        for row in (table.row(name) for name in names) if table else ():
            if row is not None and (values := row[inside & ~numpy.isnan(row)]).size:
                yield values


def on_one_clock(hosts: Mapping[str, Samples]) -> list[Readings]:
    """The readings of each host, brought to the clock of the first. A reading that does not come after the one before
    it is left out."""
    origin = next((samples.header.started_at_unix_s for samples in hosts.values()), None)
    readings = []
    for samples in hosts.values():
        start = samples.header.started_at_unix_s
        shift_s = start - origin if start is not None and origin is not None else 0.0
        others = tuple(samples.tables) if len(hosts) <= FEW_HOSTS else ()
        at_s = readout.values[0] if (readout := table_of(samples, "at_s", others)) else numpy.zeros(0)
        later = numpy.ones(len(at_s), dtype=bool)
        later[1:] = at_s[1:] > numpy.maximum.accumulate(at_s)[:-1]
        places = range(len(at_s)) if later.all() else numpy.nonzero(later)[0]
        on_clock = at_s[_places(places)] + shift_s
        readings.append(Readings(samples=samples, times_s=on_clock, places=places, others=others))
    return readings


def _places(places: range | NDArray[int64]) -> slice | NDArray[int64]:
    """To take them of an array: by a slice without a copy."""
    return slice(places.start, places.stop, places.step) if isinstance(places, range) else places


@dataclass(frozen=True, kw_only=True)
class Cells:
    """Values of devices that were read at the same times, each with the time that it holds for."""

    begin_s: Floats
    end_s: Floats
    values: Floats  # a row a device; NaN where a value does not count

    @cached_property
    def seconds(self) -> Floats:
        return self.end_s - self.begin_s

    @cached_property
    def known(self) -> NDArray[bool_]:
        return ~numpy.isnan(self.values)

    def inside(self, begin_s: float, end_s: float) -> "Cells":
        begin, end = numpy.maximum(self.begin_s, begin_s), numpy.minimum(self.end_s, end_s)
        kept = slice(None) if (longer := end > begin).all() else longer
        return Cells(begin_s=begin[kept], end_s=end[kept], values=self.values[:, kept])


def read_together(kinds: Sequence[str], rows: Sequence[Floats]) -> Iterator[tuple[str, list[int], Floats, Places]]:
    """(kind, places, rows, where they were read) for the *rows* of each of *kinds* that were read at the same times."""
    every = numpy.array(rows)
    read = ~numpy.isnan(every)
    whole = bool(read.all())  # mostly
    asked = (((kind, whole or flags.tobytes()), at) for at, (kind, flags) in enumerate(zip(kinds, read, strict=True)))
    for (kind, _), places in by_key(asked).items():
        yield kind, places, every[places], slice(None) if whole else read[places[0]]


def possible(
    values: Floats, *, wholes: Sequence[float | None], limits: Sequence[float], most: Sequence[float]
) -> tuple[Floats, list[int]]:
    """*values*, in percent of *wholes* where these are known, with NaN for what cannot be, and how many those are of
    each row; what is above *most* is that."""
    if any(whole is not None for whole in wholes):
        shares = numpy.array([[100.0, whole] if whole is not None else [1.0, 1.0] for whole in wholes])
        values = shares[:, :1] * values / shares[:, 1:]
    if values.min() >= 0 and values.max() <= min(*limits, *most):
        return values, [0] * len(values)
    impossible = (values < 0) | (values > numpy.array(limits)[:, None])
    values = numpy.minimum(values, numpy.array(most)[:, None])
    rejected = impossible.sum(axis=1).tolist()
    return numpy.where(impossible, numpy.nan, values) if any(rejected) else values, rejected


def rates(times_s: Floats, counts: Floats, period_s: float) -> Cells:
    """How fast a counter went from one reading to the next, per second. The agent's last reading is passed over where
    it follows hard on another: the counters' grain would make a peak."""
    if len(times_s) > 2 and times_s[-1] - times_s[-2] < period_s / 2:
        times_s, counts = numpy.delete(times_s, -2), numpy.delete(counts, -2, axis=1)
    values = numpy.diff(counts, axis=1) / numpy.diff(times_s)
    return Cells(begin_s=times_s[:-1], end_s=times_s[1:], values=values)


def gauge(times_s: Floats, rows: Floats, reach_s: float, edges_s: tuple[float, float]) -> Cells:
    """Readings of an instant within *edges_s*: each holds for the time around it, up to half-way to its neighbours.
    *reach_s* is the time from one reading to the next."""
    held = slice(times_s.searchsorted(edges_s[0], side="left"), times_s.searchsorted(edges_s[1], side="right"))
    times_s = times_s[held]
    half = numpy.minimum(numpy.diff(times_s) / 2, 0.75 * reach_s)
    begin_s, end_s = times_s - reach_s, times_s + reach_s
    begin_s[1:] = times_s[1:] - half
    end_s[:-1] = times_s[:-1] + half
    return Cells(begin_s=begin_s, end_s=end_s, values=rows[:, held])


def together(parts: Sequence[Cells]) -> Cells:
    """The sum of all devices at each instant at which all were read."""
    if len(parts) == 1:
        return _known(parts[0].begin_s, parts[0].end_s, parts[0].values.sum(axis=0))
    ends = numpy.concatenate([edge for cells in parts for edge in (cells.begin_s, cells.end_s)])
    edges, places = _edges(ends.tobytes())
    absent = [numpy.isnan(cells.values) for cells in parts]
    known = [len(flags) - flags.sum(axis=0) for flags in absent]
    sums = [numpy.where(flags, 0.0, cells.values).sum(axis=0) for cells, flags in zip(parts, absent, strict=True)]
    change = numpy.concatenate([each for counts in known for each in (counts, -counts)]).astype(float)
    rise = numpy.concatenate([each for values in sums for each in (values, -values)])
    held = numpy.cumsum(numpy.rint(numpy.bincount(places, change, len(edges))))[:-1]
    total = numpy.cumsum(numpy.bincount(places, rise, len(edges)).astype(numpy.longdouble))[:-1].astype(float)
    total[abs(total) < 1e-12 * max(abs(total).max(initial=0.0), 1e-300)] = 0.0  # what cancelling leaves of a zero
    values = numpy.where(held == sum(map(len, absent)), numpy.maximum(total, 0.0), numpy.nan)
    return _known(edges[:-1], edges[1:], values)


@lru_cache(maxsize=1)  # mostly those of the resource before: they are read at the same times
def _edges(ends: bytes) -> tuple[Floats, NDArray[int64]]:
    return numpy.unique(numpy.frombuffer(ends), return_inverse=True)


def _known(begin_s: Floats, end_s: Floats, values: Floats) -> Cells:
    known = ~numpy.isnan(values)
    return Cells(begin_s=begin_s[known], end_s=end_s[known], values=values[known][None, :])


def flat(parts: Sequence[Cells]) -> tuple[Floats, Floats, float]:
    """The values that count, the seconds for which each holds, and the sum of these."""
    values = numpy.concatenate([cells.values.ravel() for cells in parts])
    seconds = numpy.concatenate([each for cells in parts for each in [cells.seconds] * len(cells.values)])
    if not all(cells.known.all() for cells in parts):
        known = ~numpy.isnan(values)
        values, seconds = values[known], seconds[known]
    return values, seconds, sum_of(seconds)


def percentiles(values: Floats, seconds: Floats, whole_s: float, shares: Sequence[float]) -> list[float]:
    """For each of *shares* the smallest of *values* below which the resource was for that part of *whole_s*, the sum of
    *seconds*."""
    untils = [share * whole_s for share in shares]
    if values.size < EXACT:
        return _at(values, seconds, untils)
    # those near it alone are put in order, which is a quarter of the work
    some = values[:: values.size // SOME]
    limits = numpy.quantile(some, [(max(0.0, share - NEAR), min(1.0, share + NEAR)) for share in shares])
    return [_near(values, seconds, until_s, *each) for until_s, each in zip(untils, limits, strict=True)]


def _near(values: Floats, seconds: Floats, until_s: float, least: float, most: float) -> float:
    near, before_s = (values >= least) & (values <= most), float(seconds[values < least].sum())
    if before_s < until_s <= before_s + float(seconds[near].sum()):
        if least == most:
            return float(least)  # as all of them
        values, seconds, until_s = values[near], seconds[near], until_s - before_s
    return _at(values, seconds, [until_s])[0]


def _at(values: Floats, seconds: Floats, untils_s: Sequence[float]) -> list[float]:
    order = values.argsort()
    places = seconds[order].cumsum().searchsorted(untils_s, side="left")
    return [float(values[order[min(int(place), len(order) - 1)]]) for place in places]


def growth(times_s: Floats, counts: Floats | None, begin_s: float, end_s: float) -> float | None:
    """Of a counter, from one time to the other; None where it was not read then, or went back."""
    if counts is None:
        return None
    known = ~numpy.isnan(counts)
    times_s, counts = times_s[known], counts[known]
    within = counts[(times_s >= begin_s) & (times_s <= end_s)]
    if times_s.size < 2 or not times_s[0] <= begin_s <= end_s <= times_s[-1] or (within[1:] < within[:-1]).any():
        return None
    before, after = numpy.interp([begin_s, end_s], times_s, counts)
    return float(after - before)


def means(cells: Cells) -> list[float]:
    """Of each device that was measured the mean of its values, each with the weight of its seconds."""
    known = cells.known
    if known.all() and cells.seconds.size:  # mostly: then the weights are of all devices
        whole_s = sum_of(cells.seconds)
        return [total / whole_s for total in _sums_of(cells.values * cells.seconds)]
    rows = ((values[flags], cells.seconds[flags]) for values, flags in zip(cells.values, known, strict=True))
    return [sum_of(values * each) / sum_of(each) for values, each in rows if each.size]


def _sums_of(rows: Floats) -> list[float]:
    """Of each row, as `sum_of`: of leading parts of all numbers, so short that no sum of them is rounded, then of what
    is left (AccSum: Rump, Ogita & Oishi, SIAM J. Sci. Comput. 31, 2008)."""
    if (length := rows.shape[1]) >= EXACT:
        return [*map(float, rows.sum(axis=1))]
    if rows.size < FEW:
        return [*map(math.fsum, rows.tolist())]
    sums: list[list[float]] = []
    while most := float(abs(rows).max()):
        above = math.ldexp(1.0, math.frexp(most)[1] + (length + 1).bit_length())
        leading = (rows + above) - above
        sums.append(leading.sum(axis=1).tolist())
        rows = rows - leading
    return [*map(math.fsum, zip(*sums, strict=True))] or [0.0] * len(rows)


def sum_of(numbers: Floats) -> float:
    """Exact to the last digit of a few thousand *numbers*, whatever the machine; of more, nearly so."""
    return math.fsum(numbers.tolist()) if numbers.size < EXACT else float(numbers.sum())

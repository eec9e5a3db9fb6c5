"""What a model expects at planned scales that were not measured; none of it enters a ranking or a verdict.

Devices ÷ throughput grows by the same amount with every doubling of the devices, as the latency of a tree all-reduce
does (Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, §4). The slope is the least-squares one and never below 0; the
line passes through the largest measured scale.

It was validated on published series: given the scales up to N/2, N/4, …, what is the throughput at N?
(`data/extrapolation.csv`, tools/validate_extrapolation.py.) Each source has one vote; the interval of its predictions
comes from the other sources, widened until it holds nine tenths. Unchecked distances and strong scaling are refused.
"""

import csv
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from evalsuite import paths
from evalsuite.decode import number
from evalsuite.model import Case, Interval, Summary, Unmeasured
from evalsuite.results.measure import facts
from evalsuite.results.measure.summary import valid

FEWEST_SCALES = 3
FEWEST_FAR_SCALES = 4  # beyond twice the largest measured scale, and the step from one node to several among them
FEWEST_SERIES = 10  # published ones that an interval rests on; with fewer its ends are those of one or two systems
FEWEST_SOURCES = 4  # of those series: each is judged by the others
COVERAGE = 0.9
WIDEST = 500  # hundredths: an interval that needs more than five times its width says nothing
BATCH_TOLERANCE = 0.01
MEASURED = ("measured", "imported")
VALIDATION = paths.DATA / "extrapolation.csv"

Points = Sequence[tuple[int, float]]
"""(devices, items/s) by devices."""


@dataclass(frozen=True, kw_only=True)
class Validation:
    doublings: int  # the distance is up to 2 ** doublings times the largest scale that was given
    series: int  # each was predicted once
    sources: int
    median_error: float  # of |published ÷ predicted - 1|, one vote a source
    low: float  # of published ÷ predicted; never narrower than at a shorter distance
    high: float
    covered: float  # share of the votes inside the interval that the other sources give, 0..1


@dataclass(frozen=True, kw_only=True)
class Forecast:
    case: Case
    items_per_s: Interval
    efficiency: Interval
    distance: float  # devices of the case ÷ devices of the largest measured scale
    validation: Validation


@dataclass(frozen=True, kw_only=True)
class Refusal:
    case: Case
    reason: str  # "too_few", "falls", "strong", "too_few_for_far", "no_crossing" or "too_far"
    values: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Outlook:
    measured: tuple[Summary, ...]  # by devices
    base: Summary
    forecasts: tuple[Forecast, ...]  # by devices
    refusals: tuple[Refusal, ...]

    @property
    def largest(self) -> Summary:
        return self.measured[-1]

    def expected(self, devices: int) -> tuple[float, Validation]:
        """(Items/s at *devices*, the validation at that distance). KeyError where the distance was not validated."""
        points = _points(self.measured)
        validation = validations()[_doublings(devices / points[-1][0])]
        return predicted(points, devices), validation


def predicted(points: Points, devices: int) -> float:
    last, rate = points[-1]
    slope = max(0.0, _slope([(math.log2(count), count / value) for count, value in points]))
    return devices / (last / rate + slope * math.log2(devices / last))


def offered(points: Points, *, crosses: bool, doublings: int) -> bool:
    """Whether the model is used at this distance on these scales (docs/report.md#extrapolation).

    *crosses*: among them are one on a single node and one on several.
    """
    return _lacking(points) is None and _lacking_for_far(points, crosses, doublings) is None


def _lacking(points: Points) -> str | None:
    if len(points) < FEWEST_SCALES:
        return "too_few"
    return "falls" if points[-1][1] < points[-2][1] else None


def _lacking_for_far(points: Points, crosses: bool, doublings: int) -> str | None:
    if doublings <= 1:
        return None
    if len(points) < FEWEST_FAR_SCALES:
        return "too_few_for_far"
    return None if crosses else "no_crossing"


def outlooks(summaries: Iterable[Summary | Unmeasured], planned: Iterable[Case]) -> tuple[Outlook, ...]:
    wanted: dict[str, list[Case]] = {}
    for case in planned:
        wanted.setdefault(case.series, []).append(case)
    found = []
    for members in _series(summaries):
        last = members[-1].case.total_devices
        beyond = sorted(
            (case for case in wanted.get(members[0].case.series, ()) if case.total_devices > last),
            key=lambda case: (case.total_devices, case.nodes),
        )
        if beyond:
            found.append(_outlook(members, beyond))
    return tuple(found)


def _series(summaries: Iterable[Summary | Unmeasured]) -> list[list[Summary]]:
    groups: dict[str, dict[tuple[str, str], list[Summary]]] = {}
    for one in valid(summaries):
        if one.base and one.origin in MEASURED:
            parts = groups.setdefault(one.case.series, {})
            parts.setdefault((one.base.id, one.unit), []).append(one)
    longest = (max(parts.values(), key=len) for parts in groups.values())
    return [sorted(members, key=lambda one: (one.case.total_devices, one.case.nodes)) for members in longest]


def _outlook(members: Sequence[Summary], beyond: Sequence[Case]) -> Outlook:
    base = next(one for one in members if one.case == one.base)
    outlook = Outlook(measured=tuple(members), base=base, forecasts=(), refusals=())
    points = _points(members)
    lacking = "strong" if _strong(members) else _lacking(points)
    if lacking:
        return replace(outlook, refusals=(_refused(beyond[-1], lacking, members, points),))
    reasons = [(case, _too_far_for(case, members, points)) for case in beyond]
    furthest = {reason: case for case, reason in reasons if reason}  # one line for each reason
    return replace(
        outlook,
        forecasts=tuple(_forecast(outlook, case) for case, reason in reasons if reason is None),
        refusals=tuple(_refused(case, reason, members, points) for reason, case in furthest.items()),
    )


def _too_far_for(case: Case, members: Sequence[Summary], points: Points) -> str | None:
    doublings = _doublings(case.total_devices / points[-1][0])
    if doublings not in validations():
        return "too_far"
    nodes = {one.case.nodes for one in members}
    return _lacking_for_far(points, min(nodes) == 1 < max(nodes), doublings)


def _strong(members: Sequence[Summary]) -> tuple[str, ...] | None:
    if kept := members[0].case.strong_batch:
        fewest, most = str(members[0].case.total_devices), str(members[-1].case.total_devices)
        return (str(kept), fewest, str(kept), most)
    found = [
        (one.case.total_devices, facts.of_measurement(run).get("global_batch"))
        for one in members
        for run in one.measurements
    ]
    stated = [
        (devices, batch, fact.value)
        for devices, fact in found
        if fact and fact.source != "case" and (batch := number(fact.value)) is not None
    ]
    if not stated:
        return None
    (devices, batch, first), (more, larger, last) = stated[0], stated[-1]
    grown = (larger / more) / (batch / devices) if batch else math.inf
    return None if abs(grown - 1) <= BATCH_TOLERANCE else (first, str(devices), last, str(more))


def _points(members: Sequence[Summary]) -> list[tuple[int, float]]:
    best: dict[int, float] = {}
    for one in members:
        devices = one.case.total_devices
        best[devices] = max(one.items_per_s.value, best.get(devices, 0.0))
    return sorted(best.items())


def _forecast(outlook: Outlook, case: Case) -> Forecast:
    devices = case.total_devices
    rate, validation = outlook.expected(devices)
    ideal = outlook.base.items_per_s.value * devices / outlook.base.case.total_devices
    low, high = rate * validation.low, rate * validation.high
    return Forecast(
        case=case,
        items_per_s=Interval(value=rate, low=low, high=high, coverage=COVERAGE),
        efficiency=Interval(value=rate / ideal, low=low / ideal, high=high / ideal, coverage=COVERAGE),
        distance=devices / outlook.largest.case.total_devices,
        validation=validation,
    )


def _refused(case: Case, reason: str, members: Sequence[Summary], points: Points) -> Refusal:
    return Refusal(case=case, reason=reason, values=_values(case, reason, members, points))


def _values(case: Case, reason: str, members: Sequence[Summary], points: Points) -> tuple[tuple[str, str], ...]:
    if reason == "strong":
        return tuple(zip(("batch", "devices", "larger", "more"), _strong(members) or (), strict=True))
    if reason == "falls":
        (before, faster), (last, rate) = points[-2:]
        return (("before", str(before)), ("last", str(last)), ("faster", f"{faster:,.2f}"), ("rate", f"{rate:,.2f}"))
    if reason == "too_few":
        return (("n", str(len(points))), ("needed", str(FEWEST_SCALES)))
    distance = ("distance", f"{case.total_devices / points[-1][0]:.3g}")
    if reason == "too_few_for_far":
        return (distance, ("n", str(len(points))), ("needed", str(FEWEST_FAR_SCALES)))
    if reason == "no_crossing":
        return (distance,)
    reach = 2 ** max(validations(), default=0)
    return (distance, ("reach", str(reach)), ("series", str(FEWEST_SERIES)), ("sources", str(FEWEST_SOURCES)))


def _doublings(distance: float) -> int:
    return math.ceil(math.log2(distance) - 1e-9)


def _slope(points: Sequence[tuple[float, float]]) -> float:
    middle_x = statistics.fmean(x for x, _ in points)
    middle_y = statistics.fmean(y for _, y in points)
    spread = math.fsum((x - middle_x) ** 2 for x, _ in points)
    return math.fsum((x - middle_x) * (y - middle_y) for x, y in points) / spread


# how far off the model was


@dataclass(frozen=True, kw_only=True)
class PublishedSeries:
    name: str
    source: str
    batches: frozenset[str | None]  # per device; None where unknown
    points: tuple[tuple[int, float], ...]  # (devices, throughput) by devices
    nodes: Mapping[int, int]  # devices → nodes

    @property
    def is_weak(self) -> bool:
        return len(self.batches) == 1 and None not in self.batches


@dataclass(frozen=True, kw_only=True)
class Trial:
    series: str
    source: str
    doublings: int
    scales: int  # how many were given to the model
    measured_to: int  # devices of the largest of them
    target: int
    published_to_predicted: float


def trials(series: PublishedSeries) -> Iterable[Trial]:
    if not series.is_weak:
        return
    target, published = series.points[-1]
    for doublings in range(1, _doublings(target) + 1):
        points = [point for point in series.points if point[0] * 2**doublings <= target]
        nodes = {series.nodes[devices] for devices, _ in points}
        crosses = bool(nodes) and min(nodes) == 1 < max(nodes)
        if not offered(points, crosses=crosses, doublings=doublings):
            continue
        if _doublings(target / points[-1][0]) == doublings:
            yield Trial(
                series=series.name,
                source=series.source,
                doublings=doublings,
                scales=len(points),
                measured_to=points[-1][0],
                target=target,
                published_to_predicted=published / predicted(points, target),
            )


Ratios = Mapping[str, Sequence[float]]
"""Source → published ÷ predicted of its series. All of them together are one vote of the source."""


@cache
def validations(path: Path = VALIDATION) -> Mapping[int, Validation]:
    found: dict[int, Validation] = {}
    for doublings in range(1, 64):
        ratios: dict[str, list[float]] = {}
        for row in _rows(path):
            if int(row["doublings"]) == doublings:
                ratios.setdefault(row["source"], []).append(float(row["published_to_predicted"]))
        one = validation(doublings, ratios, found.get(doublings - 1))
        if one is None:
            break
        found[doublings] = one
    return found


def validation(doublings: int, ratios: Ratios, nearer: Validation | None = None) -> Validation | None:
    """None where the series or sources are too few, or no interval of a useful width covers the sources."""
    series = sum(map(len, ratios.values()))
    if series < FEWEST_SERIES or len(ratios) < FEWEST_SOURCES:
        return None
    for hundredths in range(100, WIDEST + 1):
        covered = _covered_out_of_sample(ratios, hundredths / 100)
        if covered >= COVERAGE:
            low, high = _interval(ratios, hundredths / 100)
            errors = {source: [abs(ratio - 1) for ratio in found] for source, found in ratios.items()}
            return Validation(
                doublings=doublings,
                series=series,
                sources=len(ratios),
                median_error=_percentile(errors, 0.5),
                low=min(low, nearer.low) if nearer else low,
                high=max(high, nearer.high) if nearer else high,
                covered=covered,
            )
    return None


def _covered_out_of_sample(ratios: Ratios, width: float) -> float:
    shares = []
    for source, found in ratios.items():
        low, high = _interval({other: ratios[other] for other in ratios if other != source}, width)
        shares.append(sum(low <= ratio <= high for ratio in found) / len(found))
    return statistics.fmean(shares)


def _interval(ratios: Ratios, width: float) -> tuple[float, float]:
    """As far down as up by ratio: the distance from 1 that nine tenths of the votes keep, *width* times as long."""
    distances = {source: [abs(math.log(ratio)) for ratio in found] for source, found in ratios.items()}
    reach = math.exp(width * _percentile(distances, COVERAGE))
    return 1 / reach, reach


def _percentile(values: Ratios, share: float) -> float:
    votes = sorted((value, 1 / len(found) / len(values)) for found in values.values() for value in found)
    total = 0.0
    for value, vote in votes:
        total += vote
        if total >= share - 1e-9:
            return value
    return votes[-1][0]


@cache
def sources(path: Path = VALIDATION) -> tuple[str, ...]:
    """Where the published series are: repositories, those with most predictions first."""
    rows = [row["source"] for row in _rows(path)]
    return tuple(sorted(set(rows), key=lambda source: (-rows.count(source), source)))


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))

"""What a model expects at planned scales that were not measured; no number of it enters a ranking or a verdict.

The model: devices ÷ throughput, the time of one item on one device, grows by the same amount with every doubling of
the devices, as the latency term of a tree all-reduce does (Thakur, Rabenseifner, Gropp, "Optimization of Collective
Communication Operations in MPICH", IJHPCA 19(1), 2005, §4: log2(p) times the latency). The slope is the least-squares
one over all measured scales and never below 0; the line passes through the largest measured scale.

How far off it is was found on published scaling series, by leaving out the larger scales of each and predicting them:
`data/extrapolation.csv`, written by tools/validate_extrapolation.py. The prediction interval is the 5th to the 95th
percentile of published ÷ predicted at the same distance; beyond the distances that were validated nothing is offered.
"""

import csv
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from evalsuite import paths
from evalsuite.model import Case, Interval, Summary, Unmeasured
from evalsuite.results.statistics import nearest_rank
from evalsuite.results.summary import valid

FEWEST_SCALES = 3
FEWEST_SERIES = 10  # published ones behind an interval; with fewer its ends are those of one or two systems
LOW, HIGH = 5, 95  # percentiles
COVERAGE = (HIGH - LOW) / 100
MEASURED = ("measured", "imported")
VALIDATION = paths.DATA / "extrapolation.csv"

Points = Sequence[tuple[int, float]]
"""(devices, items/s) by devices."""


@dataclass(frozen=True, kw_only=True)
class Validation:
    """How far off the model was on published series, at one distance."""

    doublings: int  # the distance is up to 2 ** doublings times the largest scale that was given
    series: int
    predictions: int
    median_error: float  # of |published ÷ predicted - 1|
    low: float  # percentiles of published ÷ predicted; never narrower than at a shorter distance
    high: float


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What the model expects of one case that was not measured."""

    case: Case
    items_per_s: Interval
    efficiency: Interval
    distance: float  # devices of the case ÷ devices of the largest measured scale
    validation: Validation


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Why nothing is offered for a planned scale."""

    case: Case
    reason: str  # "too_few", "falls" or "too_far"
    values: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """One series with planned scales beyond the largest measured one."""

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
    """Items/s that the model expects at *devices*; two points at least."""
    last, rate = points[-1]
    slope = max(0.0, _slope([(math.log2(count), count / value) for count, value in points]))
    return devices / (last / rate + slope * math.log2(devices / last))


def offered(points: Points) -> bool:
    """Three scales, and no fall at the last step (docs/report.md#extrapolation)."""
    return len(points) >= FEWEST_SCALES and points[-1][1] >= points[-2][1]


def outlooks(summaries: Iterable[Summary | Unmeasured], planned: Iterable[Case]) -> tuple[Outlook, ...]:
    """One for each measured series that was planned further than it was measured, in the order of *summaries*."""
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
    """Measured summaries of one series and one base by devices; of a split series (D15) the longest part."""
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
    if not offered(points):
        return replace(outlook, refusals=(_refused(beyond[-1], points),))
    known, last = validations(), points[-1][0]
    near = [case for case in beyond if _doublings(case.total_devices / last) in known]
    far = [case for case in beyond if case not in near]
    forecasts = tuple(_forecast(outlook, case) for case in near)
    refusals = (_too_far(far[-1], last),) if far else ()
    return replace(outlook, forecasts=forecasts, refusals=refusals)


def _points(members: Sequence[Summary]) -> list[tuple[int, float]]:
    """The fastest of the cases with the same number of devices: 1×8 and 2×4 are one scale."""
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


def _refused(case: Case, points: Points) -> Refusal:
    if len(points) < FEWEST_SCALES:
        counted = (("n", str(len(points))), ("needed", str(FEWEST_SCALES)))
        return Refusal(case=case, reason="too_few", values=counted)
    (before, slower_than), (last, rate) = points[-2:]
    values = (("before", str(before)), ("last", str(last)), ("faster", f"{slower_than:,.2f}"), ("rate", f"{rate:,.2f}"))
    return Refusal(case=case, reason="falls", values=values)


def _too_far(case: Case, last: int) -> Refusal:
    reach = 2 ** max(validations(), default=0)
    values = (("distance", f"{case.total_devices / last:.3g}"), ("reach", str(reach)), ("series", str(FEWEST_SERIES)))
    return Refusal(case=case, reason="too_far", values=values)


def _doublings(distance: float) -> int:
    """The distance in doublings, rounded up: 3 times as many devices are judged like 4 times."""
    return math.ceil(math.log2(distance) - 1e-9)


def _slope(points: Sequence[tuple[float, float]]) -> float:
    """Least squares."""
    middle_x = statistics.fmean(x for x, _ in points)
    middle_y = statistics.fmean(y for _, y in points)
    spread = math.fsum((x - middle_x) ** 2 for x, _ in points)
    return math.fsum((x - middle_x) * (y - middle_y) for x, y in points) / spread


# how far off the model was


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One scale of a published series, predicted from its smaller ones."""

    series: str
    source: str
    scales: int  # how many were given to the model
    measured_to: int  # devices of the largest of them
    target: int
    published_to_predicted: float


def trials(series: str, source: str, points: Points) -> Iterable[Trial]:
    """Every scale of *points* predicted from every beginning of the series that the model would be offered for."""
    for given in range(FEWEST_SCALES, len(points)):
        if not offered(points[:given]):
            continue
        for target, published in points[given:]:
            yield Trial(
                series=series,
                source=source,
                scales=given,
                measured_to=points[given - 1][0],
                target=target,
                published_to_predicted=published / predicted(points[:given], target),
            )


@cache
def validations(path: Path = VALIDATION) -> Mapping[int, Validation]:
    """By distance in doublings, as far as there are enough series."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(line for line in file if not line.startswith("#"))]
    found: dict[int, Validation] = {}
    for doublings in range(1, 64):
        at = [row for row in rows if _doublings(int(row["target"]) / int(row["measured_to"])) == doublings]
        if len({row["series"] for row in at}) < FEWEST_SERIES:
            break
        nearer = found.get(doublings - 1)
        found[doublings] = _validation(doublings, at, nearer)
    return found


def _validation(doublings: int, rows: Sequence[Mapping[str, str]], nearer: Validation | None) -> Validation:
    ratios = [float(row["published_to_predicted"]) for row in rows]
    low, high = nearest_rank(ratios, LOW), nearest_rank(ratios, HIGH)
    return Validation(
        doublings=doublings,
        series=len({row["series"] for row in rows}),
        predictions=len(ratios),
        median_error=statistics.median(abs(ratio - 1) for ratio in ratios),
        low=min(low, nearer.low) if nearer else low,
        high=max(high, nearer.high) if nearer else high,
    )


@cache
def sources(path: Path = VALIDATION) -> tuple[str, ...]:
    """Where the published series stand: repositories, those with most predictions first."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row["source"] for row in csv.DictReader(line for line in file if not line.startswith("#"))]
    return tuple(sorted(set(rows), key=lambda source: (-rows.count(source), source)))

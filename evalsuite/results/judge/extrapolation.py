"""What a model expects at planned scales that were not measured; none of it enters a ranking or a verdict.

Devices ÷ throughput grows by the same amount with every doubling of the devices, as the latency of a tree all-reduce
does (Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, §4). The slope is the least-squares one and never below 0; the
line passes through the largest measured scale.

It was validated on published series: given the scales up to N/2, N/4, …, what is the throughput at N?
(`data/extrapolation.csv`, tools/validate_extrapolation.py.) The intervals are conformal (Vovk, Gammerman, Shafer, 2005)
over sources, of one vote each: an error counts in units of the series' own doubt, the error with which its largest
given scale follows from those before. What no ten sources carry, and strong scaling, is refused.
"""

import math
import statistics
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from evalsuite.core import paths
from evalsuite.core.decode import number
from evalsuite.core.model import Case, Interval, Row, Summary, by_key
from evalsuite.results.measure import facts
from evalsuite.results.measure.summary import valid

FEWEST_SCALES = 3
FEWEST_FAR_SCALES = 4  # beyond twice the largest measured scale
FEWEST_SOURCES = 10  # of published series: with fewer, nine tenths of them is all of them
COVERAGE = 0.9
LEAST_DOUBT = 0.03  # of a series that follows its law exactly; from 0.02 to 0.05 the coverage is the same
WIDEST = 2.0  # times as much: a wider interval says nothing
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
    width: float  # of log(published ÷ predicted), in doubts of the series; never less than at a shorter distance
    high: float  # of published ÷ predicted at the median doubt; the interval reaches as far down
    inside: float  # share of the series inside the interval that the other sources give, 0..1
    covered: float  # the same with one vote a source

    @property
    def low(self) -> float:
        return 1 / self.high

    def reach(self, points: "Points") -> float:
        """By what factor the throughput may be more, or less, than predicted from *points*."""
        return math.exp(self.width * (LEAST_DOUBT + own_error(points)))


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


def predicted(points: Points, devices: int) -> float:
    last, rate = points[-1]
    doublings, each_s = zip(*((math.log2(count), count / value) for count, value in points), strict=True)
    slope = max(0.0, statistics.linear_regression(doublings, each_s).slope)
    return devices / (last / rate + slope * math.log2(devices / last))


def own_error(points: Points) -> float:
    """How far the largest of three scales or more lies from what those before it predict, by logarithm."""
    devices, rate = points[-1]
    return abs(math.log(rate / predicted(points[:-1], devices)))


def lacking(points: Points) -> str | None:
    """Why the model is not used on these scales (docs/report.md#extrapolation)."""
    if len(points) < FEWEST_SCALES:
        return "too_few"
    return "falls" if points[-1][1] < points[-2][1] else None


def lacking_for(points: Points, nodes: Collection[int], to_nodes: int, doublings: int) -> str | None:
    if doublings > 1 and len(points) < FEWEST_FAR_SCALES:
        return "too_few_for_far"
    crossed = min(nodes) == 1 < max(nodes)
    return "no_crossing" if not crossed and (max(nodes) == 1 < to_nodes or doublings > 1) else None


def outlooks(
    summaries: Iterable[Row], planned: Iterable[Case], origins: Collection[str] = MEASURED
) -> tuple[Outlook, ...]:
    wanted = by_key((case.series, case) for case in planned)
    forecasts = []
    for members in longest_series(summaries, origins):
        last = members[-1].case.total_devices
        beyond = sorted(
            (case for case in wanted.get(members[0].case.series, ()) if case.total_devices > last),
            key=lambda case: (case.total_devices, case.nodes),
        )
        if beyond:
            forecasts.append(_outlook(members, beyond))
    return tuple(forecasts)


def longest_series(summaries: Iterable[Row], origins: Collection[str] = MEASURED) -> list[list[Summary]]:
    """The scales of each series, by devices; of parts that are not comparable the one of most scales."""
    groups: dict[str, dict[tuple[str, str], list[Summary]]] = {}
    for row in valid(summaries):
        if row.base and row.origin in origins:
            parts = groups.setdefault(row.case.series, {})
            parts.setdefault((row.base.id, row.unit), []).append(row)
    longest = (max(parts.values(), key=len) for parts in groups.values())
    return [sorted(members, key=lambda member: (member.case.total_devices, member.case.nodes)) for members in longest]


def _outlook(members: Sequence[Summary], beyond: Sequence[Case]) -> Outlook:
    base = next(member for member in members if member.case == member.base)
    points = _points(members)
    if refusal := _refuse_series(beyond[-1], members, points):
        return Outlook(measured=tuple(members), base=base, forecasts=(), refusals=(refusal,))
    reasons = [(case, _refuse(case, members, points)) for case in beyond]
    furthest = {refusal.reason: refusal for _, refusal in reasons if refusal}  # one line for each reason
    return Outlook(
        measured=tuple(members),
        base=base,
        forecasts=tuple(_forecast(case, base, points) for case, refusal in reasons if refusal is None),
        refusals=tuple(furthest.values()),
    )


def _refuse_series(case: Case, members: Sequence[Summary], points: Points) -> Refusal | None:
    if strong := _strong(members):
        named = zip(("batch", "devices", "larger", "more"), strong, strict=True)
        return Refusal(case=case, reason="strong", values=tuple(named))
    reason = lacking(points)
    if reason == "falls":
        (before, faster), (last, rate) = points[-2:]
        named_steps = (
            ("before", f"{before}"),
            ("last", f"{last}"),
            ("faster", f"{faster:,.2f}"),
            ("rate", f"{rate:,.2f}"),
        )
        return Refusal(case=case, reason=reason, values=named_steps)
    return Refusal(case=case, reason=reason, values=_few(points, FEWEST_SCALES)) if reason else None


def _refuse(case: Case, members: Sequence[Summary], points: Points) -> Refusal | None:
    times = case.total_devices / points[-1][0]
    doublings, distance = count_doublings(times), ("distance", f"{times:.3g}")
    if doublings not in validations():
        reach = str(2 ** max(validations(), default=0))
        return Refusal(
            case=case, reason="too_far", values=(distance, ("reach", reach), ("sources", str(FEWEST_SOURCES)))
        )
    reason = lacking_for(points, {member.case.nodes for member in members}, case.nodes, doublings)
    more = _few(points, FEWEST_FAR_SCALES) if reason == "too_few_for_far" else ()
    return Refusal(case=case, reason=reason, values=(distance, *more)) if reason else None


def _few(points: Points, needed: int) -> tuple[tuple[str, str], ...]:
    return (("n", str(len(points))), ("needed", str(needed)))


def _forecast(case: Case, base: Summary, points: Points) -> Forecast:
    devices, largest = case.total_devices, points[-1][0]
    validation = validations()[count_doublings(devices / largest)]
    rate, reach = predicted(points, devices), validation.reach(points)
    ideal = base.items_per_s.value * devices / base.case.total_devices
    rates, shares = (
        Interval(value=value, low=value / reach, high=value * reach, coverage=COVERAGE)
        for value in (rate, rate / ideal)
    )
    return Forecast(case=case, items_per_s=rates, efficiency=shares, distance=devices / largest, validation=validation)


def _strong(members: Sequence[Summary]) -> tuple[str, ...] | None:
    if kept := members[0].case.strong_batch:
        fewest, most = str(members[0].case.total_devices), str(members[-1].case.total_devices)
        return (str(kept), fewest, str(kept), most)
    points = [
        (member.case.total_devices, facts.of_measurement(run).get("global_batch"))
        for member in members
        for run in member.measurements
    ]
    stated = [
        (devices, batch, fact.value)
        for devices, fact in points
        if fact and fact.source != "case" and (batch := number(fact.value)) is not None
    ]
    if not stated:
        return None
    (devices, batch, first), (more, larger, last) = stated[0], stated[-1]
    grown = (larger / more) / (batch / devices) if batch else math.inf
    return None if abs(grown - 1) <= BATCH_TOLERANCE else (first, str(devices), last, str(more))


def _points(members: Sequence[Summary]) -> list[tuple[int, float]]:
    best: dict[int, float] = {}
    for member in members:
        devices = member.case.total_devices
        best[devices] = max(member.items_per_s.value, best.get(devices, 0.0))
    return sorted(best.items())


def count_doublings(distance: float) -> int:
    return math.ceil(math.log2(distance) - 1e-9)


# how far off the model was


Votes = Mapping[str, Sequence[float]]
"""Source → a number of each of its series. All of them together are one vote of the source."""
Errors = Mapping[str, Sequence[tuple[float, float]]]
"""Source → (published ÷ predicted, the own error of the scales given) of each series."""


@cache
def validations(path: Path = VALIDATION) -> Mapping[int, Validation]:
    validated: dict[int, Validation] = {}
    for doublings in range(1, 64):
        rows = (row for row in paths.read_rows(path) if int(row["doublings"]) == doublings)
        errors = by_key(
            (row["source"], (float(row["published_to_predicted"]), float(row["own_error"]))) for row in rows
        )
        last = validation(doublings, errors, validated.get(doublings - 1))
        if last is None:
            break
        validated[doublings] = last
    return validated


def validation(doublings: int, errors: Errors, nearer: Validation | None = None) -> Validation | None:
    """None where the sources are too few, or no interval of a useful width covers them."""
    if len(errors) < FEWEST_SOURCES:
        return None
    scores = _of_each(errors, lambda ratio, own: abs(math.log(ratio)) / (LEAST_DOUBT + own))
    width = max(_width(scores), nearer.width if nearer else 0.0)
    high = math.exp(width * (LEAST_DOUBT + _percentile(_of_each(errors, lambda _, own: own), 0.5)))
    if high > WIDEST:
        return None
    inside = {source: [score <= _width(_without(scores, source)) for score in own] for source, own in scores.items()}
    return Validation(
        doublings=doublings,
        series=sum(map(len, errors.values())),
        sources=len(errors),
        median_error=_percentile(_of_each(errors, lambda ratio, _: abs(ratio - 1)), 0.5),
        width=width,
        high=high,
        inside=statistics.fmean(share for shares in inside.values() for share in shares),
        covered=statistics.fmean(statistics.fmean(shares) for shares in inside.values()),
    )


def _of_each(errors: Errors, number: Callable[[float, float], float]) -> dict[str, list[float]]:
    return {source: [number(*error) for error in errors_of] for source, errors_of in errors.items()}


def _width(scores: Votes) -> float:
    """What holds nine tenths of the votes, and nine tenths of each source's where it is made of the others."""
    others = {source: _percentile(_without(scores, source), COVERAGE) for source in scores}
    needed = {source: [score / others[source] for score in own] for source, own in scores.items()}
    return max(1.0, _percentile(needed, COVERAGE)) * _percentile(scores, COVERAGE)


def _without(scores: Votes, source: str) -> Votes:
    return {other: own for other, own in scores.items() if other != source}


def _percentile(values: Votes, share: float) -> float:
    votes = sorted((value, 1 / len(own) / len(values)) for own in values.values() for value in own)
    total = 0.0
    for value, vote in votes:
        total += vote
        if total >= share - 1e-9:
            return value
    return votes[-1][0]


@cache
def sources(path: Path = VALIDATION) -> tuple[str, ...]:
    rows = [row["source"] for row in paths.read_rows(path)]
    return tuple(sorted(set(rows), key=lambda source: (-rows.count(source), source)))

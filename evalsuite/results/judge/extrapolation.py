"""What a model expects at scales that were not measured; none of it enters a ranking or a verdict. Devices ÷ throughput
grows by the same amount with every doubling of the devices, as the latency of a tree all-reduce does (Thakur,
Rabenseifner, Gropp, IJHPCA 19(1), 2005, §4). The slope is the least-squares one and never below 0; the line passes
through the largest measured scale. Its errors: tools/validate_extrapolation.py, docs/numbers.md."""

import math
import statistics
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from evalsuite.core.model import Case, Interval, Row, Summary, by_key
from evalsuite.results.compare import fairness
from evalsuite.results.measure.summary import valid

FEWEST_SCALES = 3
FARTHEST = 2.0  # times the largest measured scale: beyond it too few published series carry an interval
COVERAGE = 0.9
LEAST_DOUBT = 0.03  # of a series that follows its law exactly; from 0.02 to 0.05 the coverage is the same
WIDTH = 1.757  # of log(published ÷ predicted), in doubts of the series: holds nine tenths of those published
MEASURED = ("measured", "imported")
HARDLY_REACHED = 1.1  # efficiency: an interval that goes beyond is said to

Points = Sequence[tuple[int, float]]  # (devices, items/s) by devices


@dataclass(frozen=True, kw_only=True)
class Forecast:
    case: Case
    items_per_s: Interval
    efficiency: Interval
    distance: float  # devices of the case ÷ devices of the largest measured scale


@dataclass(frozen=True, kw_only=True)
class Refusal:
    case: Case
    reason: str  # "strong", "no_node", "too_few", "falls", "too_far" or "no_crossing"
    values: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Outlook:
    largest: Summary  # that was measured
    base: Summary
    forecasts: tuple[Forecast, ...]  # by devices
    refusals: tuple[Refusal, ...]  # the furthest scale of each reason


def predicted(points: Points, devices: int) -> float:
    last, rate = points[-1]
    doublings, each_s = zip(*((math.log2(count), count / value) for count, value in points), strict=True)
    slope = max(0.0, statistics.linear_regression(doublings, each_s).slope)
    return devices / (last / rate + slope * math.log2(devices / last))


def doubt(points: Points) -> float:
    """How far the largest scale lies from what those before it predict, by logarithm, and the least doubt."""
    devices, rate = points[-1]
    return LEAST_DOUBT + abs(math.log(rate / predicted(points[:-1], devices)))


def lacking(points: Points, nodes: Collection[int], to_nodes: int) -> str | None:
    """Why the model is not used from these scales, on so many *nodes*, to one of *to_nodes*."""
    if len(points) < FEWEST_SCALES:
        return "too_few"
    if points[-1][1] < points[-2][1]:
        return "falls"
    return "no_crossing" if max(nodes) == 1 < to_nodes else None


def outlooks(summaries: Iterable[Row], planned: Iterable[Case]) -> tuple[Outlook, ...]:
    """Of each series its parts that are comparable, the one of most scales, with what is planned beyond them."""
    wanted = by_key((case.series, case) for case in planned)
    own = (row for row in valid(summaries) if row.origin in MEASURED)
    parts = by_key(((row.case.series, row.base.id, row.unit), row) for row in own if row.base)
    longest: dict[str, list[Summary]] = {}
    for (series, *_), rows in parts.items():
        longest[series] = max(longest.get(series, []), rows, key=len)
    found = (_outlook(rows, wanted.get(series, ())) for series, rows in longest.items())
    return tuple(outlook for outlook in found if outlook)


def _outlook(members: Sequence[Summary], asked: Iterable[Case]) -> Outlook | None:
    largest = max(members, key=lambda row: (row.case.total_devices, row.case.nodes))
    farther = (case for case in asked if case.total_devices > largest.case.total_devices)
    if not (beyond := sorted(farther, key=lambda case: (case.total_devices, case.nodes))):
        return None
    base = next(member for member in members if member.case == member.base)
    rates = by_key((member.case.total_devices, member.items_per_s.value) for member in members)
    points = sorted((devices, max(each)) for devices, each in rates.items())
    refused = {case: _refuse(case, members, points) for case in beyond}
    forecasts = tuple(_forecast(case, base, points) for case in beyond if refused[case] is None)
    refusals = {refusal.reason: refusal for refusal in refused.values() if refusal}
    return Outlook(largest=largest, base=base, forecasts=forecasts, refusals=(*refusals.values(),))


def _refuse(case: Case, members: Sequence[Summary], points: Points) -> Refusal | None:
    (before, faster), (last, rate) = [*points, *points][-2:]
    distance, machines = f"{case.total_devices / last:.3g}", (m for row in members for m in fairness.machines(row))
    of_node = [sum(count for _, count in node.accelerators) for machine in machines for node in machine.nodes]
    of_node += [row.case.devices_per_node for row in members if row.case.nodes > 1]  # a node has as many at least
    reason = "strong" if case.strong_batch else lacking(points, {row.case.nodes for row in members}, case.nodes)
    if case.devices_per_node > max(of_node, default=0) > 0:
        reason = "no_node"
    if case.total_devices > FARTHEST * last and reason in (None, "no_crossing"):
        reason = "too_far"
    values = {
        "strong": {"batch": str(case.strong_batch)},
        "no_node": {"devices": str(max(of_node, default=0)), "asked": str(case.devices_per_node)},
        "too_few": {"n": str(len(points)), "needed": str(FEWEST_SCALES)},
        "falls": {"before": f"{before}", "last": f"{last}", "faster": f"{faster:,.2f}", "rate": f"{rate:,.2f}"},
        "too_far": {"distance": distance, "reach": f"{FARTHEST:g}"},
        "no_crossing": {"distance": distance},
    }
    return Refusal(case=case, reason=reason, values=tuple(values[reason].items())) if reason else None


def _forecast(case: Case, base: Summary, points: Points) -> Forecast:
    rate, reach = predicted(points, case.total_devices), math.exp(WIDTH * doubt(points))
    ideal = base.items_per_s.value * case.total_devices / base.case.total_devices
    both = (rate, rate / ideal)
    rates, shares = (Interval(value=v, low=v / reach, high=v * reach, coverage=COVERAGE) for v in both)
    return Forecast(case=case, items_per_s=rates, efficiency=shares, distance=case.total_devices / points[-1][0])

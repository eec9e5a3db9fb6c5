"""Where the efficiency of each series goes, and its first step whose own, a doubling, is below the threshold."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise

from evalsuite.core.model import Summary, by_key
from evalsuite.results.compare import fairness
from evalsuite.results.compare.scaling import suspicious

Break = tuple[Summary, Summary]  # the scales before and after
# a stage, or a phase of the step ("rest": what no timer says), and its share of the throughput of ideal scaling
Loss = tuple[str, float]


@dataclass(frozen=True, kw_only=True)
class Ladder:
    scales: tuple[Summary, ...]  # of one series, the smallest first
    broken: Break | None

    @property
    def last(self) -> Summary:
        return self.scales[-1]

    @property
    def left(self) -> float:
        return self.last.efficiency.value if self.last.efficiency else 1.0

    @cached_property
    def losses(self) -> list[Loss]:
        """What the largest scale lacks, by the parts of its step where both ends have timers, else by stages."""
        stages = []
        for key, steps in groupby(pairwise(self.scales), key=lambda step: stage(*step)):
            sides = [point.efficiency.value for step in steps for point in step if point.efficiency]
            stages.append((key, sides[0] - sides[-1]))
        parts = _by_phases(self) or stages
        grown = sum(max(share, 0.0) for _, share in parts)  # more than is lost, where another part became shorter
        return [(key, share * min(1.0, (1 - self.left) / grown)) for key, share in parts] if grown else parts


def ladders(summaries: Iterable[Summary], threshold: float) -> tuple[Ladder, ...]:
    """Of each series that was measured at two scales or more."""
    weak = (row for row in summaries if row.case.strong_batch is None)  # the threshold is about a kept batch
    sound = (row for row in weak if row.efficiency is not None and not suspicious(row))
    series = by_key((fairness.group(row, fairness.SCALES), row) for row in sound)
    scales = (tuple(sorted(members, key=lambda row: row.case.total_devices)) for members in series.values())
    several = (members for members in scales if members[0].case.total_devices < members[-1].case.total_devices)
    return tuple(Ladder(scales=members, broken=_first(members, threshold)) for members in several)


def stage(before: Summary, after: Summary) -> str:
    """Of a step of scale: within a node, crossing to several nodes, or between them."""
    if before.case.nodes == after.case.nodes:
        return "within"
    return "crossing" if before.case.nodes == 1 else "between"


def _by_phases(ladder: Ladder) -> list[Loss]:
    """By how much each phase of the step has grown, in shares of the larger step."""
    base, last = ladder.scales[0].breakdown, ladder.last.breakdown
    if base is None or last is None or base.of != last.of:
        return []
    phases = (phase for phase in last.phases if phase.parent is None)
    grown = [(of.name, (of.seconds - (base.seconds_of(of.name) or 0.0)) / last.seconds) for of in phases]
    return [*grown, ("rest", 1 - ladder.left - math.fsum(share for _, share in grown))]


def _first(ladder: Sequence[Summary], threshold: float) -> Break | None:
    for before, after in pairwise(ladder):
        doublings = math.log2(after.case.total_devices / before.case.total_devices)
        step = after.items_per_s_per_device / before.items_per_s_per_device
        if doublings and math.pow(step, 1 / doublings) < threshold:
            return before, after
    return None

"""What a step time is made of: the share of communication, what no timer covers, and parts that overlap."""

import math
from collections.abc import Collection, Iterable

from evalsuite.core.findings import OverlappingPhases
from evalsuite.core.model import Breakdown, Finding

COMMUNICATION = ("allreduce",)


def seconds_of(breakdown: Breakdown, phases: Collection[str]) -> float | None:
    known = [phase.seconds for phase in breakdown.phases if phase.name in phases and phase.parent is None]
    return math.fsum(known) if known else None


def rest(breakdown: Breakdown) -> float | None:
    left = breakdown.seconds - math.fsum(phase.seconds for phase in breakdown.phases if phase.parent is None)
    return left if left > 1e-3 * breakdown.seconds else None


def findings(breakdown: Breakdown | None) -> Iterable[Finding]:
    """phases that add up to more than what they are parts of, so that some time was counted twice."""
    if breakdown is None:
        return
    inside = {name: [p for p in breakdown.phases if p.parent == name] for name in {p.parent for p in breakdown.phases}}
    for parent, phases in sorted(inside.items(), key=lambda item: item[0] or ""):
        available = breakdown.seconds if parent is None else breakdown.seconds_of(parent)
        total = math.fsum(phase.seconds for phase in phases)
        if available is not None and total > OverlappingPhases.limit * available:
            yield OverlappingPhases(phases=tuple(phase.name for phase in phases), sum_s=total, whole_s=available)

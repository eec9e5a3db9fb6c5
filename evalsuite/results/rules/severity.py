"""How far a finding is beyond its rule, and one finding for each case and rule: the gravest."""

import math
import re
from collections.abc import Iterable
from dataclasses import replace

from evalsuite.core import findings
from evalsuite.core.model import Finding

# what tells how far a rule is broken: the first of its fields that is one of these
SIZES = ("change", "share", "ratio", "factor", "points", "seconds")
# what a finding is about; two of one rule that are about different things are two
SUBJECTS = frozenset({"resource", "phase", "metric", "method", "option", "fact", "source", "failure", "scale", "name"})
_RUN = re.compile(r"(.+)/r\d+")


def beyond(finding: Finding) -> float:
    """How far beyond what is allowed, in the unit of its rule; 0 where nothing tells."""
    kinds, limits = findings.kinds(type(finding)), findings.limits(type(finding))
    sized = [(kind, name) for kind in SIZES for name, of in kinds.items() if of == kind and name not in limits]
    if not sized or not isinstance(value := getattr(finding, sized[0][1]), int | float) or not math.isfinite(value):
        return 0.0
    allowed = next((limit for limit, _ in limits.values()), 1.0 if sized[0][0] in ("ratio", "factor") else 0.0)
    return abs((abs(value) if sized[0][0] in ("change", "points") else value) - allowed)  # as far below as above


def merge_repeated(found: Iterable[Finding]) -> list[Finding]:
    groups: dict[object, list[Finding]] = {}
    for finding in found:
        run, kinds = _RUN.fullmatch(finding.where), findings.kinds(type(finding))
        subject = tuple(getattr(finding, name) for name, kind in kinds.items() if kind in SUBJECTS)
        groups.setdefault((type(finding), run[1] if run else finding.where, subject), []).append(finding)
    return [_together(same) for same in groups.values()]


def _together(same: list[Finding]) -> Finding:
    if len(same) == 1:
        return same[0]
    worst = min(same, key=lambda finding: (-beyond(finding), finding.where))
    places = {place for finding in same for place in (finding.where, *finding.also)} - {worst.where}
    return replace(worst, also=tuple(sorted(places)))

"""How far a finding is beyond its rule, and one finding for each case and rule: the gravest."""

import math
import re
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, fields, replace

from evalsuite.core import findings
from evalsuite.core.model import Finding

# what tells how far a rule is broken: the first of its fields that is one of these
SIZES = ("change", "share", "ratio", "factor", "points", "seconds")
# what a finding is about; two of one rule that are about different things are two
SUBJECTS = frozenset(
    {"resource", "phase", "metric", "method", "option", "attribute", "fact", "source"} | {"failure", "scale", "name"}
)
_RUN = re.compile(r"(.+)/r\d+")


@dataclass(frozen=True, kw_only=True)
class Excess:
    value: float
    kind: str
    allowed: float

    @property
    def beyond(self) -> float:
        far = abs(self.value) if self.kind in ("change", "points") else self.value  # as far below as above
        return abs(far - self.allowed)


def size(finding: Finding) -> Excess | None:
    given = {field.name: field for field in fields(finding)}
    kinds = findings.kinds(type(finding))
    free = {name: kind for name, kind in kinds.items() if given[name].default is MISSING}
    for wanted in SIZES:
        name = next((name for name, kind in free.items() if kind == wanted), None)
        if name is not None and isinstance(value := getattr(finding, name), int | float):
            return _sized(finding, float(value), wanted)
    rates = [float(getattr(finding, name)) for name, kind in free.items() if kind == "rate"]
    if len(rates) == 2 and rates[1]:
        return _sized(finding, rates[0] / rates[1] - 1, "change", allowed=0.0)
    counted = [name for name, kind in free.items() if kind == "count"]
    if len(counted) == 1 and len(free) == 1:
        return _sized(finding, float(getattr(finding, counted[0])), "count")
    return None


def _sized(finding: Finding, value: float, kind: str, allowed: float | None = None) -> Excess | None:
    if not math.isfinite(value):
        return None
    if allowed is None:
        limits = [field.default for field in fields(finding) if isinstance(field.default, int | float)]
        allowed = float(limits[0]) if limits else 1.0 if kind in ("ratio", "factor") else 0.0
    return Excess(value=value, kind=kind, allowed=allowed)


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
    worst = min(same, key=lambda finding: (-(excess.beyond if (excess := size(finding)) else 0.0), finding.where))
    places = {place for finding in same for place in (finding.where, *finding.also)} - {worst.where}
    return replace(worst, also=tuple(sorted(places)))

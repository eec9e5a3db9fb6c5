"""How far a finding is beyond its rule, and one finding for each case and rule: the gravest."""

import math
import re
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, fields, replace

from evalsuite.core import findings
from evalsuite.core.model import Finding, by_key

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
    return Excess(value=value, kind=kind, allowed=_allowed(finding, kind) if allowed is None else allowed)


def _allowed(finding: Finding, kind: str) -> float:
    limits = [field.default for field in fields(finding) if isinstance(field.default, int | float)]
    return float(limits[0]) if limits else 1.0 if kind in ("ratio", "factor") else 0.0


def merge_repeated(findings: Iterable[Finding]) -> list[Finding]:
    groups = by_key(((type(finding), _case(finding.where), _subject(finding)), finding) for finding in findings)
    return [_together(same) for same in groups.values()]


def _together(same: list[Finding]) -> Finding:
    if len(same) == 1:
        return same[0]
    worst = min(same, key=lambda finding: (-_beyond(finding), finding.where))
    places = {place for finding in same for place in (finding.where, *finding.also)} - {worst.where}
    return replace(worst, also=tuple(sorted(places)))


def _case(where: str) -> str:
    run = _RUN.fullmatch(where)
    return run[1] if run else where


def _subject(finding: Finding) -> tuple[object, ...]:
    kinds = findings.kinds(type(finding))
    return tuple(getattr(finding, name) for name, kind in kinds.items() if kind in SUBJECTS)


def _beyond(finding: Finding) -> float:
    value = size(finding)
    return value.beyond if value else 0.0

"""Each stack's best layout on as many devices at one global batch, of all that it tried.

The two are never mixed: `answers` ranks what lies alike, and here only how the work lies over the devices may differ.
A stack that tried more has more chances of a fast one, so that an order wants the same number of points from each.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evalsuite.core.decode import whole
from evalsuite.core.model import Summary, by_key
from evalsuite.results.compare import decisions, fairness
from evalsuite.results.compare.decisions import LAYOUTS, Ranking, speed


@dataclass(frozen=True, kw_only=True)
class LayoutSearch:
    model: str
    devices: int
    global_batch: int
    tried: Mapping[str, Sequence[Summary]]  # by framework, the fastest first
    ranking: Ranking | None  # None: not all tried as many

    @property
    def best(self) -> tuple[Summary, ...]:
        return tuple(rows[0] for rows in self.tried.values())


def searches(rows: Iterable[Summary]) -> tuple[LayoutSearch, ...]:
    """Where at least one stack tried several."""
    found = []
    for (model, devices, batch), alike in by_key((_place(row), row) for row in sorted(rows, key=speed)[::-1]).items():
        for part in fairness.groups(alike, LAYOUTS.purpose):
            tried = by_key((row.case.framework, row) for row in part)
            budgets = {len(points) for points in tried.values()}
            if max(budgets) > 1:
                ranking = decisions.rank(part, LAYOUTS) if len(budgets) == 1 and len(tried) > 1 else None
                found.append(
                    LayoutSearch(model=model, devices=devices, global_batch=batch, tried=tried, ranking=ranking)
                )
    return tuple(found)


def _place(row: Summary) -> tuple[str, int, int]:
    stated = fairness.facts_of(row).get("global_batch", ())
    batch = whole(stated[0].value) if len(stated) == 1 else None
    return row.case.model, row.case.total_devices, batch or row.case.global_batch

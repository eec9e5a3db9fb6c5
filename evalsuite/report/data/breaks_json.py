"""`breaks` of `summary.json`: where each series stops to scale (docs/contracts.md#summaryjson)."""

from dataclasses import asdict
from typing import Any

from evalsuite.results.judge.breaks import Break, Breaks


def document(found: Breaks | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"threshold": found.threshold, "series": found.series, "found": [_break(one) for one in found.found]}


def _break(one: Break) -> dict[str, Any]:
    return {
        "series": one.after.case.series,
        "before": one.before.case.id,
        "after": one.after.case.id,
        "before_devices": one.before.case.total_devices,
        "after_devices": one.after.case.total_devices,
        "efficiency_of_doubling": one.step,
        "certain": one.certain,
        "changes": [asdict(change) for change in one.changes],
    }

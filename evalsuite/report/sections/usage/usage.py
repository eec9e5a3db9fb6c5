"""Hardware utilisation over the measured steps: one row per case, one column per resource."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from evalsuite.core.model import Summary, by_key
from evalsuite.report.book.blocks import Block, distinctions
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.text import numbers

COMPUTE = (
    *("gpu", "gpu_tensor", "gpu_memory", "gpu_bandwidth", "gpu_power", "gpu_temperature", "gpu_sm_clock"),
    *("cpu", "job_cpu", "memory", "job_memory"),
)
TRANSFER = (
    *("disk_read", "disk_write", "disk_operations"),
    *("filesystem_read", "filesystem_write", "filesystem_operations"),
    *("network_receive", "network_send", "loopback", "pcie_receive", "pcie_send", "link_receive", "link_send"),
)
RESOURCES = (*COMPUTE, *TRANSFER)


def sections(subject: Subject) -> Iterable[Section]:
    yield Section(
        id="usage", title=subject.words("usage.title"), template="usage/usage.html.j2", facts=lambda: _facts(subject)
    )


def _facts(subject: Subject) -> Mapping[str, object]:
    found = () if subject.book.huge else filter(None, map(_usage, subject.blocks))
    tables = []
    for resources, alike in by_key((usage["resources"], usage) for usage in found).items():
        for part, of_part in (("compute", False), ("transfer", True)):
            places = [place for place, name in enumerate(resources) if (name in TRANSFER) is of_part]
            tables += [(part, resources, places, alike)] if places else []
    return {"tables": tables}


def _usage(block: Block) -> Mapping[str, Any] | None:
    summaries = [summary for summary in block.valid if summary.utilisation]
    present = {used.resource for summary in summaries for used in summary.utilisation}
    if not present:
        return None
    resources = (*(name for name in RESOURCES if name in present), *sorted(present - set(RESOURCES)))
    notes = distinctions(summary.case for summary in summaries)
    rows: list[Mapping[str, Any]] = [
        {
            "case": row.case,
            "notes": notes[row.case.id],
            "readings": [_reading(row, name) for name in resources],
            "samples": max(used.samples for used in row.utilisation),
            "coverage": min(used.coverage for used in row.utilisation),
        }
        for row in summaries
    ]
    return {"block": block, "resources": resources, "rows": rows}


def _reading(row: Summary, resource: str) -> Mapping[str, Any] | None:
    used = next((each for each in row.utilisation if each.resource == resource), None)
    if used is None:
        return None
    form = partial(numbers.quantity, unit=used.unit)
    return {"mean": form(used.mean), "spread": numbers.span(used.p5, used.p95, form)}

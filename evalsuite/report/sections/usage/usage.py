"""Hardware utilisation over the measured steps: one row per case, one column per resource."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from evalsuite.core.model import Case, Summary, Utilisation
from evalsuite.report.book.blocks import Block, Model, distinctions
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.text import names, numbers
from evalsuite.report.text.words import Rendered, Words

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
ADDED_UP = ("bytes/s", "1/s", "bytes")  # over devices of one kind; a percentage or a temperature is averaged


@dataclass(frozen=True, kw_only=True)
class Usage:
    block: Block
    resources: tuple[str, ...]
    rows: list[Mapping[str, Any]]

    @property
    def silent(self) -> tuple[str, ...]:
        columns = ((name, [row["readings"][place] for row in self.rows]) for place, name in enumerate(self.resources))
        return tuple(name for name, readings in columns if all(reading and reading["nothing"] for reading in readings))

    @property
    def parts(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        silent = self.silent
        used = [(place, name) for place, name in enumerate(self.resources) if name not in silent]
        moving = tuple(place for place, name in used if name in TRANSFER)
        other = tuple(place for place, name in used if name not in TRANSFER)
        return tuple(part for part in (("compute", other), ("transfer", moving)) if part[1])


def sections(subject: Subject) -> Iterable[Section]:
    yield Section(
        id="usage",
        title=subject.words("usage.title"),
        template="usage/usage.html.j2",
        facts=lambda: _facts(subject),
        finding=lambda facts: finding(facts["usages"], subject.words),
    )


def _facts(subject: Subject) -> Mapping[str, object]:
    return {"usages": () if subject.book.huge else usages(subject.models)}


def finding(usages: Sequence[Usage], words: Words) -> Rendered | None:
    read = [(row["readings"][0]["mean"], row["case"]) for usage in usages for row in usage.rows if row["readings"][0]]
    if len({usage.resources[0] for usage in usages}) > 1 or not read:
        return None
    (low, least), (high, most) = (choose(read, key=lambda pair: pair[0].raw) for choose in (min, max))
    values = {"resource_text": words(f"resources.{usages[0].resources[0]}"), "low": low.about(names.case_anchor(least))}
    if low.text == high.text:
        return words("usage.found_one", **values)
    ends = {"low_name": _short(least, words), "high_name": _short(most, words)}
    return words("usage.found", **values, **ends, high=high.about(names.case_anchor(most)))


def _short(case: Case, words: Words) -> Rendered:
    return words.same(f"{names.framework(case.framework)} {names.scale(case)}").about(names.case_anchor(case))


def usages(models: Sequence[Model]) -> tuple[Usage, ...]:
    found = (_usage(block) for model in models for block in model.blocks)
    return tuple(usage for usage in found if usage is not None)


def _usage(block: Block) -> Usage | None:
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
    return Usage(block=block, resources=resources, rows=rows)


def _reading(row: Summary, resource: str) -> Mapping[str, Any] | None:
    used = [each for each in row.utilisation if each.resource == resource]
    every = [each for run in row.measurements for each in run.utilisation if each.resource == resource]
    if not used:
        return None
    form = partial(numbers.quantity, unit=used[0].unit)
    return {
        "mean": form(combine_means(used)),
        "spread": numbers.span(*combine_spreads(used), form),
        "devices": len(used),
        "nothing": all(usage.mean == usage.p5 == usage.p95 == 0 for usage in (*used, *every)),
    }


def combine_means(used: Sequence[Utilisation]) -> float:
    means = [usage.mean for usage in used]
    return sum(means) if used[0].unit in ADDED_UP else statistics.fmean(means)


def combine_spreads(used: Sequence[Utilisation]) -> tuple[float, float]:
    low, high = [usage.p5 for usage in used], [usage.p95 for usage in used]
    return (sum(low), sum(high)) if used[0].unit in ADDED_UP else (min(low), max(high))

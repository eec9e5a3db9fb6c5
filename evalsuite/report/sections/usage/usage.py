"""Hardware utilisation over the measured steps: one row per case, one column per resource."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from evalsuite.core.model import Case, Summary, Timeline, Utilisation
from evalsuite.report.book.blocks import Block, Model, distinctions
from evalsuite.report.book.book import Book
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.sections.usage import timelines
from evalsuite.report.sections.usage.timelines import combine_means, combine_spreads
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
MOST_TIMELINES = 8  # runs drawn in one report; each is some 20 kB


@dataclass(frozen=True, kw_only=True)
class Usage:
    block: Block
    resources: tuple[str, ...]
    rows: list[Mapping[str, Any]]
    shown: tuple[tuple[Summary, str, Timeline], ...]

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
    if subject.book.huge:
        return {"usages": ()}
    tables = usages(subject.book, subject.models)
    return {
        "usages": tables,
        "timelines": {use.block.id: timelines.draw_timelines(use.shown, use.block, subject.words) for use in tables},
    }


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


def usages(book: Book, models: Sequence[Model]) -> tuple[Usage, ...]:
    usages = (_usage(book, block) for model in models for block in model.blocks)
    present = [usage for usage in usages if usage is not None]
    room = MOST_TIMELINES
    for place, usage in enumerate(present):
        present[place] = replace(usage, shown=usage.shown[:room])
        room -= len(present[place].shown)
    return tuple(present)


def _usage(book: Book, block: Block) -> Usage | None:
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
            "readings": [_reading([used for used in row.utilisation if used.resource == name]) for name in resources],
            "samples": max(used.samples for used in row.utilisation),
            "coverage": min(used.coverage for used in row.utilisation),
        }
        for row in summaries
    ]
    return Usage(block=block, resources=resources, rows=rows, shown=tuple(_shown(book, block)))


def _reading(used: Sequence[Utilisation]) -> Mapping[str, Any] | None:
    if not used:
        return None
    form = partial(numbers.quantity, unit=used[0].unit)
    return {
        "mean": form(combine_means(used)),
        "spread": numbers.span(*combine_spreads(used), form),
        "devices": len(used),
        "nothing": all(usage.mean == usage.p5 == usage.p95 == 0 for usage in used),
    }


def _shown(book: Book, block: Block) -> Iterator[tuple[Summary, str, Timeline]]:
    for column in block.columns:
        ours = [summary for summary in block.valid if summary.case.series == column.example.series]
        for summary in sorted(ours, key=lambda summary: -summary.case.total_devices):
            lines = ((run.run.id, book.evaluation.timelines.get(run.run.id)) for run in summary.measurements)
            first = next(((run_id, line) for run_id, line in lines if line is not None), None)
            if first:
                yield summary, *first
                break

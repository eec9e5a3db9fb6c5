"""Hardware utilisation over the measured steps: one row per case, one column per resource."""

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from evalsuite.model import Case, Summary, Timeline, Utilisation, Window
from evalsuite.report import figures
from evalsuite.report.book.blocks import Block, Model, told_apart
from evalsuite.report.book.book import Book
from evalsuite.report.figures import Look
from evalsuite.report.sections.drawn import Drawn
from evalsuite.report.sections.section import Section, Subject
from evalsuite.report.sections.totals import Totals, largest, totals
from evalsuite.report.text import names, numbers
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Pair, Rendered, Words

COMPUTE = (
    "gpu",
    "gpu_memory",
    "gpu_power",
    "gpu_temperature",
    "gpu_sm_clock",
    "cpu",
    "job_cpu",
    "memory",
    "job_memory",
)
TRANSFER = (
    "disk_read",
    "disk_write",
    "disk_operations",
    "network_receive",
    "network_send",
    "loopback",
    "pcie_receive",
    "pcie_send",
)
RESOURCES = (*COMPUTE, *TRANSFER)
# What a time line shows; the table and the CSV have the rest.
STRIPS = (
    *("gpu", "gpu_memory", "gpu_power", "cpu", "memory"),
    *("disk_read", "disk_write", "network_receive", "network_send", "loopback"),
)
MOST_TIMELINES = 8  # drawn in one report; each is some 40 kB
ADDED_UP = ("bytes/s", "1/s", "bytes")  # over devices of one kind; a percentage or a temperature is averaged


@dataclass(frozen=True, kw_only=True)
class UsageReading:
    """One resource of one case: mean over the window, 5th to 95th percentile, over all its devices."""

    resource: str
    unit: str
    mean: Number
    spread: Number
    devices: int


@dataclass(frozen=True, kw_only=True)
class UsageRow:
    """One case of the table."""

    summary: Summary
    notes: tuple[str, ...]  # what tells it from other rows of its framework
    readings: tuple[UsageReading | None, ...]  # in the order of the table's resources; None: not recorded
    samples: int
    coverage: float

    @property
    def case(self) -> Case:
        return self.summary.case

    @property
    def ref(self) -> str:
        return names.case_anchor(self.case)


@dataclass(frozen=True, kw_only=True)
class Usage:
    """The utilisation table of one block, and the runs whose time line is drawn."""

    block: Block
    resources: tuple[str, ...]
    rows: tuple[UsageRow, ...]
    shown: tuple[tuple[Summary, str, Timeline], ...]  # summary, run id, its time line

    @property
    def parts(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Two tables, for what computes and for what moves: key, places in *resources*."""
        moving = tuple(place for place, name in enumerate(self.resources) if name in TRANSFER)
        other = tuple(place for place, name in enumerate(self.resources) if name not in TRANSFER)
        return tuple(part for part in (("compute", other), ("transfer", moving)) if part[1])

    @property
    def has_gpu(self) -> bool:
        return "gpu" in self.resources


@dataclass(frozen=True, kw_only=True)
class UsageFacts:
    """What the section shows."""

    usages: tuple[Usage, ...]
    timelines: Mapping[str, tuple[Drawn, ...]]  # block id → its time lines
    totals: Mapping[str, Totals]  # block id → what its devices computed, held and took


def sections(subject: Subject) -> Iterable[Section]:
    yield Section(
        id="usage", title=subject.words("usage.title"), template="usage.html.j2", facts=lambda: _facts(subject)
    )


def _facts(subject: Subject) -> UsageFacts:
    found = usages(subject.book, subject.models)
    lines = {one.block.id: timelines(one, subject.look, subject.words) for one in found}
    return UsageFacts(usages=found, timelines=lines, totals=totals(subject.book, subject.models))


def usages(book: Book, models: Sequence[Model]) -> tuple[Usage, ...]:
    found = (_usage(book, block) for model in models for block in model.blocks)
    present = [usage for usage in found if usage is not None]
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
    notes = told_apart(one.case for one in summaries)
    listed = largest(summaries) if book.huge else summaries
    rows = tuple(_row(one, notes[one.case.id], resources) for one in listed)
    return Usage(block=block, resources=resources, rows=rows, shown=tuple(_shown(book, block)))


def _row(summary: Summary, notes: tuple[str, ...], resources: Sequence[str]) -> UsageRow:
    return UsageRow(
        notes=notes,
        summary=summary,
        readings=tuple(_reading(summary, resource) for resource in resources),
        samples=max(used.samples for used in summary.utilisation),
        coverage=min(used.coverage for used in summary.utilisation),
    )


def _reading(summary: Summary, resource: str) -> UsageReading | None:
    used = [one for one in summary.utilisation if one.resource == resource]
    if not used:
        return None
    unit = used[0].unit
    return UsageReading(
        resource=resource,
        unit=unit,
        mean=numbers.quantity(together(used), unit),
        spread=_spread(used, unit),
        devices=len(used),
    )


def together(used: Sequence[Utilisation]) -> float:
    """One figure for several devices: the sum of rates and amounts, the mean of percentages."""
    means = [one.mean for one in used]
    return sum(means) if used[0].unit in ADDED_UP else statistics.fmean(means)


def _spread(used: Sequence[Utilisation], unit: str) -> Number:
    if unit in ADDED_UP:
        low, high = sum(one.p5 for one in used), sum(one.p95 for one in used)
    else:
        low, high = min(one.p5 for one in used), max(one.p95 for one in used)
    return numbers.span(low, high, lambda value: numbers.quantity(value, unit))


def _shown(book: Book, block: Block) -> Iterator[tuple[Summary, str, Timeline]]:
    """For each column the largest measured case that has a time line."""
    for column in block.columns:
        ours = [one for one in block.valid if one.case.series == column.series]
        for summary in sorted(ours, key=lambda one: -one.case.total_devices):
            lines = ((run.run.id, book.evaluation.timelines.get(run.run.id)) for run in summary.measurements)
            found = next(((run_id, line) for run_id, line in lines if line is not None), None)
            if found:
                yield summary, *found
                break


# time lines


def timelines(usage: Usage, look: Look, words: Words) -> tuple[Drawn, ...]:
    return tuple(_timeline(*shown, look, words) for shown in usage.shown)


def _timeline(summary: Summary, run_id: str, line: Timeline, look: Look, words: Words) -> Drawn:
    every = tuple(_strips(summary, run_id, line, words))
    strips = tuple(strip for strip in every if any(value for _, value in strip.samples))
    silent = [_label(strip.label, words) for strip in every if strip not in strips]
    figure = figures.utilisation(strips, look, id=names.anchor("f-u", run_id), window=_bounds(line.window))
    case = words(
        "words.case",
        framework=names.framework(summary.case.framework),
        precision=names.precision(summary.case.precision),
        batch=numbers.count(summary.case.batch_per_device),
        nodes=numbers.count(summary.case.nodes),
        devices=numbers.count(summary.case.total_devices),
    )
    repeat = run_id.rpartition("/r")[2]
    return Drawn(
        figure=figure,
        title=words("figures.timeline", framework=names.framework(summary.case.framework)),
        reading=(
            words("figures.timeline_case", case=case, repeat=repeat),
            *((words("figures.timeline_silent", resources=words.listed(silent)),) if silent else ()),
        ),
        help=words("figures.timeline_see"),
        labels=tuple(_label(strip.label, words) for strip in strips),
    )


def _label(label: figures.Label, words: Words) -> Rendered:
    if isinstance(label, str):
        return words.same(label)
    return Pair(words=words, by_language=(("zh", label.zh), ("en", label.en)))


def _bounds(window: Window | None) -> tuple[float, float] | None:
    if window is None or window.begin_s is None or window.end_s is None:
        return None
    return window.begin_s, window.end_s


def _strips(summary: Summary, run_id: str, line: Timeline, words: Words) -> Iterable[figures.Strip]:
    run = next(one for one in summary.measurements if one.run.id == run_id)
    used = {(one.resource, one.device): one for one in run.utilisation}
    order = {resource: place for place, resource in enumerate(RESOURCES)}
    drawn = (key for key in line.series if key[0] in STRIPS or key[0] not in RESOURCES)
    for key in sorted(drawn, key=lambda k: (order.get(k[0], 99), k[0], k[1] or "")):
        resource, device = key
        samples = tuple(line.series[key])
        unit = line.units.get(resource, "")
        values = [value for _, value in samples if value is not None]
        if not values:
            continue
        about = used.get(key)
        capacity = about.capacity if about else None
        yield figures.Strip(
            label=_resource(resource, device, words),
            samples=samples,
            maximum=(100.0 if unit == "%" else capacity) or max(values) or 1.0,
            unit=unit,
            mean=about.mean if about else None,
            ref=names.case_anchor(summary.case),
        )


def _resource(resource: str, device: str | None, words: Words) -> figures.Label:
    """The name of a strip: one word in each language, followed by the device."""
    key = f"resources.{resource}"
    named = words(key) if key in words else words("resources.other", name=names.visible(resource))
    behind = f" {names.visible(device)}" if device else ""
    languages = words.languages
    return figures.Bilingual(zh=named.plain(languages[0]) + behind, en=named.plain(languages[-1]) + behind)

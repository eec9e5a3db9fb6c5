"""What several blocks tell together: an option off and on, batch sizes, scaling across models."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evalsuite.model import Case, Summary
from evalsuite.report.book import cells
from evalsuite.report.book.blocks import Block, Model
from evalsuite.report.book.book import Book
from evalsuite.report.book.cells import Cell
from evalsuite.report.text import names, numbers
from evalsuite.report.text.numbers import Number
from evalsuite.results.statistics import differ, ratio_of_medians
from evalsuite.results.summary import values

OPTIONS = ("xla", "amp")


@dataclass(frozen=True, kw_only=True)
class Effect:
    """One case without and with an option that is the only thing the two differ in."""

    option: str  # "xla" or "amp"
    off: Case
    on: Case
    off_cell: Cell
    on_cell: Cell
    off_summary: Summary | None
    on_summary: Summary | None
    ratio: Number | None
    interval: Number | None
    significant: bool | None  # None: too few repeats to tell

    @property
    def title(self) -> str:
        return names.framework(self.off.framework)

    @property
    def lacking(self) -> str:
        """The state of the case without which there is no ratio."""
        return cells.lacking(self.off_cell, self.on_cell)


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """One framework at one scale over batch sizes."""

    example: Case
    points: tuple[tuple[Case, Cell, Summary | None], ...]  # by batch size

    @property
    def title(self) -> str:
        case = self.example
        notes = [names.precision(case.precision), names.scale(case), *(["XLA"] if case.xla else [])]
        return f"{names.framework(case.framework)} · {' · '.join(notes)}"


@dataclass(frozen=True, kw_only=True)
class Rank:
    """One series of the overview: its efficiency at the largest scale that all of its panel share."""

    block: Block
    summary: Summary
    place: int | None  # None: it lacks the common scale

    @property
    def title(self) -> str:
        return names.framework(self.summary.case.framework)


def effects(book: Book, model: Model) -> tuple[Effect, ...]:
    """Every pair of planned cases that differ in XLA alone or in precision alone."""
    planned = {case.id: case for block in model.blocks for case in block.cases}
    found = []
    for case in planned.values():
        for option, on in (("xla", replace(case, xla=True)), ("amp", replace(case, precision="amp"))):
            if on != case and on.id in planned:
                found.append(_effect(book, option, case, on))
    return tuple(sorted(found, key=lambda one: (OPTIONS.index(one.option), names.case_order(one.off))))


def _effect(book: Book, option: str, off: Case, on: Case) -> Effect:
    before, after = book.valid_of.get(off.id), book.valid_of.get(on.id)
    ratio, significant = None, None
    if before and after and before.unit == after.unit:
        ratio = ratio_of_medians(values(after), values(before))
        enough = not (before.partial or after.partial)
        significant = differ(values(before), values(after)) if enough else None
    return Effect(
        option=option,
        off=off,
        on=on,
        off_cell=cells.throughput_cell(book, off),
        on_cell=cells.throughput_cell(book, on),
        off_summary=before,
        on_summary=after,
        ratio=numbers.speedup(ratio.value) if ratio else None,
        interval=numbers.interval(ratio, numbers.speedup),
        significant=significant,
    )


def sweeps(book: Book, model: Model) -> tuple[Sweep, ...]:
    """Series of cases that differ in the batch size per device alone, two sizes at least."""
    groups: dict[Case, list[Case]] = {}
    for block in model.blocks:
        for case in block.cases:
            groups.setdefault(replace(case, batch_per_device=1), []).append(case)
    return tuple(
        Sweep(
            example=group[0],
            points=tuple(
                (case, cells.throughput_cell(book, case), book.valid_of.get(case.id))
                for case in sorted(group, key=lambda case: case.batch_per_device)
            ),
        )
        for group in groups.values()
        if len({case.batch_per_device for case in group}) > 1
    )


def scaling_blocks(models: Sequence[Model]) -> tuple[Block, ...]:
    """The blocks in which scaling was measured; the overview is worth a section from two on."""
    return tuple(block for model in models for block in model.blocks if block.has_scaling)


def ranks(blocks: Sequence[Block]) -> tuple[Rank, ...]:
    """Within each block, series by efficiency at the largest scale they share; the others unranked behind."""
    return tuple(rank for block in blocks for rank in _ranks(block))


def _ranks(block: Block) -> Iterable[Rank]:
    series: dict[str, dict[int, Summary]] = {}
    for summary in block.valid:
        if summary.efficiency and summary.base != summary.case:
            series.setdefault(summary.case.series, {})[summary.case.total_devices] = summary
    reach = sorted({devices for scales in series.values() for devices in scales}, reverse=True)
    common = next((devices for devices in reach if sum(devices in scales for scales in series.values()) > 1), None)
    level = [scales[common] for scales in series.values() if common in scales]
    level.sort(key=lambda one: -one.efficiency.value)
    yield from (Rank(block=block, summary=one, place=place) for place, one in enumerate(level, 1))
    for scales in series.values():
        if common not in scales:
            yield Rank(block=block, summary=scales[max(scales)], place=None)

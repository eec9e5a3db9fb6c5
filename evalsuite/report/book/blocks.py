"""Model sections: participants, and one block of tables for each setting (docs/reading-a-report.md)."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

from evalsuite.core.decode import whole
from evalsuite.core.model import Case, Protocol, Row, Summary, by_key
from evalsuite.report.book.book import Book
from evalsuite.report.book.cells import Cell
from evalsuite.report.book.participants import Participant, participants
from evalsuite.report.text import names, options
from evalsuite.report.text.words import Rendered, Words

CellOf = Callable[[Book, Case], Cell]


@dataclass(frozen=True, kw_only=True)
class Column:
    """A series: the cases that are *example* at other scales."""

    example: Case
    show_recipe: bool

    @property
    def title(self) -> str:
        return names.framework(self.example.framework)

    @property
    def label(self) -> str:
        notes = [names.visible(self.example.recipe)] * self.show_recipe + ["XLA"] * bool(self.example.xla)
        return " · ".join([self.title, *notes])

    @property
    def id(self) -> str:
        return names.anchor("s", self.example.series)


@dataclass(frozen=True, kw_only=True)
class Block:
    book: Book
    model: str
    precision: str
    batch: int  # of each device; of the whole job where *strong*
    strong: bool  # the job keeps its batch at every scale
    device: str
    options: tuple[tuple[str, str], ...]
    protocol: Protocol
    unit: str
    columns: tuple[Column, ...]
    scales: tuple[tuple[int, int], ...]  # (nodes, devices per node)
    cases: tuple[Case, ...]

    @property
    def id(self) -> str:
        parts = (self.model, self.precision, self.batch, self.device, self.options, self.protocol, self.unit)
        return names.anchor("b", repr((*parts, "strong") if self.strong else parts))

    @property
    def efficiency_threshold(self) -> float | None:
        return None if self.strong else self.book.efficiency_threshold

    @cached_property
    def summaries(self) -> tuple[Row, ...]:
        return tuple(self.book.summary_of[case.id] for case in self.cases if case.id in self.book.summary_of)

    @cached_property
    def valid(self) -> tuple[Summary, ...]:
        return tuple(self.book.valid_of[case.id] for case in self.cases if case.id in self.book.valid_of)

    @property
    def has_scaling(self) -> bool:
        return any(summary.base is not None and summary.base != summary.case for summary in self.valid)

    def column_of(self, case: Case) -> Column:
        return next(column for column in self.columns if column.example.series == case.series)

    def case(self, column: Column, nodes: int, per_node: int) -> Case:
        return column.example.at_scale(nodes, per_node)

    def measured(self, column: Column, nodes: int, per_node: int) -> Summary | None:
        """The result of a series at a scale, where there is one in the unit of this block."""
        summary = self.book.valid_of.get(self.case(column, nodes, per_node).id)
        return summary if summary is not None and summary.unit == self.unit else None

    def cell(self, column: Column, nodes: int, per_node: int, cell_of: CellOf) -> Cell:
        cell = cell_of(self.book, self.case(column, nodes, per_node))
        if cell.number is None or self.measured(column, nodes, per_node) is not None:
            return cell
        return Cell(state="invalid", ref=cell.ref)


@dataclass(frozen=True, kw_only=True)
class Model:
    name: str
    participants: tuple[Participant, ...]
    blocks: tuple[Block, ...]

    @property
    def title(self) -> str:
        return names.model(self.name)

    @property
    def synthetic(self) -> bool:
        return bool(self.participants) and all(participant.kind == "reference" for participant in self.participants)

    @property
    def input(self) -> str:
        sizes = ", ".join(f"{size}×{size}" for size in self._named("image_size"))
        return sizes or names.model_facts(self.name).get("fixed_input", "")

    @property
    def sequences(self) -> str:
        lengths = self._named("sequence_length")
        return ", ".join(each if (number := whole(each)) is None else f"{number:,}" for each in lengths)

    def _named(self, option: str) -> list[str]:
        values = {dict(block.options).get(option) for block in self.blocks} - {None}
        return sorted(map(names.visible, values), key=lambda value: (whole(value) is None, len(value), value))

    @property
    def images(self) -> bool:
        return any(participant.image for participant in self.participants)

    @property
    def features(self) -> bool:
        return any(participant.features for participant in self.participants)

    @property
    def units(self) -> tuple[str, ...]:
        return tuple(sorted({names.visible(block.unit) for block in self.blocks if block.unit}))

    @property
    def id(self) -> str:
        return names.model_anchor(self.name)


def models(book: Book) -> tuple[Model, ...]:
    return tuple(
        Model(name=name, participants=participants(book, name), blocks=tuple(blocks(book, name)))
        for name in book.models
    )


def blocks(book: Book, model: str) -> Iterable[Block]:
    cases = sorted((case for case in book.planned if case.model == model), key=_block_key)
    for _, group in groupby(cases, key=_block_key):
        yield from _by_unit(book, list(group))


def _block_key(case: Case) -> tuple[Any, ...]:
    protocol = (case.protocol.warmup_steps, case.protocol.measured_steps)
    strong = case.strong_batch is not None
    return (case.device, strong, case.precision, case.series_batch, names.options_order(case.options), protocol)


def _by_unit(book: Book, group: list[Case]) -> Iterable[Block]:
    recorded = {book.summary_of[case.id].unit for case in group if case.id in book.summary_of}
    units = sorted(unit for unit in recorded if unit)
    if len(units) < 2:
        yield _block(book, group, units[0] if units else "")
        return
    for unit in units:
        series = {case.series for case in group if case.id in book.summary_of and book.summary_of[case.id].unit == unit}
        yield _block(book, [case for case in group if case.series in series], unit)


def _block(book: Book, group: list[Case], unit: str) -> Block:
    first = group[0]
    scales = sorted({(case.nodes, case.devices_per_node) for case in group}, key=lambda s: (s[0] * s[1], s[0]))
    series = {case.series: case for case in sorted(group, key=names.case_order)}.values()
    recipes = by_key((case.framework, case.recipe) for case in series)
    return Block(
        book=book,
        model=first.model,
        precision=first.precision,
        batch=first.series_batch,
        strong=first.strong_batch is not None,
        device=first.device,
        options=first.options,
        protocol=first.protocol,
        unit=unit,
        columns=tuple(Column(example=each, show_recipe=len({*recipes[each.framework]}) > 1) for each in series),
        scales=tuple(scales),
        cases=tuple(sorted(group, key=names.case_order)),
    )


@dataclass(frozen=True, kw_only=True)
class Distinction:
    recipe: str | None
    options: tuple[tuple[str, str], ...]

    def names(self, words: Words, *, script_alone: bool = False) -> tuple[Rendered, ...]:
        script = (words.same(self.recipe),) if self.recipe else ()
        return (*script, *(options.option(*pair, words) for pair in self.options if not script_alone))


def distinctions(cases: Iterable[Case]) -> dict[str, Distinction]:
    """Case id → what tells it from the others: the script among those of its framework, options that not all share."""
    told = tuple(cases)
    scripts = Counter(framework for framework, _ in {(case.framework, case.recipe) for case in told})
    counts = Counter(pair for case in told for pair in case.options)
    return {
        case.id: Distinction(
            recipe=case.recipe if scripts[case.framework] > 1 else None,
            options=tuple(pair for pair in case.options if counts[pair] < len(told)),
        )
        for case in told
    }

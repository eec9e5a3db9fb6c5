"""Results tables: one for each batch policy, with the frameworks as rows and the scales as columns.

A policy is one batch size for all, or `max`: of each framework the most that fits, where somebody has declared it so.

What differs in precision, compiler or options stands in the same table, a group of rows for each: the rows of a group
may be compared with each other. Batch sizes that one framework alone was run with share one table of their own.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

from evalsuite.model import Case, Interval, Summary
from evalsuite.report.book import cells
from evalsuite.report.book.blocks import Block, Column
from evalsuite.report.book.book import Book
from evalsuite.report.book.cells import Cell, of_all
from evalsuite.report.text import names
from evalsuite.results.compare import winners
from evalsuite.results.compare.ranking import WORK

CellOf = Callable[[Book, Case], Cell]
NEVER = ("unsupported", "not_planned")  # states of a case that nobody will ever run


def shared_options(blocks: Sequence[Block]) -> tuple[tuple[str, str], ...]:
    """The options that all of some *blocks* have, with one value."""
    return tuple(pair for pair in blocks[0].options if all(pair in block.options for block in blocks))


@dataclass(frozen=True, kw_only=True)
class SeriesRow:
    """One framework in one setting over the scales of the table."""

    block: Block
    column: Column
    cells: tuple[Cell, ...]
    opens: bool = False  # the first of its block: here the block's anchors stand
    marks: tuple[str, ...] = ()  # that all its values carry, and not all of the table's
    n: int | None = None  # runs of each of its values, where the values of the table differ in it

    @property
    def batch(self) -> int:
        """Of each device, or of the whole job in a block of strong scaling."""
        return self.block.batch


@dataclass(frozen=True, kw_only=True)
class Comparable:
    """The rows of one block with one setting of the compiler: what may be ranked."""

    block: Block
    xla: bool
    rows: tuple[SeriesRow, ...]


@dataclass(frozen=True, kw_only=True)
class Grid:
    """One table: a value for each series and scale; what holds for all of them is said once."""

    groups: tuple[Comparable, ...]
    marks: tuple[str, ...]  # that every value carries
    n: int | None  # runs of every value, where they are as many

    @property
    def rows(self) -> tuple[SeriesRow, ...]:
        return tuple(row for group in self.groups for row in group.rows)

    @property
    def of_one(self) -> bool:
        """Whether each of several groups is a row of the same framework: what it is run with is then its name."""
        one_each = len(self.groups) > 1 and all(len(group.rows) == 1 for group in self.groups)
        return one_each and len({row.column.title for row in self.rows}) == 1

    @property
    def legend(self) -> tuple[str, ...]:
        marks = (mark for row in self.rows for mark in row.marks)
        return cells.legend((cell for row in self.rows for cell in row.cells), *marks)

    @property
    def has_best(self) -> bool:
        return any(cell.best for row in self.rows for cell in row.cells)


@dataclass(frozen=True, kw_only=True)
class BatchPolicy:
    """The blocks that stand in one table: those of one batch size, or each of a batch size of its own."""

    blocks: tuple[Block, ...]
    mixed: bool = False  # of several batch sizes
    maximal: bool = False  # each declared to be the most that fits

    @property
    def id(self) -> str:
        only = self.blocks[0]
        return only.id if len(self.blocks) == 1 else names.anchor("p", " ".join(block.id for block in self.blocks))

    @property
    def unit(self) -> str:
        return self.blocks[0].unit

    @property
    def summaries(self) -> tuple[Summary, ...]:
        return tuple(one for block in self.blocks for one in block.valid)

    @cached_property
    def scales(self) -> tuple[tuple[int, int], ...]:
        """(nodes, devices per node) of all blocks."""
        found = {scale for block in self.blocks for scale in block.scales}
        return tuple(sorted(found, key=lambda scale: (scale[0] * scale[1], scale[0])))

    @property
    def shared_options(self) -> tuple[tuple[str, str], ...]:
        return shared_options(self.blocks)

    @property
    def precisions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(block.precision for block in self.blocks))

    @property
    def drawn_first(self) -> str:
        """The block whose first figure stands open below the table: the one that compares most series."""
        return max(self.blocks, key=lambda block: len(block.columns)).id

    @property
    def strong(self) -> bool:
        return self.blocks[0].strong

    @property
    def has_scaling(self) -> bool:
        return any(block.has_scaling for block in self.blocks)

    @property
    def base_devices(self) -> tuple[int, ...]:
        return tuple(sorted({one.base.total_devices for one in self.summaries if one.base}))

    @property
    def coverages(self) -> tuple[float, ...]:
        return _coverages(one.items_per_s for one in self.summaries)

    @property
    def ratio_coverages(self) -> tuple[float, ...]:
        return _coverages(one.speedup for one in self.summaries if one.speedup)

    @property
    def has_ratio_ranges(self) -> bool:
        return any(one.speedup.is_range for one in self.summaries if one.speedup)

    @cached_property
    def throughput(self) -> Grid:
        return self._grid(cells.throughput_cell, ranked=True)

    @cached_property
    def speedup(self) -> Grid:
        return self._grid(cells.speedup_cell)

    @cached_property
    def efficiency(self) -> Grid:
        return self._grid(cells.efficiency_cell)

    @cached_property
    def per_device(self) -> Grid:
        return self._grid(cells.per_device_cell)

    @property
    def unsupported(self) -> tuple[Comparable, ...]:
        """The series that cannot be run at any scale: a sentence below the table names them."""
        return tuple(_groups(self._rows(cells.throughput_cell, served=False)))

    def _grid(self, cell_of: CellOf, *, ranked: bool = False) -> Grid:
        groups = tuple(_groups(self._rows(cell_of, served=True)))
        if ranked:
            groups = tuple(_with_leaders(group, self.scales) for group in groups)
        return _exceptions(groups, one_base=len(self.base_devices) < 2)

    def _rows(self, cell_of: CellOf, *, served: bool) -> Iterable[SeriesRow]:
        for block in self.blocks:
            opens = True
            for column in sorted(block.columns, key=lambda column: column.xla):
                found = tuple(block.cell(column, nodes, per_node, cell_of) for nodes, per_node in self.scales)
                if served != all(cell.state in NEVER for cell in found):
                    yield SeriesRow(block=block, column=column, cells=found, opens=opens)
                    opens = False


def _coverages(found: Iterable[Interval]) -> tuple[float, ...]:
    return tuple(sorted({one.coverage for one in found if one.coverage is not None}))


def policies(blocks: Sequence[Block]) -> tuple[BatchPolicy, ...]:
    """The results tables of one model: those that compare most frameworks first."""
    maximal = [block for block in blocks if _is_maximal(block)]
    fixed = [block for block in blocks if block not in maximal]
    tables = [list(same) for _, same in groupby(sorted(fixed, key=_policy), key=_policy)]
    shared = [BatchPolicy(blocks=tuple(sorted(same, key=_place))) for same in tables if _frameworks(same) > 1]
    alone = [block for same in tables if _frameworks(same) < 2 for block in same]
    found = sorted(shared, key=lambda policy: -max(_frameworks([block]) for block in policy.blocks))
    for _, same in groupby(sorted(maximal, key=_kind), key=_kind):
        found.append(replace(_alone(sorted(same, key=_place)), maximal=True))
    for _, same in groupby(sorted(alone, key=_kind), key=_kind):
        found.append(_alone(sorted(same, key=lambda block: (block.batch, _place(block)))))
    return tuple(found)


def _alone(blocks: Sequence[Block]) -> BatchPolicy:
    return BatchPolicy(blocks=tuple(blocks), mixed=len({block.batch for block in blocks}) > 1)


def _is_maximal(block: Block) -> bool:
    """Whether all its cases are declared to have the largest batch that fits; a sweep alone does not say so."""
    return all(case.batch_policy == "max" for case in block.cases)


def _kind(block: Block) -> tuple[object, ...]:
    """What stands in no table together, whatever the batch size."""
    steps = (block.protocol.warmup_steps, block.protocol.measured_steps)
    return (block.device, block.strong, block.unit, tuple(pair for pair in block.options if pair[0] in WORK), steps)


def _policy(block: Block) -> tuple[object, ...]:
    return (block.batch, *_kind(block))


def _place(block: Block) -> tuple[object, ...]:
    """Full precision first, then what the script does of itself before what an option changes."""
    known = list(names.PRECISIONS)
    precision = known.index(block.precision) if block.precision in known else len(known)
    return (precision, block.precision, block.options)


def _frameworks(blocks: Iterable[Block]) -> int:
    return len({column.framework for block in blocks for column in block.columns})


def _groups(rows: Iterable[SeriesRow]) -> Iterable[Comparable]:
    for (_, xla), same in groupby(rows, key=lambda row: (row.block.id, row.column.xla)):
        found = tuple(same)
        yield Comparable(block=found[0].block, xla=xla, rows=found)


def _with_leaders(group: Comparable, scales: Sequence[tuple[int, int]]) -> Comparable:
    bold = [winners.leaders([group.block.measured(row.column, *scale) for row in group.rows]) for scale in scales]
    rows = (
        replace(row, cells=tuple(replace(cell, best=place in bold[k]) for k, cell in enumerate(row.cells)))
        for place, row in enumerate(group.rows)
    )
    return replace(group, rows=tuple(rows))


def _exceptions(groups: tuple[Comparable, ...], *, one_base: bool) -> Grid:
    """The table with each mark and each n said where it holds: of all values, of a row, or of one cell."""
    given = [cell for group in groups for row in group.rows for cell in row.cells]
    said_of_all = of_all(given)
    marks, n = said_of_all.marks, said_of_all.n

    def without_shared(row: SeriesRow) -> SeriesRow:
        of_row = of_all(row.cells)
        own, own_n = tuple(mark for mark in of_row.marks if mark not in marks), of_row.n
        said = {*marks, *own}
        found = (
            replace(
                cell,
                marks=tuple(mark for mark in cell.marks if mark not in said),
                n=cell.n if n is None and own_n is None else None,
                base_devices=None if one_base else cell.base_devices,
            )
            for cell in row.cells
        )
        return replace(row, cells=tuple(found), marks=own, n=own_n if n is None else None)

    changed = (replace(group, rows=tuple(map(without_shared, group.rows))) for group in groups)
    return Grid(groups=tuple(changed), marks=marks, n=n)

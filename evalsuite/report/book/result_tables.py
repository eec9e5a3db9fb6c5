"""Results tables: one for all settings of the same kind, with the frameworks as rows and the scales as columns."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

from evalsuite.core.model import Summary
from evalsuite.report.book import cells
from evalsuite.report.book.blocks import Block, CellOf, Column
from evalsuite.report.book.cells import Cell
from evalsuite.report.text import names
from evalsuite.results.compare.decisions import WORK


@dataclass(frozen=True, kw_only=True)
class SeriesRow:
    block: Block
    column: Column
    cells: tuple[Cell, ...]


Group = tuple[SeriesRow, ...]  # of one block with one setting of the compiler: what may be ranked


@dataclass(frozen=True, kw_only=True)
class Grid:
    groups: tuple[Group, ...]
    marks: tuple[str, ...]  # that every value carries
    n: int | None  # runs of every value, where they are as many

    @property
    def rows(self) -> tuple[SeriesRow, ...]:
        return tuple(row for group in self.groups for row in group)

    @property
    def legend(self) -> tuple[str, ...]:
        return cells.legend(cell for row in self.rows for cell in row.cells)


@dataclass(frozen=True, kw_only=True)
class ResultsTable:
    blocks: tuple[Block, ...]

    @property
    def id(self) -> str:
        return names.anchor("r", " ".join(block.id for block in self.blocks))

    @property
    def unit(self) -> str:
        return self.blocks[0].unit

    @property
    def summaries(self) -> tuple[Summary, ...]:
        return tuple(summary for block in self.blocks for summary in block.valid)

    @cached_property
    def scales(self) -> tuple[tuple[int, int], ...]:
        scales = {scale for block in self.blocks for scale in block.scales}
        return tuple(sorted(scales, key=lambda scale: (scale[0] * scale[1], scale[0])))

    @property
    def has_scaling(self) -> bool:
        return any(block.has_scaling for block in self.blocks)

    @property
    def base_devices(self) -> tuple[int, ...]:
        return tuple(sorted({summary.base.total_devices for summary in self.summaries if summary.base}))

    @cached_property
    def throughput(self) -> Grid:
        return self._grid(cells.throughput_cell, ranked=True)

    @cached_property
    def speedup(self) -> Grid:
        return self._grid(cells.speedup_cell)

    def _grid(self, cell_of: CellOf, *, ranked: bool = False) -> Grid:
        rows = [_with_leaders(row, self.scales) if ranked else row for row in self._rows(cell_of)]
        marks, n = cells.of_all(cell for row in rows for cell in row.cells)
        shown = (replace(row, cells=tuple(cells.bare(cell, marks, n) for cell in row.cells)) for row in rows)
        groups = groupby(shown, key=lambda row: (row.block.id, row.column.example.xla))
        return Grid(groups=tuple(tuple(same) for _, same in groups), marks=marks, n=n)

    def _rows(self, cell_of: CellOf) -> Iterable[SeriesRow]:
        one_base = len(self.base_devices) < 2
        for block in self.blocks:
            for column in sorted(block.columns, key=lambda column: str(column.example.xla)):
                found = tuple(block.cell(column, nodes, per_node, cell_of) for nodes, per_node in self.scales)
                told = tuple(replace(cell, base_devices=None) for cell in found) if one_base else found
                yield SeriesRow(block=block, column=column, cells=told)


def tables(blocks: Sequence[Block]) -> tuple[ResultsTable, ...]:
    found = groupby(sorted(blocks, key=_kind), key=_kind)
    return tuple(ResultsTable(blocks=tuple(sorted(same, key=_place))) for _, same in found)


def _kind(block: Block) -> tuple[object, ...]:
    steps = (block.protocol.warmup_steps, block.protocol.measured_steps)
    return (block.device, block.strong, block.unit, tuple(pair for pair in block.options if pair[0] in WORK), steps)


def _place(block: Block) -> tuple[object, ...]:
    """Full precision first, then what the script does of itself before what an option changes."""
    known = list(names.PRECISIONS)
    precision = known.index(block.precision) if block.precision in known else len(known)
    return (precision, block.precision, block.batch, names.options_order(block.options))


def _with_leaders(row: SeriesRow, scales: Sequence[tuple[int, int]]) -> SeriesRow:
    summaries, ahead = [row.block.measured(row.column, *scale) for scale in scales], row.block.book.ahead
    bold = [summary is not None and summary.case.id in ahead for summary in summaries]
    return replace(row, cells=tuple(replace(cell, best=best) for cell, best in zip(row.cells, bold, strict=True)))

"""What each device computed, held and took, and the CPU time of a run, one row per case."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evalsuite.model import Case, Summary
from evalsuite.report.book.blocks import Block, Model, ToldApart, told_apart
from evalsuite.report.book.book import Book
from evalsuite.report.text import names, numbers
from evalsuite.report.text.numbers import Number
from evalsuite.results.rules import flops_and_energy


@dataclass(frozen=True, kw_only=True)
class TotalsCell:
    """A number and, where there are several ways to take it, the key of the one it was taken by."""

    number: Number
    method: str | None = None


@dataclass(frozen=True, kw_only=True)
class TotalsRow:
    """One case of the table."""

    case: Case
    notes: ToldApart  # from other rows of its framework
    cells: tuple[TotalsCell | None, ...]  # in the order of the table's columns; None: nothing says it

    @property
    def ref(self) -> str:
        return names.case_anchor(self.case)


@dataclass(frozen=True, kw_only=True)
class Totals:
    """The table of one block, without the columns that nothing stands in."""

    block: Block
    columns: tuple[str, ...]
    rows: tuple[TotalsRow, ...]


Cell = Callable[[Summary], TotalsCell | None]


def _tflops(one: Summary) -> TotalsCell | None:
    found = flops_and_energy.compute(one)
    return TotalsCell(number=numbers.quantity(found.tflops_per_device, "")) if found else None


def _mfu(one: Summary) -> TotalsCell | None:
    found = flops_and_energy.compute(one)
    return TotalsCell(number=numbers.percent(found.mfu)) if found and found.mfu is not None else None


def _printed(one: Summary) -> TotalsCell | None:
    held = flops_and_energy.peak_memory(one).printed_bytes
    return TotalsCell(number=numbers.memory(held)) if held else None


def _sampled(one: Summary) -> TotalsCell | None:
    held = flops_and_energy.peak_memory(one).sampled_bytes
    return TotalsCell(number=numbers.memory(held)) if held else None


def _energy(one: Summary) -> TotalsCell | None:
    found = flops_and_energy.energy(one)
    if found is None:
        return None
    return TotalsCell(number=numbers.quantity(found.joules_per_item, "J"), method=found.method.replace(" ", "_"))


def _cpu(one: Summary) -> TotalsCell | None:
    found = flops_and_energy.cpu_s(one)
    return TotalsCell(number=numbers.quantity(found, "s")) if found is not None else None


COLUMNS: dict[str, Cell] = {  # key of the heading → its cells
    "tflops": _tflops,
    "mfu": _mfu,
    "memory_printed": _printed,
    "memory_sampled": _sampled,
    "energy": _energy,
    "cpu": _cpu,
}


def totals(book: Book, models: Sequence[Model]) -> dict[str, Totals]:
    """Block id → its table, for the blocks of *models* that have one."""
    found = (_of_block(book, block) for model in models for block in model.blocks)
    return {one.block.id: one for one in found if one is not None}


def _of_block(book: Book, block: Block) -> Totals | None:
    listed = block.valid
    made = [(one, {key: cell(one) for key, cell in COLUMNS.items()}) for one in listed]
    columns = tuple(key for key in COLUMNS if any(cells[key] for _, cells in made))
    if not columns:
        return None
    notes = told_apart(one.case for one in listed)
    rows = tuple(
        TotalsRow(case=one.case, notes=notes[one.case.id], cells=tuple(cells[key] for key in columns))
        for one, cells in made
        if any(cells.values())
    )
    return Totals(block=block, columns=columns, rows=rows)

"""What holds for all values of a table is said once above it; a cell says only where it differs."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from evalsuite.report.book import states
from evalsuite.report.book.cells import Cell


@dataclass(frozen=True, kw_only=True)
class OfAll:
    """What all values of a table have in common."""

    marks: tuple[str, ...] = ()
    n: int | None = None  # runs of each value, where they are as many


def of_all(cells: Iterable[Cell]) -> OfAll:
    """The marks that every value carries, and the n of all of them; of two values at least."""
    found = [cell for cell in cells if cell.state == "value"]
    if len(found) < 2:
        return OfAll()
    counts = {cell.n for cell in found}
    return OfAll(
        marks=tuple(mark for mark in states.MARKS if all(mark in cell.marks for cell in found)),
        n=counts.pop() if len(counts) == 1 else None,
    )


def bare(cell: Cell, said: OfAll) -> Cell:
    """*cell* without what is said of all."""
    marks = tuple(mark for mark in cell.marks if mark not in said.marks)
    return replace(cell, marks=marks, n=cell.n if said.n is None else None)

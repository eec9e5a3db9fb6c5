"""Status cells: a value with its marks, or the reason for none.
An empty cell is a defect (docs/reading-a-report.md). What all values of a table share is printed once above it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from evalsuite.core.model import Case, Interval, Summary
from evalsuite.report.book.book import Book
from evalsuite.report.book.states import GLYPHS, MARKS, State
from evalsuite.report.text import names, numbers
from evalsuite.report.text.numbers import Form, Number

Pick = Callable[[Summary], Interval | None]


@dataclass(frozen=True, kw_only=True)
class Cell:
    state: State
    number: Number | None = None
    interval: Number | None = None
    n: int | None = None
    marks: tuple[str, ...] = ()  # keys of MARKS
    ref: str | None = None
    best: bool = False
    base_devices: int | None = None  # given where the base is not one device

    @property
    def glyph(self) -> str:
        return GLYPHS[self.state]

    @property
    def signs(self) -> str:
        return "".join(MARKS[mark] for mark in self.marks)


def throughput_cell(book: Book, case: Case) -> Cell:
    return _cell(book, case, lambda summary: summary.items_per_s, numbers.throughput)


def speedup_cell(book: Book, case: Case) -> Cell:
    cell = _cell(book, case, lambda summary: summary.speedup, numbers.speedup)
    base = book.valid_of[case.id].base if cell.state == "value" else None
    if base is None:
        return cell
    if base.id in book.valid_of and book.valid_of[base.id].disturbed and "disturbed" not in cell.marks:
        cell = replace(cell, marks=tuple(mark for mark in MARKS if mark in (*cell.marks, "disturbed")))
    return cell if base.total_devices == 1 else replace(cell, base_devices=base.total_devices)


def _cell(book: Book, case: Case, pick: Pick, form: Form) -> Cell:
    ref, summary = names.case_anchor(case), book.valid_of.get(case.id)
    if summary is None:
        return Cell(state=book.state(case), ref=ref if case.id in book.planned_of else None)
    interval = pick(summary)
    if interval is None:
        return Cell(state="no_base", ref=ref)
    return Cell(
        state="value",
        number=form(interval.value).to(ref),
        interval=numbers.interval(interval, numbers.rounded if form is numbers.throughput else form),
        n=summary.n,
        marks=book.marks(summary),
        ref=ref,
    )


def legend(cells: Iterable[Cell], *others: str) -> tuple[str, ...]:
    present = {key for cell in cells for key in (cell.state, *cell.marks)} | set(others)
    return tuple(key for key in (*MARKS, *GLYPHS) if key in present)


def of_all(cells: Iterable[Cell]) -> tuple[tuple[str, ...], int | None]:
    """The marks that every value carries, and the n of all of them; of two values at least."""
    valued = [cell for cell in cells if cell.state == "value"]
    if len(valued) < 2:
        return (), None
    counts, marks = {cell.n for cell in valued}, tuple(mark for mark in MARKS if all(mark in of.marks for of in valued))
    return marks, counts.pop() if len(counts) == 1 else None


def bare(cell: Cell, of_all_marks: tuple[str, ...], of_all_n: int | None) -> Cell:
    marks = tuple(mark for mark in cell.marks if mark not in of_all_marks)
    return replace(cell, marks=marks, n=cell.n if of_all_n is None else None)

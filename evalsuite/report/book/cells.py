"""Status cells: what stands at each point of the matrix, a value with its marks or the reason for none.

An empty cell is a defect (docs/report.md#states-and-marks): every point, planned or not, has a glyph, and every glyph a
sentence in the legend.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from evalsuite.findings import UnstableRepeats
from evalsuite.model import Case, Interval, Summary
from evalsuite.report.book.book import Book
from evalsuite.report.book.states import GLYPHS, MARKS, State
from evalsuite.report.text import names, numbers
from evalsuite.report.text.numbers import Form, Number

Pick = Callable[[Summary], Interval | None]  # takes a value out of a summary


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One point of a table."""

    state: State
    number: Number | None = None
    interval: Number | None = None
    n: int | None = None
    marks: tuple[str, ...] = ()  # keys of MARKS
    ref: str | None = None  # anchor of the case's receipt
    best: bool = False
    base_devices: int | None = None  # given where the base is not one device
    unstable: bool = False

    @property
    def glyph(self) -> str:
        return GLYPHS[self.state]

    @property
    def signs(self) -> str:
        return "".join(MARKS[mark] for mark in self.marks)


def throughput_cell(book: Book, case: Case) -> Cell:
    return _cell(book, case, lambda summary: summary.items_per_s, numbers.throughput)


def speedup_cell(book: Book, case: Case) -> Cell:
    return _scaled_cell(book, case, lambda summary: summary.speedup, numbers.speedup)


def efficiency_cell(book: Book, case: Case) -> Cell:
    return _scaled_cell(book, case, lambda summary: summary.efficiency, numbers.percent)


def per_device_cell(book: Book, case: Case) -> Cell:
    return _cell(book, case, _per_device, numbers.throughput)


def _per_device(summary: Summary) -> Interval:
    whole, devices = summary.items_per_s, summary.case.total_devices
    low = None if whole.low is None else whole.low / devices
    high = None if whole.high is None else whole.high / devices
    return Interval(value=whole.value / devices, low=low, high=high, coverage=whole.coverage)


def _scaled_cell(book: Book, case: Case, pick: Pick, form: Form) -> Cell:
    cell = _cell(book, case, pick, form)
    base = book.valid_of[case.id].base if cell.state == "value" else None
    return cell if base is None or base.total_devices == 1 else replace(cell, base_devices=base.total_devices)


def _cell(book: Book, case: Case, pick: Pick, form: Form) -> Cell:
    """The cell of *case*: *pick* takes the value out of its summary, *form* prints it."""
    ref, summary = names.case_anchor(case), book.valid_of.get(case.id)
    if summary is None:
        return Cell(state=book.state(case), ref=ref if case.id in book.planned_ids else None)
    found = pick(summary)
    if found is None:
        return Cell(state="no_base", ref=ref)
    return Cell(
        state="value",
        number=form(found.value).to(ref),
        interval=numbers.interval(found, form),
        n=summary.n,
        marks=book.marks(summary),
        ref=ref,
        unstable=any(isinstance(finding, UnstableRepeats) for finding in summary.findings),
    )


def lacking(*needed: Cell) -> str:
    """The state of the first of *needed* that holds no value, which is why there is nothing to compute from them."""
    return next((cell.state for cell in needed if cell.state != "value"), "missing")

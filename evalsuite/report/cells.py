"""Status cells: what stands at each point of the matrix, a value with its marks or the reason for none.

An empty cell is a defect (REPORT.md §5): every planned or unplanned point has a glyph, and every glyph a
sentence in the legend.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from evalsuite.model import Case, Evaluation, Finding, Interval, Measurement, Skip, Summary
from evalsuite.report import names, numbers
from evalsuite.report.numbers import Form, Number
from evalsuite.results.summary import counts

State = Literal[
    "value", "oom", "unsupported", "not_planned", "not_run", "failed", "timed_out", "invalid", "no_base", "missing"
]
GLYPHS: Mapping[str, str] = {
    "oom": "OOM",
    "unsupported": "N/S",
    "not_planned": "—",
    "not_run": "·",
    "failed": "✗",
    "timed_out": "⌛",
    "invalid": "⊘",
    "no_base": "n/b",
    "missing": "n/r",
}
MARKS: Mapping[str, str] = {
    "partial": "◐",
    "flagged": "⚠",
    "cited": "†",
    "digitised": "‡",
    "simulated": "≈",
}
# PyTorch "CUDA out of memory", Paddle "Out of memory error", TensorFlow "OOM when allocating tensor" and
# "ResourceExhaustedError", C++ "std::bad_alloc"
OUT_OF_MEMORY = re.compile(r"out of memory|\bOOM\b|bad_alloc|ResourceExhausted|Cannot allocate memory", re.IGNORECASE)
WORST_FIRST = ("oom", "timed_out", "failed", "invalid")


LARGE = 200  # planned cases; from here on a page shows less twice (REPORT.md §2, size budget)
HUGE = 1_000  # from here on each model has a page of its own beside that of the report


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


@dataclass(frozen=True, kw_only=True)
class Book:
    """An evaluation, indexed and put into the order of the page."""

    evaluation: Evaluation
    hidden: frozenset[str] = field(default=frozenset())
    part: str = ""  # the model that this is the part of, where one page cannot hold the report

    @cached_property
    def summaries(self) -> tuple[Summary, ...]:
        return tuple(sorted(self.evaluation.summaries, key=lambda one: names.case_order(one.case)))

    @cached_property
    def summary_of(self) -> dict[str, Summary]:
        return {one.case.id: one for one in self.summaries}

    @cached_property
    def skips(self) -> tuple[Skip, ...]:
        return tuple(sorted(self.evaluation.skips, key=lambda skip: (names.case_order(skip.case), skip.reason)))

    @cached_property
    def skip_of(self) -> dict[str, Skip]:
        return {skip.case.id: skip for skip in self.skips}

    @cached_property
    def planned(self) -> tuple[Case, ...]:
        """All cases that were asked for: the plan's, the skipped ones, and any that was run all the same."""
        found = {case.id: case for case in self.evaluation.planned}
        found |= {skip.case.id: skip.case for skip in self.skips}
        found |= {one.case.id: one.case for one in self.summaries}
        return tuple(sorted(found.values(), key=names.case_order))

    @cached_property
    def planned_ids(self) -> frozenset[str]:
        return frozenset(case.id for case in self.planned)

    @property
    def large(self) -> bool:
        return bool(self.part) or len(self.planned) > LARGE

    @property
    def huge(self) -> bool:
        return not self.part and len(self.planned) > HUGE

    @cached_property
    def measurements(self) -> tuple[Measurement, ...]:
        return tuple(measurement for one in self.summaries for measurement in one.measurements)

    @cached_property
    def valid(self) -> tuple[Summary, ...]:
        return tuple(one for one in self.summaries if one.items_per_s is not None)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Every finding once, wherever it was noted."""
        everywhere = [
            *self.evaluation.findings,
            *(finding for one in self.summaries for finding in one.findings),
            *(finding for measurement in self.measurements for finding in measurement.findings),
        ]
        return tuple(sorted(dict.fromkeys(everywhere), key=finding_order))

    @cached_property
    def frameworks(self) -> tuple[str, ...]:
        found = {case.framework for case in self.planned}
        return tuple(sorted(found, key=lambda name: (names.framework(name).casefold(), name)))

    @cached_property
    def models(self) -> tuple[str, ...]:
        return tuple(sorted({case.model for case in self.planned}, key=names.model_order))

    def state(self, case: Case) -> State:
        """What became of *case*."""
        summary = self.summary_of.get(case.id)
        if summary is not None and summary.items_per_s is not None:
            return "value"
        if summary is not None and summary.measurements:
            return ended(summary.measurements)
        if case.id in self.skip_of:
            return self.skip_of[case.id].kind
        return "not_run" if case.id in self.planned_ids else "not_planned"

    def marks(self, summary: Summary) -> tuple[str, ...]:
        found = [summary.origin] if summary.origin in MARKS else []
        if summary.partial:
            found.append("partial")
        if any(finding.severity == "flag" for finding in self.findings_of(summary)):
            found.append("flagged")
        return tuple(found)

    def findings_of(self, summary: Summary) -> list[Finding]:
        return [*summary.findings, *(finding for run in summary.measurements for finding in run.findings)]


def finding_order(finding: Finding) -> tuple:
    level = ("reject", "exclude", "flag", "note").index(finding.severity)
    return (level, finding.code, finding.values, finding.text, finding.where)


def ended(measurements: Iterable[Measurement]) -> State:
    """How a case without any valid run ended: the most frequent end, the graver one where two are level."""
    ends = Counter(how(measurement) for measurement in measurements)
    return min(ends, key=lambda end: (-ends[end], WORST_FIRST.index(end)))


def how(measurement: Measurement) -> State:
    """How one run that counts for nothing ended."""
    if measurement.status == "timed_out":
        return "timed_out"
    if OUT_OF_MEMORY.search(measurement.reason):
        return "oom"
    return "failed" if measurement.status in ("failed", "incomplete") else "invalid"


def run_state(measurement: Measurement) -> State:
    return "value" if counts(measurement) else how(measurement)


def throughput_cell(book: Book, case: Case) -> Cell:
    return _cell(book, case, lambda summary: summary.items_per_s, numbers.throughput)


def speedup_cell(book: Book, case: Case) -> Cell:
    return _scaled_cell(book, case, lambda summary: summary.speedup, numbers.speedup)


def efficiency_cell(book: Book, case: Case) -> Cell:
    return _scaled_cell(book, case, lambda summary: summary.efficiency, numbers.percent)


def per_device_cell(book: Book, case: Case) -> Cell:
    return _cell(book, case, lambda summary: _per_device(summary), numbers.throughput)


def _per_device(summary: Summary) -> Interval:
    whole, devices = summary.items_per_s, summary.case.total_devices
    low = None if whole.low is None else whole.low / devices
    high = None if whole.high is None else whole.high / devices
    return Interval(value=whole.value / devices, low=low, high=high, coverage=whole.coverage)


def _scaled_cell(book: Book, case: Case, pick, form: Form) -> Cell:
    cell = _cell(book, case, pick, form)
    summary = book.summary_of.get(case.id)
    if cell.state != "value" or summary.base is None or summary.base.total_devices == 1:
        return cell
    return Cell(**{**vars(cell), "base_devices": summary.base.total_devices})


def _cell(book: Book, case: Case, pick, form: Form) -> Cell:
    """The cell of *case*: *pick* takes the value out of its summary, *form* prints it."""
    state, ref = book.state(case), names.case_anchor(case)
    if state != "value":
        return Cell(state=state, ref=ref if case.id in book.planned_ids else None)
    summary = book.summary_of[case.id]
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
        unstable=any(finding.code == "D08_unstable" for finding in summary.findings),
    )


def lacking(*needed: Cell) -> str:
    """The state of the first of *needed* that holds no value, which is why there is nothing to compute from them."""
    return next((cell.state for cell in needed if cell.state != "value"), "missing")

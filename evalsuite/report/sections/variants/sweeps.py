"""Throughput against the batch size per device or an option: series of cases that differ in nothing else."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any

from evalsuite.core.model import Case, Summary, by_key
from evalsuite.report import figures
from evalsuite.report.book import cells
from evalsuite.report.book.blocks import Distinction, Model, distinctions
from evalsuite.report.book.book import Book
from evalsuite.report.book.cells import Cell, OfAll
from evalsuite.report.book.result_tables import policies
from evalsuite.report.figures import Look
from evalsuite.report.sections.common.captioned_figure import CaptionedFigure, ends, label, low_and_high, median
from evalsuite.report.text import names, numbers, options
from evalsuite.report.text.words import Rendered, Text, Words

BATCH = attrgetter("batch_per_device")
FEWEST_VALUES = 3  # of an option, for a line over it


@dataclass(frozen=True, kw_only=True)
class Sweep:
    example: Case
    points: tuple[tuple[Case, Cell, Summary | None], ...]
    notes: Distinction

    def name(self, words: Words) -> Rendered:
        parts: list[Rendered | str] = [names.framework(self.example.framework), *["XLA"] * bool(self.example.xla)]
        parts += self.notes.names(words)
        return options.apart(parts, words)


def sweeps(book: Book, model: Model) -> tuple[Sweep, ...]:
    cases = [case for block in model.blocks for case in block.cases]
    return _sweeps(book, cases, BATCH, lambda case: replace(case, batch_per_device=1), fewest=2)


def _sweeps(
    book: Book, cases: Iterable[Case], size: Callable[[Case], int], without: Callable[[Case], Case], *, fewest: int
) -> tuple[Sweep, ...]:
    groups = by_key((without(case), case) for case in cases)
    notes = distinctions(case for group in groups.values() for case in group)
    return tuple(
        Sweep(
            example=group[0],
            notes=notes[group[0].id],
            points=tuple(
                (case, cells.throughput_cell(book, case), book.valid_of.get(case.id))
                for case in sorted(group, key=size)
            ),
        )
        for group in groups.values()
        if len(set(map(size, group))) >= fewest
    )


def of_option(book: Book, model: Model) -> tuple[str, tuple[Sweep, ...]]:
    """What grows with an option: its name, and all frameworks in the setting that has most values of it; else none."""
    cases = [case for block in model.blocks for case in block.cases]
    for option in sorted({name for case in cases for name, value in case.options if value.isdecimal()}):
        stated = [case for case in cases if _value(option, case)]
        own = _sweeps(book, stated, partial(_value, option), partial(_without, option), fewest=FEWEST_VALUES)
        if own:
            most = max(own, key=lambda sweep: (len(sweep.points), sweep.example.total_devices)).example
            setting = partial(_without, option, framework="", recipe="")
            alike = [sweep for sweep in own if setting(sweep.example) == setting(most)]
            notes = distinctions(sweep.example for sweep in alike)
            return option, tuple(replace(sweep, notes=notes[sweep.example.id]) for sweep in alike)
    return "", ()


def _value(option: str, case: Case) -> int:
    text = case.option(option) or ""
    return int(text) if text.isdecimal() else 0


def _without(option: str, case: Case, **alike: Any) -> Case:
    return replace(case, options=tuple(pair for pair in case.options if pair[0] != option), **alike)


@dataclass(frozen=True, kw_only=True)
class SweepRow:
    sweep: Sweep
    cells: tuple[Cell, ...]


@dataclass(frozen=True, kw_only=True)
class SweepTable:
    scale: str
    sizes: tuple[int, ...]
    rows: tuple[SweepRow, ...]
    of_all: OfAll

    @property
    def groups(self) -> list[tuple[str, list[SweepRow]]]:
        return [(name, list(same)) for name, same in groupby(self.rows, key=lambda row: row.sweep.example.precision)]

    @property
    def legend(self) -> tuple[str, ...]:
        return cells.legend(cell for row in self.rows for cell in row.cells)


def at_one_scale(sweeps: Sequence[Sweep]) -> tuple[Sweep, ...]:
    smallest = min(((sweep.example.total_devices, sweep.example.nodes) for sweep in sweeps), default=None)
    return tuple(sweep for sweep in sweeps if (sweep.example.total_devices, sweep.example.nodes) == smallest)


def table(sweeps: Sequence[Sweep]) -> SweepTable:
    shown = at_one_scale(sweeps)
    sizes = sorted({case.batch_per_device for sweep in shown for case, *_ in sweep.points})
    precisions = list(dict.fromkeys(sweep.example.precision for sweep in shown))
    in_order = sorted(shown, key=lambda sweep: precisions.index(sweep.example.precision))
    rows, shared = cells.lift_shared(SweepRow(sweep=sweep, cells=_cells(sweep, sizes)) for sweep in in_order)
    return SweepTable(scale=names.scale(shown[0].example), sizes=tuple(sizes), rows=rows, of_all=shared)


def _cells(sweep: Sweep, sizes: Sequence[int]) -> tuple[Cell, ...]:
    given = {case.batch_per_device: cell for case, cell, _ in sweep.points}
    return tuple(given.get(size, Cell(state="not_planned")) for size in sizes)


def draw_sweeps(model: Model, sweeps: Sequence[Sweep], look: Look, words: Words) -> CaptionedFigure | None:
    shown = at_one_scale(sweeps)
    lines = tuple(_line(sweep, BATCH, names.precision(sweep.example.precision), words) for sweep in shown)
    figure = figures.size_sweep(lines, look, id=names.anchor("f-b", model.name), unit=", ".join(model.units))
    if figure.svg is None:
        return None
    named = {figures.row_name(line): sweep for line, sweep in zip(lines, shown, strict=True)}
    labels = tuple(
        options.apart([sweep.name(words), names.precision(sweep.example.precision)], words)  # those of all precisions
        for sweep in (named[str(row[0])] for row in figure.table.rows)
    )
    return CaptionedFigure(
        figure=figure,
        title=_title(shown, words),
        reading=(words("sweep.see"),),
        labels=labels,
        tables=((f"{model.id}-sweep-table", words("sweep.tables")),),
    )


def draw_option(model: Model, option: str, sweeps: Sequence[Sweep], look: Look, words: Words) -> CaptionedFigure | None:
    lines = tuple(_line(sweep, partial(_value, option), "", words) for sweep in sweeps)
    figure = figures.size_sweep(
        lines, look, id=names.anchor("f-o", model.name), unit=", ".join(model.units), key=option
    )
    if figure.svg is None:
        return None
    shown, example = {case.id for sweep in sweeps for case, *_ in sweep.points}, _without(option, sweeps[0].example)
    tables = [
        policy.id
        for policy in policies(model.blocks)
        if shown & {case.id for each in policy.blocks for case in each.cases}
    ]
    setting = [options.option(name, value, words) for name, value in example.options]
    size = names.bsz(example.batch_per_device, strong=False)
    about = options.apart([names.scale(example), names.precision(example.precision), size, *setting], words)
    return CaptionedFigure(
        figure=figure,
        title=_title(sweeps, words, options.title(option, words)),
        reading=(words("sweep.see_option", setting_text=about),),
        labels=tuple(words.same(str(row[0])) for row in figure.table.rows),
        tables=tuple((f"{id}-t", words("tables.throughput")) for id in tables),
    )


def _line(sweep: Sweep, size: Callable[[Case], int], panel: str, words: Words) -> figures.SweepLine:
    return figures.SweepLine(
        name=label(sweep.name(words)),
        framework=sweep.example.framework,
        points=tuple(_sweep_point(size(case), case, cell, summary) for case, cell, summary in sweep.points),
        panel=panel,
    )


def _title(shown: Sequence[Sweep], words: Words, option: Rendered | None = None) -> Text:
    gains = []
    for sweep in shown:
        ran = [summary for *_, summary in sweep.points if summary is not None]
        if len(ran) > 1:
            gain = numbers.change(ran[-1].items_per_s.value / ran[0].items_per_s.value - 1)
            name = (
                sweep.name(words)
                if option
                else words.listed([sweep.name(words), names.precision(sweep.example.precision)])
            )
            gains.append((gain.about(names.case_anchor(ran[-1].case)), name))
    ends = low_and_high(gains)
    if option:
        text = words("sweep.title_found_option", **ends, option_text=option) if ends else None
        return text or words("sweep.title_option", option_text=option)
    return words("sweep.title_found", **ends) if ends else words("sweep.title")


def _sweep_point(size: int, case: Case, cell: Cell, summary: Summary | None) -> figures.SweepPoint:
    low, high = ends(summary) or (None, None)
    return figures.SweepPoint(
        size=size, items_per_s=median(summary), low=low, high=high, oom=cell.state == "oom", ref=names.case_anchor(case)
    )

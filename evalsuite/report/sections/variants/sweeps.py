"""Throughput against the batch size per device: series of cases that differ in it and in nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from evalsuite.model import Case, Summary, by_key
from evalsuite.report import figures
from evalsuite.report.book import cells
from evalsuite.report.book.blocks import Distinction, Model, distinctions
from evalsuite.report.book.book import Book
from evalsuite.report.book.cells import Cell, OfAll
from evalsuite.report.figures import Look
from evalsuite.report.sections.common.captioned_figure import CaptionedFigure, ends, label, low_and_high, median
from evalsuite.report.text import names, numbers, options
from evalsuite.report.text.words import Rendered, Text, Words


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
    groups = by_key((replace(case, batch_per_device=1), case) for block in model.blocks for case in block.cases)
    notes = distinctions(case for group in groups.values() for case in group)
    return tuple(
        Sweep(
            example=group[0],
            notes=notes[group[0].id],
            points=tuple(
                (case, cells.throughput_cell(book, case), book.valid_of.get(case.id))
                for case in sorted(group, key=lambda case: case.batch_per_device)
            ),
        )
        for group in groups.values()
        if len({case.batch_per_device for case in group}) > 1
    )


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


def at_one_scale(found: Sequence[Sweep]) -> tuple[Sweep, ...]:
    smallest = min(((one.example.total_devices, one.example.nodes) for one in found), default=None)
    return tuple(one for one in found if (one.example.total_devices, one.example.nodes) == smallest)


def table(found: Sequence[Sweep]) -> SweepTable:
    shown = at_one_scale(found)
    sizes = sorted({case.batch_per_device for one in shown for case, *_ in one.points})
    precisions = list(dict.fromkeys(one.example.precision for one in shown))
    in_order = sorted(shown, key=lambda one: precisions.index(one.example.precision))
    rows, shared = cells.lift_shared(SweepRow(sweep=one, cells=_cells(one, sizes)) for one in in_order)
    return SweepTable(scale=names.scale(shown[0].example), sizes=tuple(sizes), rows=rows, of_all=shared)


def _cells(one: Sweep, sizes: Sequence[int]) -> tuple[Cell, ...]:
    given = {case.batch_per_device: cell for case, cell, _ in one.points}
    return tuple(given.get(size, Cell(state="not_planned")) for size in sizes)


def draw_sweeps(model: Model, found: Sequence[Sweep], look: Look, words: Words) -> CaptionedFigure | None:
    shown = at_one_scale(found)
    lines = tuple(
        figures.SweepLine(
            name=label(one.name(words)),
            framework=one.example.framework,
            points=tuple(_sweep_point(*point) for point in one.points),
            panel=names.precision(one.example.precision),
        )
        for one in shown
    )
    figure = figures.batch_sweep(lines, look, id=names.anchor("f-b", model.name), unit=", ".join(model.units))
    if figure.svg is None:
        return None
    named = {figures.row_name(line): one for line, one in zip(lines, shown, strict=True)}
    labels = tuple(
        options.apart([one.name(words), names.precision(one.example.precision)], words)  # those of all precisions
        for one in (named[str(row[0])] for row in figure.table.rows)
    )
    return CaptionedFigure(
        figure=figure,
        title=_title(shown, words),
        reading=(words("sweep.see"),),
        labels=labels,
        tables=((f"{model.id}-sweep-table", words("sweep.tables")),),
    )


def _title(shown: Sequence[Sweep], words: Words) -> Text:
    gains = []
    for one in shown:
        ran = [summary for *_, summary in one.points if summary is not None]
        if len(ran) > 1:
            gain = numbers.change(ran[-1].items_per_s.value / ran[0].items_per_s.value - 1)
            name = words.listed([one.name(words), names.precision(one.example.precision)])
            gains.append((gain.about(names.case_anchor(ran[-1].case)), name))
    ends = low_and_high(gains)
    return words("sweep.title_found", **ends) if ends else words("sweep.title")


def _sweep_point(case: Case, cell: Cell, summary: Summary | None) -> figures.SweepPoint:
    low, high = ends(summary) or (None, None)
    return figures.SweepPoint(
        batch_per_device=case.batch_per_device,
        items_per_s=median(summary),
        low=low,
        high=high,
        oom=cell.state == "oom",
        ref=names.case_anchor(case),
    )

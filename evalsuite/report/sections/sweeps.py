"""Throughput against the batch size per device: series of cases that differ in it and in nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evalsuite.model import Case, Summary
from evalsuite.report import figures
from evalsuite.report.book import cells
from evalsuite.report.book.blocks import Model, told_apart
from evalsuite.report.book.book import Book
from evalsuite.report.book.cells import Cell
from evalsuite.report.figures import Look
from evalsuite.report.sections.drawn import Drawn, ends, median
from evalsuite.report.text import names
from evalsuite.report.text.words import Words


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """One framework at one scale over batch sizes."""

    example: Case
    points: tuple[tuple[Case, Cell, Summary | None], ...]  # by batch size
    notes: tuple[str, ...] = ()  # what tells it from other series of its framework: script and options

    @property
    def title(self) -> str:
        case = self.example
        notes = [names.precision(case.precision), names.scale(case), *(["XLA"] if case.xla else []), *self.notes]
        return f"{names.framework(case.framework)} · {' · '.join(notes)}"

    @property
    def name(self) -> str:
        """Among series of one precision and scale."""
        return " · ".join((names.framework(self.example.framework), *["XLA"] * self.example.xla, *self.notes))


def sweeps(book: Book, model: Model) -> tuple[Sweep, ...]:
    """Series of cases that differ in the batch size per device alone, two sizes at least."""
    groups: dict[Case, list[Case]] = {}
    for block in model.blocks:
        for case in block.cases:
            groups.setdefault(replace(case, batch_per_device=1), []).append(case)
    notes = told_apart(case for group in groups.values() for case in group)
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


def drawn(model: Model, found: Sequence[Sweep], look: Look, words: Words) -> Drawn | None:
    """Throughput against the batch size per device, at the smallest scale."""
    smallest = min(one.example.total_devices for one in found)
    lines = tuple(
        figures.SweepLine(
            name=one.name,
            framework=one.example.framework,
            points=tuple(_sweep_point(*point) for point in one.points),
            panel=names.precision(one.example.precision),
        )
        for one in found
        if one.example.total_devices == smallest
    )
    figure = figures.batch_sweep(lines, look, id=names.anchor("f-b", model.name), unit=", ".join(model.units))
    if figure.svg is None:
        return None
    figure = replace(figure, axes=tuple(axis for axis in figure.axes if axis.key != "memory"), notes=())
    return Drawn(figure=figure, title=words("sweep.title"), reading=(words("sweep.see"),))


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

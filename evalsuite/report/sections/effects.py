"""What XLA and mixed precision change: pairs of cases that differ in one of them and in nothing else."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from evalsuite.model import Case, Summary
from evalsuite.report import figures
from evalsuite.report.book import cells
from evalsuite.report.book.blocks import Model
from evalsuite.report.book.book import Book
from evalsuite.report.book.cells import Cell
from evalsuite.report.figures import Look
from evalsuite.report.sections.drawn import Drawn, ends, median
from evalsuite.report.text import names, numbers
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Words
from evalsuite.results.fairness import obstacles, relative, setting

OPTIONS = ("xla", "amp")
CONDITION = {"xla": "xla", "amp": "precision"}  # option → its name among the conditions of a comparison
MOST_PAIRS_DRAWN = 40  # effects in one figure, for the same reason
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Effect:
    """One case without and with an option that is the only thing the two differ in."""

    option: str  # "xla" or "amp"
    off: Case
    on: Case
    off_cell: Cell
    on_cell: Cell
    off_summary: Summary | None
    on_summary: Summary | None
    ratio: Number | None
    interval: Number | None
    significant: bool | None  # None: too few repeats to tell

    @property
    def title(self) -> str:
        return names.framework(self.off.framework)

    @property
    def lacking(self) -> str:
        """The state of the case without which there is no ratio."""
        return cells.lacking(self.off_cell, self.on_cell)


def effects(book: Book, model: Model) -> tuple[Effect, ...]:
    """Every pair of planned cases that differ in XLA alone or in precision alone."""
    planned = {case.id: case for block in model.blocks for case in block.cases}
    found = []
    for case in planned.values():
        for option, on in (("xla", replace(case, xla=True)), ("amp", replace(case, precision="amp"))):
            if on != case and on.id in planned:
                found.append(_effect(book, option, case, on))
    return tuple(sorted(found, key=lambda one: (OPTIONS.index(one.option), names.case_order(one.off))))


def _effect(book: Book, option: str, off: Case, on: Case) -> Effect:
    before, after = book.valid_of.get(off.id), book.valid_of.get(on.id)
    about = setting(CONDITION[option])
    found = relative(after, before, about) if before and after and not obstacles(before, after, about) else None
    return Effect(
        option=option,
        off=off,
        on=on,
        off_cell=cells.throughput_cell(book, off),
        on_cell=cells.throughput_cell(book, on),
        off_summary=before,
        on_summary=after,
        ratio=numbers.speedup(found.ratio.value) if found else None,
        interval=numbers.interval(found.ratio, numbers.speedup) if found else None,
        significant=found.significant if found else None,
    )


def drawn(model: Model, found: Sequence[Effect], option: str, look: Look, words: Words) -> Drawn | None:
    """Dumbbells: throughput without and with one option; None where no pair has a value."""
    ours = [one for one in found if one.option == option]
    shown = furthest(ours, lambda one: one.ratio and one.ratio.raw)
    unit = ", ".join(model.units)
    pairs = tuple(_pair(one) for one in shown)
    figure = figures.dumbbell(pairs, look, id=names.anchor(f"f-o{option}", model.name), unit=unit)
    if figure.svg is None:
        return None
    reading = [words("effects.see")]
    if len(shown) < len(ours):
        reading.append(words("effects.most", shown=numbers.count(len(shown)), all=numbers.count(len(ours))))
    own = (f"{model.id}-effects-table", words("effects.title"))
    return Drawn(figure=figure, title=words(f"effects.{option}"), reading=tuple(reading), tables=(own,))


def furthest(found: Sequence[T], ratio_of: Callable[[T], float | None]) -> Sequence[T]:
    """Of many pairs those that change most, in their order; all where they fit into one figure."""
    if len(found) <= MOST_PAIRS_DRAWN:
        return found
    known = [one for one in found if ratio_of(one)]
    most = sorted(known, key=lambda one: -abs(math.log(ratio_of(one))))[:MOST_PAIRS_DRAWN]
    kept = {id(one) for one in most}
    return [one for one in found if id(one) in kept]


def _pair(one: Effect) -> figures.Pair:
    return figures.Pair(
        label=f"{one.title} {names.scale(one.off)} b{one.off.batch_per_device}",
        framework=one.off.framework,
        off=median(one.off_summary),
        on=median(one.on_summary),
        off_interval=ends(one.off_summary),
        on_interval=ends(one.on_summary),
        status=next((cell.glyph for cell in (one.off_cell, one.on_cell) if cell.state != "value"), ""),
        off_ref=names.case_anchor(one.off),
        on_ref=names.case_anchor(one.on),
    )

"""What one setting changes: pairs of cases that differ in it and in nothing else; here XLA and mixed precision."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evalsuite.model import Case, Interval, Score, Summary
from evalsuite.report import figures
from evalsuite.report.book import cells, unlike
from evalsuite.report.book.blocks import Model
from evalsuite.report.book.book import Book
from evalsuite.report.book.cells import Cell
from evalsuite.report.book.exceptions import OfAll, bare, of_all
from evalsuite.report.figures import Look
from evalsuite.report.sections.common.drawn import Drawn, ends, label, median
from evalsuite.report.sections.convergence import convergence
from evalsuite.report.text import names, numbers, options
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Listed, Rendered, Text, Words
from evalsuite.results.compare.fairness import Obstacle, Ratio, obstacles, relative, setting

OPTIONS = ("xla", "amp")
CONDITION = {"xla": "xla", "amp": "precision"}  # option → its name among the conditions of a comparison
MOST_PAIRS_DRAWN = 40  # effects in one figure, for the same reason


@dataclass(frozen=True, kw_only=True)
class Cost:
    """The final values of one metric before and after a change."""

    metric: str
    before: Score
    after: Score

    @property
    def difference(self) -> float:
        """In points."""
        return self.after.value - self.before.value

    @property
    def shown(self) -> tuple[Number, Number]:
        return convergence.number(self.before), convergence.number(self.after)

    @property
    def points(self) -> str:
        return convergence.points(self.difference)


@dataclass(frozen=True, kw_only=True)
class Effect:
    """Two cases that differ in one setting alone, and what that changes."""

    option: str  # "xla", "amp", or an option of the script
    before: Case
    after: Case
    before_cell: Cell
    after_cell: Cell
    before_summary: Summary | None
    after_summary: Summary | None
    obstacles: tuple[Obstacle, ...]  # why the two may not be compared
    found: Ratio | None  # after ÷ before; None with an obstacle, or where a case has no value
    cost: Cost | None = None  # None where a log prints no accuracy

    @property
    def title(self) -> str:
        return names.framework(self.before.framework)

    @property
    def values(self) -> tuple[str | None, str | None]:
        """Of a script's option; None = not given."""
        return self.before.option(self.option), self.after.option(self.option)

    @property
    def ratio(self) -> Interval | None:
        return self.found.ratio if self.found else None

    @property
    def shown(self) -> Number | None:
        return numbers.speedup(self.ratio.value) if self.ratio else None

    @property
    def interval(self) -> Number | None:
        return numbers.interval(self.ratio, numbers.speedup) if self.ratio else None

    @property
    def judged(self) -> str:
        """The key of what may be said of the ratio."""
        significant = self.found.significant if self.found else None
        return {True: "significant", False: "not_significant", None: "too_few"}[significant]

    @property
    def lacking(self) -> str:
        """The state of the case without which there is no ratio."""
        return cells.lacking(self.before_cell, self.after_cell)


def effect(book: Book, option: str, before: Case, after: Case) -> Effect:
    """What *option* changes between two cases that differ in nothing else."""
    a, b = book.valid_of.get(before.id), book.valid_of.get(after.id)
    purpose = setting(CONDITION.get(option, f"options.{option}"))
    found = obstacles(a, b, purpose) if a and b else ()
    return Effect(
        option=option,
        before=before,
        after=after,
        before_cell=cells.throughput_cell(book, before),
        after_cell=cells.throughput_cell(book, after),
        before_summary=a,
        after_summary=b,
        obstacles=found,
        found=relative(b, a, purpose) if a and b and not found else None,
    )


def told_once(found: Sequence[Effect]) -> tuple[tuple[Effect, ...], OfAll]:
    """The effects without what holds for all values of their table, and that."""
    said = of_all(cell for one in found for cell in (one.before_cell, one.after_cell))
    bared = (
        replace(one, before_cell=bare(one.before_cell, said), after_cell=bare(one.after_cell, said)) for one in found
    )
    return tuple(bared), said


def judged_alike(found: Iterable[Effect]) -> str | None:
    """The key of what may be said of every ratio, where it is the same of two at least: then it needs no column."""
    found = tuple(found)
    judged = [one.judged for one in found if one.ratio]
    alike = len(judged) > 1 and len(set(judged)) == 1 and not any(one.obstacles for one in found)
    return judged[0] if alike else None


def why(one: Effect, words: Words) -> Listed:
    """Why the two are not compared, in words."""
    return words.listed(unlike.sentence(each, words) for each in one.obstacles)


def effects(book: Book, model: Model) -> tuple[Effect, ...]:
    """Every pair of planned cases that differ in XLA alone or in precision alone."""
    planned = {case.id: case for block in model.blocks for case in block.cases}
    found = []
    for case in planned.values():
        for option, on in (("xla", replace(case, xla=True)), ("amp", replace(case, precision="amp"))):
            if on != case and on.id in planned:
                found.append(effect(book, option, case, on))
    return tuple(sorted(found, key=lambda one: (OPTIONS.index(one.option), names.case_order(one.before))))


def drawn(model: Model, found: Sequence[Effect], option: str, look: Look, words: Words) -> Drawn | None:
    """Dumbbells: throughput without and with one option; None where fewer than two frameworks have a value."""
    ours = [one for one in found if one.option == option and not one.obstacles]
    shown = furthest(ours)
    if len({one.before.framework for one in ours if one.ratio}) < 2:
        return None
    unit = ", ".join(model.units)
    pairs = tuple(_pair(one, words) for one in shown)
    figure = figures.dumbbell(pairs, look, id=names.anchor(f"f-o{option}", model.name), unit=unit)
    if figure.svg is None:
        return None
    reading = []
    if len(shown) < len(ours):
        reading.append(words("effects.most", shown=numbers.count(len(shown)), all=numbers.count(len(ours))))
    own = (f"{model.id}-effects-table", words("effects.title"))
    return Drawn(
        figure=figure,
        title=title(ours, words(f"effects.{option}"), words),
        reading=tuple(reading),
        help=words("effects.see"),
        tables=(own,),
    )


def title(found: Sequence[Effect], option: Text, words: Words, *, framework: bool = True) -> Text:
    """What the option changes least and most, of pairs that have a ratio; *option* alone where fewer than two have."""
    changes = _changes(found, framework=framework)
    return words("effects.title_found", option_text=option, **changes) if len(changes) > 2 else option


def alone(found: Sequence[Effect], option: str, words: Words) -> Text | None:
    """In a sentence what *option* changes where one framework alone has it: no figure is drawn of one."""
    ours = [one for one in found if one.option == option and not one.obstacles and one.ratio]
    if not ours or len({one.before.framework for one in ours}) > 1:
        return None
    key = "effects.alone" if len(ours) > 1 else "effects.alone_once"
    about = {"option_text": words(f"effects.{option}"), "framework": ours[0].title}
    return words(key, **about, **_changes(ours, framework=False))


def _changes(found: Sequence[Effect], *, framework: bool = True) -> dict[str, object]:
    """The least and the greatest change, each with its place; one of them where there is one pair alone."""
    known = sorted(((one.ratio.value - 1, one) for one in found if one.ratio), key=lambda each: each[0])
    ends = {"low": known[0], "high": known[-1]} if len(known) > 1 else {"low": known[0]} if known else {}
    said: dict[str, object] = {}
    for name, (share, one) in ends.items():
        place = [*([one.title] if framework else []), names.scale(one.after), f"bsz {one.after.batch_per_device}"]
        said |= {name: numbers.change(share).about(names.case_anchor(one.after)), f"{name}_name": " ".join(place)}
    return said


def _ends(ratio: Interval | None) -> tuple[float, float] | None:
    return (ratio.low, ratio.high) if ratio and ratio.low is not None and ratio.high is not None else None


def furthest(found: Sequence[Effect]) -> Sequence[Effect]:
    """Of many pairs those that change most, in their order; all where they fit into one figure."""
    if len(found) <= MOST_PAIRS_DRAWN:
        return found
    known = [(abs(math.log(one.ratio.value)), one) for one in found if one.ratio]
    most = sorted(known, key=lambda known: -known[0])[:MOST_PAIRS_DRAWN]
    kept = {id(one) for _, one in most}
    return [one for one in found if id(one) in kept]


def _pair(one: Effect, words: Words) -> figures.Dumbbell:
    """A row with what its recipe is told beside: two rows never have one name."""
    parts: list[Rendered | str] = [one.title, f"b{one.before.batch_per_device}"]
    parts += [options.option(*given, words) for given in one.before.options if given[0] != "image_size"]
    parts += [names.precision(one.before.precision)] if one.option == "xla" else ["XLA"] * one.before.xla
    return replace(pair(one, label(options.beside(parts, words))), devices=one.before.total_devices)


def pair(one: Effect, label: figures.Label) -> figures.Dumbbell:
    return figures.Dumbbell(
        label=label,
        framework=one.before.framework,
        off=median(one.before_summary),
        on=median(one.after_summary),
        off_interval=ends(one.before_summary),
        on_interval=ends(one.after_summary),
        ratio_interval=_ends(one.ratio),
        status=next((cell.glyph for cell in (one.before_cell, one.after_cell) if cell.state != "value"), ""),
        off_ref=names.case_anchor(one.before),
        on_ref=names.case_anchor(one.after),
    )

"""What one option changes: pairs of cases that differ in it and in nothing else."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from evalsuite.core.model import Case, Interval, Score, Summary
from evalsuite.report import figures
from evalsuite.report.book import cells, why_not_comparable
from evalsuite.report.book.blocks import Model
from evalsuite.report.book.book import Book
from evalsuite.report.book.cells import Cell
from evalsuite.report.figures import Look
from evalsuite.report.sections.common.captioned_figure import CaptionedFigure, label, low_and_high, median
from evalsuite.report.text import names, numbers, options
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Listed, Rendered, Text, Words
from evalsuite.results.compare.decisions import Evidence, decide
from evalsuite.results.compare.fairness import Obstacle, obstacles, setting
from evalsuite.results.measure.statistics import ratio_of_medians
from evalsuite.results.measure.summary import values

OPTIONS = ("xla", "amp")
CONDITION = {"xla": "xla", "amp": "precision"}  # option → its name among the conditions of a comparison
MOST_PAIRS_DRAWN = 40


@dataclass(frozen=True, kw_only=True)
class Cost:
    metric: str
    before: Score
    after: Score

    @property
    def difference(self) -> float:
        return self.after.value - self.before.value


@dataclass(frozen=True, kw_only=True)
class Effect:
    option: str  # "xla", "amp", or an option of the script
    before: Case
    after: Case
    before_cell: Cell
    after_cell: Cell
    before_summary: Summary | None
    after_summary: Summary | None
    obstacles: tuple[Obstacle, ...]
    ratio: Interval | None  # after ÷ before; None with an obstacle, or where a case has no value
    evidence: Evidence | None
    cost: Cost | None = None  # None where a log prints no accuracy

    @property
    def title(self) -> str:
        return names.framework(self.before.framework)

    @property
    def values(self) -> tuple[str | None, str | None]:
        return self.before.option(self.option), self.after.option(self.option)

    @property
    def shown(self) -> Number | None:
        return numbers.speedup(self.ratio.value) if self.ratio else None

    @property
    def interval(self) -> Number | None:
        return numbers.interval(self.ratio, numbers.speedup) if self.ratio else None

    @property
    def lacking(self) -> str:
        return cells.lacking(self.before_cell, self.after_cell)


def effect(book: Book, option: str, before: Case, after: Case) -> Effect:
    a, b = book.valid_of.get(before.id), book.valid_of.get(after.id)
    purpose = setting(CONDITION.get(option, f"options.{option}"))
    barred = obstacles(a, b, purpose) if a and b else ()
    ranked = book.decision_of.get(frozenset((before.id, after.id)))
    known = ranked if ranked and not ranked.obstacles else decide(a, b, purpose=purpose) if a and b else None
    return Effect(
        option=option,
        before=before,
        after=after,
        before_cell=cells.throughput_cell(book, before),
        after_cell=cells.throughput_cell(book, after),
        before_summary=a,
        after_summary=b,
        obstacles=barred,
        ratio=ratio_of_medians(values(b), values(a)) if a and b and not barred else None,
        evidence=known.evidence if known and not barred else None,
    )


def judged_alike(effects: Iterable[Effect]) -> str | None:
    effects = tuple(effects)
    judged = [effect.evidence for effect in effects if effect.ratio]
    if len(judged) < 2 or len(set(judged)) > 1 or any(effect.obstacles for effect in effects):
        return None
    return judged[0]


def why(effect: Effect, words: Words) -> Listed:
    return words.listed(why_not_comparable.sentence(each, words) for each in effect.obstacles)


def effects(book: Book, model: Model) -> tuple[Effect, ...]:
    planned = {case.id: case for block in model.blocks for case in block.cases}
    effects = []
    for case in planned.values():
        for option, on in (("xla", replace(case, xla=True)), ("amp", replace(case, precision="amp"))):
            if on != case and on.id in planned:
                effects.append(effect(book, option, case, on))
    return tuple(sorted(effects, key=lambda effect: (OPTIONS.index(effect.option), names.case_order(effect.before))))


def draw_options(
    model: Model, effects: Sequence[Effect], options: Iterable[str], look: Look, words: Words
) -> dict[str, CaptionedFigure]:
    figures_of = {}
    for option in options:
        ours = [effect for effect in effects if effect.option == option and not effect.obstacles]
        if len({effect.before.framework for effect in ours if effect.ratio}) > 1:
            drawn = draw_changes(
                ours,
                lambda effect: replace(pair(effect, label(_name(effect, words))), devices=effect.before.total_devices),
                look,
                words,
                id=names.anchor(f"f-o{option}", model.name),
                unit=", ".join(model.units),
                title=title(ours, words(f"effects.{option}"), words),
                help=words("effects.see"),
                table=(f"{model.id}-effects-table", words("effects.title")),
            )
            if drawn:
                figures_of[option] = drawn
    return figures_of


def draw_changes(
    effects: Sequence[Effect],
    pair_of: Callable[[Effect], figures.Dumbbell],
    look: Look,
    words: Words,
    *,
    id: str,
    unit: str,
    title: Text,
    help: Text,
    table: tuple[str, Rendered],
    sides: tuple[str, str] = ("off", "on"),
    reading: tuple[Text, ...] = (),
) -> CaptionedFigure | None:
    """Dumbbells of those that change most, in their order; None where nothing can be drawn."""
    shown = effects
    if len(effects) > MOST_PAIRS_DRAWN:
        sizes = {place: abs(math.log(effect.ratio.value)) for place, effect in enumerate(effects) if effect.ratio}
        most = sorted(sizes, key=lambda place: -sizes[place])[:MOST_PAIRS_DRAWN]
        shown = [effects[place] for place in sorted(most)]
    figure = figures.dumbbell(tuple(map(pair_of, shown)), look, id=id, unit=unit, ends=sides)
    if figure.svg is None:
        return None
    if len(shown) < len(effects):
        reading += (words("effects.most", shown=numbers.count(len(shown)), all=numbers.count(len(effects))),)
    return CaptionedFigure(figure=figure, title=title, reading=reading, help=help, tables=(table,))


def title(effects: Sequence[Effect], option: Text, words: Words, *, framework: bool = True) -> Text:
    changes = low_and_high(_changes(effects, framework=framework))
    return words("effects.title_found", option_text=option, **changes) if changes else option


def describe_alone(effects: Sequence[Effect], option: str, words: Words) -> Text | None:
    ours = [effect for effect in effects if effect.option == option and not effect.obstacles and effect.ratio]
    if not ours or len({effect.before.framework for effect in ours}) > 1:
        return None
    about = {"option_text": words(f"effects.{option}"), "framework": ours[0].title}
    changes = _changes(ours, framework=False)
    if len(ours) > 1:
        return words("effects.alone", **about, **low_and_high(changes))
    return words("effects.alone_once", **about, low=changes[0][0], low_name=changes[0][1])


def _changes(effects: Iterable[Effect], *, framework: bool) -> list[tuple[Number, str]]:
    return [
        (
            numbers.change(effect.ratio.value - 1).about(names.case_anchor(effect.after)),
            f"{effect.title} " * framework + f"{names.scale(effect.after)} bsz {effect.after.batch_per_device}",
        )
        for effect in effects
        if effect.ratio
    ]


def _name(effect: Effect, words: Words) -> Rendered:
    parts: list[Rendered | str] = [effect.title, f"b{effect.before.batch_per_device}"]
    parts += [options.option(*given, words) for given in effect.before.options if given[0] != "image_size"]
    parts += [names.precision(effect.before.precision)] if effect.option == "xla" else ["XLA"] * bool(effect.before.xla)
    return options.side_by_side(parts, words)


def pair(effect: Effect, label: figures.Label) -> figures.Dumbbell:
    ratio = effect.ratio
    return figures.Dumbbell(
        label=label,
        framework=effect.before.framework,
        off=median(effect.before_summary),
        on=median(effect.after_summary),
        ratio_interval=(ratio.low, ratio.high) if ratio and ratio.low is not None and ratio.high is not None else None,
        status=next((cell.glyph for cell in (effect.before_cell, effect.after_cell) if cell.state != "value"), ""),
        off_ref=names.case_anchor(effect.before),
        on_ref=names.case_anchor(effect.after),
    )

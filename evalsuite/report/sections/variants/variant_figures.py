"""The figures of variants: throughput, changes, accuracy over time (docs/report.md#variants)."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from evalsuite.model import Summary, by_key
from evalsuite.report import figures
from evalsuite.report.figures import Look
from evalsuite.report.sections.common.captioned_figure import CaptionedFigure, anchored, label
from evalsuite.report.sections.variants import effects, families
from evalsuite.report.sections.variants.effects import Effect
from evalsuite.report.sections.variants.families import Family, Setting
from evalsuite.report.text import candidates, names, numbers, options
from evalsuite.report.text.words import Words
from evalsuite.results.measure import convergence as room

MOST_FIGURES = 12
LEAST_LENGTH = 2
UNITS = ((3600.0, "h"), (60.0, "min"), (1.0, "s"))

Members = Sequence[tuple[Setting, Sequence[Summary]]]


def draw_families(found: Sequence[Family], look: Look, words: Words) -> dict[str, tuple[CaptionedFigure, ...]]:
    drawn: dict[str, tuple[CaptionedFigure, ...]] = {}
    left = MOST_FIGURES
    for family in found:
        own = figures.look([_key(each) for each in family.settings])
        lines = list(_lines(family, own, words))[:left]
        left -= len(lines)
        others = (_changes(family, look, words), _accuracy(family, own, words))
        drawn[family.id] = (*lines, *(one for one in others if one))
    return drawn


def _key(setting: Setting) -> str:
    return ", ".join(f"{name}={value}" for name, value in setting.values if value is not None) or "default"


def _lines(family: Family, own: Look, words: Words) -> Iterable[CaptionedFigure]:
    for batch in sorted({one.case.series_batch for one in family.summaries}):
        members = [(each, family.of(each, batch)) for each in family.settings]
        members = [(each, found) for each, found in members if found]
        scales = {one.case.total_devices for _, found in members for one in found}
        if len(members) > 1 and len(scales) > 1:
            yield _throughput(family, batch, members, own, words)


def _throughput(family: Family, batch: int, members: Members, own: Look, words: Words) -> CaptionedFigure:
    series = tuple(_series(setting, found, words) for setting, found in members)
    figure = figures.throughput(series, own, id=f"f-{family.id}-b{batch}", unit=names.visible(family.unit))
    printed = {
        figures.plain(each.name): setting.name(words) for each, (setting, _) in zip(series, members, strict=True)
    }
    strong = family.conditions.strong_batch is not None
    key = "variants.figure_lines_strong" if strong else "variants.figure_lines"
    return CaptionedFigure(
        figure=figure,
        title=words(key, framework=family.framework, batch=numbers.count(batch)),
        help=words("figures.throughput_see"),
        labels=tuple(printed[str(row[0])] for row in figure.table.rows),
    )


def _series(setting: Setting, found: Sequence[Summary], words: Words) -> figures.ScaleSeries:
    (series,) = figures.series_of(found, "items_per_s")
    return anchored(replace(series, name=label(setting.name(words)), framework=_key(setting)))


def _changes(family: Family, look: Look, words: Words) -> CaptionedFigure | None:
    alike = [
        one
        for one in family.changes
        if not one.obstacles
        and all(side is None or side.unit == family.unit for side in (one.before_summary, one.after_summary))
    ]
    bases = {family.setting_of(one.before) for one in alike}
    heading = words("variants.figure_changes", framework=family.framework)
    return effects.draw_changes(
        alike,
        lambda one: effects.pair(one, _row(family, one, words)),
        look,
        words,
        id=f"f-{family.id}-d",
        unit=names.visible(family.unit),
        title=effects.title(alike, heading, words, framework=False),
        reading=(words("variants.see_base", before=bases.pop().name(words)),) if len(bases) == 1 else (),
        help=words("variants.see_changes"),
        table=(family.id, words("variants.table")),
        sides=("before", "after"),
    )


def _row(family: Family, one: Effect, words: Words) -> figures.Label:
    where = f"{names.scale(one.after)} b{one.after.batch_per_device}"
    given = one.values[1]
    after = families.value(one.option, given, words)
    if len(family.settings[0].values) > 1:
        after = words("models.option", name_text=options.title(one.option, words), value=after)
    elif given:
        after = candidates.option_in_name(one.option, given, False, words)
    return label(options.side_by_side([where, after], words))


def _accuracy(family: Family, own: Look, words: Words) -> CaptionedFigure | None:
    known = ((metric, _fullest(family, metric)) for metric in families.METRICS)
    return next((_curves(family, metric, found, own, words) for metric, found in known if len(found) > 1), None)


def _fullest(family: Family, metric: str) -> Sequence[Summary]:
    groups = by_key(
        ((one.case.total_devices, one.case.nodes, one.case.batch_per_device), one)
        for one in family.summaries
        if len(_timed(one, metric)) > 1
    )
    most = max(groups.items(), key=lambda pair: (len(pair[1]), pair[0]), default=((), ()))[1]
    return sorted(most, key=lambda one: family.settings.index(family.setting_of(one.case)))


def _timed(one: Summary, metric: str) -> tuple[tuple[float, float], ...]:
    run = room.run_of(one)
    found = room.curve(run, "validation", metric) if run else ()
    return tuple((score.at_s, score.value) for score in found if score.at_s is not None)


def _curves(family: Family, metric: str, found: Sequence[Summary], own: Look, words: Words) -> CaptionedFigure:
    longest = max(at_s for one in found for at_s, _ in _timed(one, metric))
    factor, unit = next(((f, u) for f, u in UNITS if longest / f >= LEAST_LENGTH), UNITS[-1])
    curves = tuple(
        figures.Curve(
            name=label(family.setting_of(one.case).name(words)),
            key=_key(family.setting_of(one.case)),
            points=tuple((at_s / factor, value) for at_s, value in _timed(one, metric)),
            ref=names.case_anchor(one.case),
        )
        for one in found
    )
    said, case = words(f"scores.validation_{metric}"), found[0].case
    panel = figures.CurvePanel(label=label(said), curves=curves, unit="%")
    figure = figures.convergence((panel,), own, id=f"f-{family.id}-a", x_key="time", x_unit=unit)
    return CaptionedFigure(
        figure=figure,
        title=words("variants.figure_accuracy", framework=family.framework),
        reading=(words("variants.see_accuracy", scale=names.scale(case), batch=numbers.count(case.batch_per_device)),),
        labels=(said,) * len(figure.table.rows),
    )

"""The figures of variants: throughput, changes, accuracy over time (docs/report.md#variants)."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from evalsuite.core.model import Summary, by_key
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


def draw_families(families: Sequence[Family], look: Look, words: Words) -> dict[str, tuple[CaptionedFigure, ...]]:
    drawn: dict[str, tuple[CaptionedFigure, ...]] = {}
    left = MOST_FIGURES
    for family in families:
        own = figures.look([_key(each) for each in family.settings])
        lines = list(_lines(family, own, words))[:left]
        left -= len(lines)
        others = (_changes(family, look, words), _accuracy(family, own, words))
        drawn[family.id] = (*lines, *(figure for figure in others if figure))
    return drawn


def _key(setting: Setting) -> str:
    return ", ".join(f"{name}={value}" for name, value in setting.values if value is not None) or "default"


def _lines(family: Family, own: Look, words: Words) -> Iterable[CaptionedFigure]:
    for batch in sorted({summary.case.series_batch for summary in family.summaries}):
        members = [(each, family.of(each, batch)) for each in family.settings]
        members = [(each, summaries) for each, summaries in members if summaries]
        scales = {summary.case.total_devices for _, summaries in members for summary in summaries}
        if len(members) > 1 and len(scales) > 1:
            yield _throughput(family, batch, members, own, words)


def _throughput(family: Family, batch: int, members: Members, own: Look, words: Words) -> CaptionedFigure:
    series = tuple(_series(setting, summaries, words) for setting, summaries in members)
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


def _series(setting: Setting, summaries: Sequence[Summary], words: Words) -> figures.ScaleSeries:
    (series,) = figures.series_of(summaries, "items_per_s")
    return anchored(replace(series, name=label(setting.name(words)), framework=_key(setting)))


def _changes(family: Family, look: Look, words: Words) -> CaptionedFigure | None:
    alike = [
        effect
        for effect in family.changes
        if not effect.obstacles
        and all(side is None or side.unit == family.unit for side in (effect.before_summary, effect.after_summary))
    ]
    bases = {family.setting_of(effect.before) for effect in alike}
    heading = words("variants.figure_changes", framework=family.framework)
    return effects.draw_changes(
        alike,
        lambda effect: effects.pair(effect, _row(family, effect, words)),
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


def _row(family: Family, effect: Effect, words: Words) -> figures.Label:
    where = f"{names.scale(effect.after)} b{effect.after.batch_per_device}"
    given = effect.values[1]
    after = families.value(effect.option, given, words)
    if len(family.settings[0].values) > 1:
        after = words("models.option", name_text=options.title(effect.option, words), value=after)
    elif given:
        after = candidates.option_in_name(effect.option, given, False, words)
    return label(options.side_by_side([where, after], words))


def _accuracy(family: Family, own: Look, words: Words) -> CaptionedFigure | None:
    known = ((metric, _fullest(family, metric)) for metric in families.METRICS)
    return next((_curves(family, metric, rows, own, words) for metric, rows in known if len(rows) > 1), None)


def _fullest(family: Family, metric: str) -> Sequence[Summary]:
    groups = by_key(
        ((summary.case.total_devices, summary.case.nodes, summary.case.batch_per_device), summary)
        for summary in family.summaries
        if len(_timed(summary, metric)) > 1
    )
    most = max(groups.items(), key=lambda pair: (len(pair[1]), pair[0]), default=((), ()))[1]
    return sorted(most, key=lambda summary: family.settings.index(family.setting_of(summary.case)))


def _timed(summary: Summary, metric: str) -> tuple[tuple[float, float], ...]:
    run = room.run_of(summary)
    scores = room.curve(run, "validation", metric) if run else ()
    return tuple((score.at_s, score.value) for score in scores if score.at_s is not None)


def _curves(family: Family, metric: str, summaries: Sequence[Summary], own: Look, words: Words) -> CaptionedFigure:
    longest = max(at_s for summary in summaries for at_s, _ in _timed(summary, metric))
    factor, unit = next(((f, u) for f, u in UNITS if longest / f >= LEAST_LENGTH), UNITS[-1])
    curves = tuple(
        figures.Curve(
            name=label(family.setting_of(summary.case).name(words)),
            key=_key(family.setting_of(summary.case)),
            points=tuple((at_s / factor, value) for at_s, value in _timed(summary, metric)),
            ref=names.case_anchor(summary.case),
        )
        for summary in summaries
    )
    said, case = words(f"scores.validation_{metric}"), summaries[0].case
    panel = figures.CurvePanel(label=label(said), curves=curves, unit="%")
    figure = figures.convergence((panel,), own, id=f"f-{family.id}-a", x_key="time", x_unit=unit)
    return CaptionedFigure(
        figure=figure,
        title=words("variants.figure_accuracy", framework=family.framework),
        reading=(words("variants.see_accuracy", scale=names.scale(case), batch=numbers.count(case.batch_per_device)),),
        labels=(said,) * len(figure.table.rows),
    )

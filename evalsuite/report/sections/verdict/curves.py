"""Under an answer: throughput and speed-up over the scales of its setting."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from evalsuite.core.model import by_key
from evalsuite.report import figures
from evalsuite.report.book.book import Book
from evalsuite.report.figures import Look
from evalsuite.report.figures import as_picture as picture
from evalsuite.report.figures.data import Metric
from evalsuite.report.sections.common import captioned_figure
from evalsuite.report.sections.common.captioned_figure import CaptionedFigure
from evalsuite.report.sections.verdict import answers
from evalsuite.report.sections.verdict.answers import AnsweredQuestion
from evalsuite.report.text import names
from evalsuite.report.text.words import Rendered, Words

__all__ = ["draw", "picture"]


def draw(
    book: Book,
    questions: Sequence[AnsweredQuestion],
    look: Look,
    words: Words,
    block_of: Mapping[str, str] | None = None,
) -> Mapping[str, CaptionedFigure]:
    """Anchor of an answer → the figure of its setting.

    *block_of*: id of a case → id of the block of the page whose tables hold its numbers.
    """
    asked_of = () if book.huge else questions
    by_setting = by_key((asked.answer.setting, asked) for asked in asked_of)
    figures = {}
    for asked in by_setting.values():
        if len({asked.answer.devices for asked in asked}) > 1 and (drawn := _draw(asked, block_of or {}, look, words)):
            figures.update(dict.fromkeys((question.id for question in asked), drawn))
    return figures


def _draw(
    asked: Sequence[AnsweredQuestion], block_of: Mapping[str, str], look: Look, words: Words
) -> CaptionedFigure | None:
    unit = asked[0].unit
    named: dict[str, Rendered] = {}
    summaries = []
    for answer in (question.answer for question in asked):
        ranked, others = [item.summary for item in answer.ranked], [item for item in answer.apart if item.obstacles]
        for summary in (*ranked, *(entry.summary for entry in answer.apart)):
            if names.visible(summary.unit) == unit:
                name = answers.name(answer, summary, words)
                apart = any(entry.summary is summary for entry in others)
                named[summary.case.series] = words("figures.not_ranked", name_text=name) if apart else name
                summaries.append(summary)
    if len(named) < 2:
        return None
    summaries.sort(key=lambda summary: names.case_order(summary.case))
    labels = _told_apart({summary.case.series: summary.case.recipe for summary in summaries}, named)

    def series(metric: Metric) -> list[figures.Line]:
        series = figures.series_of(summaries, metric, {key: key for key in named})
        return [replace(each, name=labels[str(each.name)]) for each in series]

    block = block_of.get(summaries[0].case.id)
    whole, gains = tuple(series("items_per_s")), tuple(series("speedup"))
    id, far = f"f-{asked[0].id}", figures.reaches_far(whole)
    panel = figures.LinePanel(lines=whole, unit=unit, ideal="proportional", logarithmic=far)
    panels = (panel, replace(panel, lines=gains, unit="x", ideal="each"))
    figure = figures.lines(panels, look, id=id, value="items_per_s")
    return CaptionedFigure(
        figure=figure,
        title=words("figures.curves", model=asked[0].model, setting_text=asked[0].setting),
        reading=(words("figures.curves_see"),),
        tables=((f"{block}-t", words("tables.throughput")),) if block else (),
    )


def _told_apart(recipes: Mapping[str, str], named: Mapping[str, Rendered]) -> dict[str, figures.Label]:
    labels = {key: captioned_figure.label(name) for key, name in named.items()}
    plain = [figures.plain(label) for label in labels.values()]
    return {
        key: f"{label} · {recipes[key]}" if isinstance(label, str) and plain.count(label) > 1 else label
        for key, label in labels.items()
    }

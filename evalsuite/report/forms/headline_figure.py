"""The figure of the Markdown: the ranked frameworks of each model, a dot for each run, and their scaling.

A code host shows it as a picture: no style of a page reaches it and nothing runs. Every colour is an attribute.
"""

from dataclasses import dataclass

from evalsuite.report.book.book import Book
from evalsuite.report.page import templates
from evalsuite.report.sections.common import captioned_figure
from evalsuite.report.sections.verdict import answers, curves
from evalsuite.report.text import numbers
from evalsuite.report.text.words import Words
from evalsuite.results.measure.summary import values

WIDTH, LEFT, STRIP, RIGHT = 760, 150, 400, 24
HEAD, ROW, GAP = 46, 24, 18
MOST_PANELS = 6
MOST_CURVES = 2


@dataclass(frozen=True, kw_only=True)
class HeadlineFigure:
    svg: str
    models: tuple[str, ...]


def draw(book: Book, words: Words, source: str) -> HeadlineFigure | None:
    shown = [one for one in answers.questions(book, words) if one.chosen and len(one.places) > 1][:MOST_PANELS]
    if not shown:
        return None
    language = words.languages[0]
    scaled = {one.answer.setting for one in shown[:MOST_CURVES]}
    asked = [one for one in answers.questions(book, words) if one.answer.setting in scaled]
    scaling = curves.draw(book, asked, captioned_figure.look(book), words)
    panels, top = [], GAP
    for one in shown:
        rows = [(place, values(ranked.summary)) for place, ranked in zip(one.places, one.answer.ranked, strict=True)]
        begin, top = top, top + HEAD + ROW * len(rows) + GAP
        title = svg = ""
        drawn = scaling.get(one.id)
        if drawn and drawn.figure.svg:
            title, svg = drawn.title.plain(language), curves.picture(drawn.figure.svg, language)
            svg = svg.replace("<svg ", f'<svg y="{top + GAP}" ', 1)
            top += GAP + int(float(svg.partition(' height="')[2].partition('"')[0])) + GAP
        panels.append((begin, one, max(run for _, runs in rows for run in runs), rows, title, svg))
    svg = templates.drawing(
        "headline.svg.j2",
        width=WIDTH,
        height=top + 16,
        left=LEFT,
        strip=STRIP,
        right=RIGHT,
        head=HEAD,
        row=ROW,
        gap=GAP,
        panels=panels,
        about="; ".join(f"{one.model}: {one.sentence.plain(language)}" for one in shown),
        source=source,
        language=language,
        highest=lambda value: numbers.rounded(value).text,
    )
    return HeadlineFigure(svg=svg + "\n", models=tuple(one.model for one in shown))

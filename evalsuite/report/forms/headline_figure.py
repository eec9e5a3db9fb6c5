"""The figure of the Markdown: the ranked frameworks of each model, a dot for each run, and their scaling.

A code host shows it as a picture: no style of a page reaches it and nothing runs. Every colour is an attribute.
"""

from evalsuite.report.book.book import Book
from evalsuite.report.page import templates
from evalsuite.report.sections.common import captioned_figure
from evalsuite.report.sections.verdict import answers, curves
from evalsuite.report.text import numbers
from evalsuite.report.text.words import Words
from evalsuite.results.measure.summary import values

HEAD, ROW, GAP = 46, 24, 18
STRIP_ENDS, NAME = 550, (150, 430)  # in pixels: where the values begin; the least and the most of a name
SIZES = {"width": 760, "right": 24, "head": HEAD, "row": ROW, "gap": GAP}
MOST_PANELS = 6
MOST_CURVES = 1


def draw(book: Book, words: Words, source: str) -> tuple[str, tuple[str, ...]] | None:
    """The drawing, and the models in it; None where nothing is ranked."""
    shown = [asked for asked in answers.questions(book, words) if asked.chosen and len(asked.places) > 1][:MOST_PANELS]
    if not shown:
        return None
    language = words.languages[0]
    scaled = {question.answer.setting for question in shown[:MOST_CURVES]}
    asked = [question for question in answers.questions(book, words) if question.answer.setting in scaled]
    scaling = curves.draw(book, asked, captioned_figure.look(book), words)
    panels, top = [], GAP
    for question in shown:
        ranked = zip(question.places, question.answer.ranked, strict=True)
        rows = [(place, values(each.summary)) for place, each in ranked]
        begin, top = top, top + HEAD + ROW * len(rows) + GAP
        title = svg = ""
        drawn = scaling.get(question.id)
        if drawn and drawn.figure.svg:
            title, svg = drawn.title.plain(language), curves.picture(drawn.figure.svg, language)
            svg = svg.replace("<svg ", f'<svg y="{top + GAP}" ', 1)
            top += GAP + int(float(svg.partition(' height="')[2].partition('"')[0])) + GAP
        panels.append((begin, question, max(run for _, runs in rows for run in runs), rows, title, svg))
    names = [place["name"].plain(language) for question in shown for place in question.places]
    left = min(NAME[1], max(NAME[0], *(40 + sum(7 + 6 * (letter > "⺀") for letter in name) for name in names)))
    svg = templates.drawing(
        "headline.svg.j2",
        **SIZES | {"left": left, "strip": STRIP_ENDS - left},
        colours=captioned_figure.colours(book),
        height=top + 16,
        panels=panels,
        about="; ".join(f"{question.model}: {question.sentence.plain(language)}" for question in shown),
        source=source,
        language=language,
        highest=lambda value: numbers.rounded(value).text,
    )
    return svg + "\n", tuple(question.model for question in shown)

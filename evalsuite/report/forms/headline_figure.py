"""The figure of the Markdown: the ranked frameworks of each model, a dot for each run, and their scaling.

A code host shows it as a picture: no style of a page reaches it and nothing runs. Every colour is an attribute.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from evalsuite.report.book.book import Book
from evalsuite.report.sections.common import captioned_figure
from evalsuite.report.sections.verdict import answers, curves
from evalsuite.report.sections.verdict.answers import AnsweredQuestion
from evalsuite.report.text import names, numbers
from evalsuite.report.text.words import Words
from evalsuite.results.measure.summary import values

WIDTH, LEFT, STRIP, RIGHT = 760, 150, 400, 24
HEAD, ROW, GAP = 46, 24, 18
MOST_PANELS = 6
MOST_CURVES = 2
INK, SOFT, LINE, DOT, GROUND = "#1a1f24", "#57606a", "#d0d7de", "#2f6fab", "#ffffff"
FONT = "system-ui, 'Noto Sans CJK SC', 'Microsoft YaHei', sans-serif"


@dataclass(frozen=True, kw_only=True)
class HeadlineFigure:
    svg: str
    models: tuple[str, ...]


def draw(book: Book, words: Words, source: str) -> HeadlineFigure | None:
    """None where no two can be set side by side."""
    shown = [one for one in answers.questions(book, words) if one.chosen and len(one.places) > 1][:MOST_PANELS]
    if not shown:
        return None
    language = words.languages[0]
    parts: list[str] = []
    top = GAP
    scaled = {one.answer.setting for one in shown[:MOST_CURVES]}
    asked = [one for one in answers.questions(book, words) if one.answer.setting in scaled]
    scaling = curves.draw(book, asked, captioned_figure.look(book), words)
    for one in shown:
        parts += _panel(one, top, language)
        top += HEAD + ROW * len(one.places) + GAP
        drawn = scaling.get(one.id)
        if drawn and drawn.figure.svg:
            parts.append(_text(16, top, drawn.title.plain(language), weight=600, size=14))
            svg = curves.picture(drawn.figure.svg, language)
            parts.append(svg.replace("<svg ", f'<svg y="{top + GAP}" ', 1))
            top += GAP + _height(svg) + GAP
    height = top + 16
    about = "; ".join(f"{one.model}: {one.sentence.plain(language)}" for one in shown)
    parts.append(_text(16, height - 12, source, colour=SOFT, size=11))
    return HeadlineFigure(
        svg=f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="img" font-family="{FONT}"><title>{_plain(about)}</title>'
        f'<rect width="{WIDTH}" height="{height}" rx="6" fill="{GROUND}"/>{"".join(parts)}</svg>\n',
        models=tuple(one.model for one in shown),
    )


def _height(svg: str) -> int:
    return int(float(svg.partition(' height="')[2].partition('"')[0]))


def _panel(one: AnsweredQuestion, top: int, language: str) -> Iterable[str]:
    high = max(run for ranked in one.answer.ranked for run in values(ranked.summary))
    yield _text(16, top + 12, f"{one.model} · {one.setting.plain(language)} · {one.scale}", weight=600, size=14)
    bottom = top + HEAD - 14
    yield _text(LEFT, bottom - 2, "0", colour=SOFT, size=11)
    yield _text(LEFT + STRIP, bottom - 2, numbers.rounded(high).text, colour=SOFT, size=11, anchor="end")
    yield _text(WIDTH - RIGHT, bottom - 2, one.unit, colour=SOFT, size=11, anchor="end")
    for number, (place, ranked) in enumerate(zip(one.places, one.answer.ranked, strict=True)):
        middle = top + HEAD + ROW * number
        yield f'<path d="M16 {middle - 12}H{WIDTH - RIGHT}" stroke="{LINE}"/>'
        weight = 600 if place.ahead else 400
        yield _text(16, middle + 4, place.name.plain(language) + " ⚠" * place.flagged, weight=weight)
        yield from _runs(values(ranked.summary), ranked.summary.items_per_s.value, middle, high)
        yield _text(WIDTH - RIGHT - 60, middle + 4, place.value.text, weight=weight, anchor="end")
        yield _text(WIDTH - RIGHT, middle + 4, place.ratio, colour=SOFT, anchor="end")


def _runs(found: Sequence[float], median: float, middle: int, high: float) -> Iterable[str]:
    """Counted from 0: a length is a speed."""

    def at(value: float) -> str:
        return f"{LEFT + STRIP * value / high:.1f}"

    yield from (f'<circle cx="{at(run)}" cy="{middle}" r="4" fill="{DOT}" fill-opacity="0.7"/>' for run in found)
    yield f'<path d="M{at(median)} {middle - 8}v16" stroke="{INK}" stroke-width="2"/>'


def _text(
    x: float, y: float, text: str, *, colour: str = INK, size: int = 13, weight: int = 400, anchor: str = "start"
) -> str:
    look = f'fill="{colour}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}"'
    return f'<text x="{x}" y="{y}" {look}>{_plain(text)}</text>'


def _plain(text: str) -> str:
    return escape(names.visible(text))

"""The first screen: the board, and what is accepted."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from evalsuite.core.findings import OwnCriteria
from evalsuite.core.model import by_key
from evalsuite.report import figures
from evalsuite.report.book import answers, tally
from evalsuite.report.book import board as board_room
from evalsuite.report.book.board import BoardRow, BoardSheet, BoardTable
from evalsuite.report.book.book import Book
from evalsuite.report.sections.common import captioned_figure
from evalsuite.report.sections.common.captioned_figure import CaptionedFigure
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.sections.verdict import cards
from evalsuite.report.text import names, numbers
from evalsuite.report.text.words import Rendered, Text, Words

TALL = 1.2  # efficiency at the top of a sparkline


@dataclass(frozen=True, kw_only=True)
class ModelFinding:
    ref: str
    model: str
    about: Rendered
    sentence: Text
    beside: Rendered | None


def section(subject: Subject) -> Section:
    return Section(
        id="verdict",
        title=subject.words("verdict.title"),
        template="verdict/verdict.html.j2",
        facts=lambda: facts(subject),
        markdown=lambda writer: writer.fill("verdict/verdict.md.j2", **_in_every_form(subject)),
    )


def facts(subject: Subject) -> Mapping[str, Any]:
    told = _in_every_form(subject)
    criteria = told["criteria"]
    return {
        **told,
        "charts": {sheet.id: chart for sheet in told["board"].sheets if (chart := _chart(sheet, subject))},
        "without": [subject.words.same(card.verdict.criterion).about(card.id) for card in criteria if not card.applies],
        "without_card": [card.id for card in criteria if not card.applies],
    }


def _in_every_form(subject: Subject) -> dict[str, Any]:
    book, words = subject.book, subject.words
    criteria = cards.cards(book, words)
    return {
        "board": board_room.board(book, words),
        "remarks": list(remarks(book, words)),
        "criteria": criteria,
        "cards": [card for card in criteria if card.applies],
        "not_here": cards.not_here(criteria, words) if len(book.planned) > 1 else None,
    }


def remarks(book: Book, words: Words) -> Iterable[Rendered]:
    """Criteria of one's own, and how much of the plan is valid."""
    for finding in book.evaluation.findings:
        if isinstance(finding, OwnCriteria):
            values = {"file": names.visible(finding.where), "differences": names.visible(finding.differences)}
            yield words("notices.own_criteria", **values).about(tally.COUNTS)
    yield tally.coverage(book, words)


def _chart(sheet: BoardSheet, subject: Subject) -> CaptionedFigure | None:
    """Efficiency over devices, a line for each row of the sheet."""
    lines: list[figures.Line] = []
    for row in sheet.curves.values():
        points = tuple(figures.Point(x=n, value=e, partial=weak, ref=row.ref) for n, e, weak in row.curve)
        variant = sum(line.framework == row.framework for line in lines)
        label = captioned_figure.label(row.name)
        lines.append(figures.Line(name=label, framework=row.framework, points=points, variant=variant))
    if not lines or subject.book.huge:
        return None
    ends = by_key((n, (row, e)) for row in sheet.curves.values() for n, e, _ in row.curve)
    n = max(ends, key=lambda n: (len(ends[n]), n))
    known = captioned_figure.low_and_high([(numbers.percent(e).about(row.ref), row.name) for row, e in ends[n]])
    unlike = known and str(known["low"]) != str(known["high"])
    title = subject.words("board.chart_ends", n=numbers.count(n), **known) if unlike else None
    panel = figures.LinePanel(lines=tuple(lines), share=True, valued=True)
    drawn = figures.lines((panel,), subject.look, id=f"f-{sheet.id}", value="efficiency")
    return CaptionedFigure(
        figure=replace(drawn, axes=()),  # the title says what they are
        title=title or subject.words("board.chart", sheet_text=sheet.title),
    )


def at(value: float, table: BoardTable) -> str:
    """Where on a bar, which begins at 0, in percent of its width."""
    return f"{97 * value / (table.highest or 1.0):.1f}"


def spark(row: BoardRow, sheet: BoardSheet) -> Mapping[str, Any]:
    """Efficiency over the doublings of devices: a path and its points, in 64 × 16 pixels; the lines are 0 and 100 %."""
    devices = [n for other in sheet.curves.values() for n, *_ in other.curve]
    low, high = math.log2(min(devices)), math.log2(max(devices))
    points = [
        (round(3 + 58 * (math.log2(n) - low) / ((high - low) or 1), 1), round(14.5 - 13 * min(e, TALL), 1), weak)
        for n, e, weak in row.curve
    ]
    return {"path": "M" + "L".join(f"{x} {y}" for x, y, _ in points), "points": points}


def model_findings(book: answers.Answered, words: Words) -> tuple[ModelFinding, ...]:
    """A sentence for each model: who is fastest, at the largest of the scales that most frameworks share."""
    labels = answers.settings(book.answers, words)
    return tuple(
        ModelFinding(
            ref=answers.anchor(answer),
            model=names.model(answer.setting.model),
            about=words("answers.about", setting=labels[answer.setting], scale=answers.workers(answer, words)),
            sentence=answers.sentence(answer, words),
            beside=answers.reason_beside(answer, words),
        )
        for answer in answers.headlines(book)
    )

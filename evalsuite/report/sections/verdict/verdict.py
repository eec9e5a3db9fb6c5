"""The first screen: the board, and what is accepted."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evalsuite.core.findings import OwnCriteria
from evalsuite.core.model import by_key
from evalsuite.finished.finished import Finished
from evalsuite.report import figures
from evalsuite.report.book import answers, tally
from evalsuite.report.book import board as board_room
from evalsuite.report.book.board import BoardRow, BoardSheet, BoardTable
from evalsuite.report.book.book import Book
from evalsuite.report.sections.common.section import Subject, low_and_high
from evalsuite.report.sections.verdict import cards
from evalsuite.report.text import names, numbers, options
from evalsuite.report.text.words import Rendered, Text, Words
from evalsuite.results.compare import answers as compared

TALL = 1.2  # efficiency at the top of a sparkline


@dataclass(frozen=True, kw_only=True)
class ModelFinding:
    model: str
    about: Rendered
    sentence: Text
    beside: Rendered | None


def facts(subject: Subject) -> Mapping[str, Any]:
    told = in_every_form(subject)
    return {
        **told,
        "charts": {sheet.id: chart for sheet in told["board"].sheets if (chart := _chart(sheet, subject))},
        "without_card": [card.id for card in told["criteria"] if not card.applies],
    }


def in_every_form(subject: Subject) -> dict[str, Any]:
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
            yield words("notices.own_criteria", **values)
    yield tally.coverage(book, words)


def _chart(sheet: BoardSheet, subject: Subject) -> figures.Chart | None:
    """Efficiency over devices, a line for each row of the sheet."""
    rows, words = [*sheet.curves.values()], subject.words
    if not rows or subject.book.huge:
        return None
    ends = by_key((n, (row, e)) for row in rows for n, e, *_ in row.curve)
    n = max(ends, key=lambda n: (n == sheet.chosen.answer.devices > min(ends) and len(ends[n]) > 1, len(ends[n]), n))
    known = low_and_high([(numbers.percent(e), row.name) for row, e in ends[n] if not row.printed])
    among = sheet.chosen.answer.scope.among  # a variant's name is too long for a title
    unlike = known and among == "frameworks" and str(known["low"]) != str(known["high"])
    title = words("board.chart_ends", n=numbers.count(n), **known) if unlike else None
    lines = [
        figures.Line(
            name=words("answers.flagged_value", value=row.name, marks="§") if row.printed else row.name,
            framework=row.framework,
            points=tuple(figures.Point(x=n, value=e, hollow=weak, ref=ref) for n, e, weak, ref in row.curve),
        )
        for row in rows
    ]
    title = title or words("board.chart", sheet_text=sheet.title)
    reading = [words("board.chart_weak")] * any(point.hollow for line in lines for point in line.points)
    every = [(row, row.summary.case) for table in sheet.tables for row in table.rows if row.summary]
    reading += [words("board.chart_shared")] * any(board_room.shares_cores(case) for _, case in every)
    measured = by_key((row.name.plain(words.languages[0]), row) for row, _ in every)
    undrawn = [_undrawn(same, words) for name, same in measured.items() if len(same) > 1 and name not in sheet.curves]
    named = replace(words.listed(undrawn), separators=answers.SEVERAL)
    reading += [words("board.chart_undrawn", names_text=named)] if undrawn else []
    return figures.chart(lines, subject.look, words, id=f"f-{sheet.id}", title=title, reading=reading)


def _undrawn(rows: Sequence[BoardRow], words: Words) -> Rendered:
    for grounds, key in (("disputed", "in_doubt"), ("printed", "printed_at")):
        if cases := [row.summary.case for row in rows if row.summary and row.summary.grounds == grounds]:
            return words(f"board.{key}", framework=rows[0].name, scales=words.listed(names.scales(cases)))
    return words("board.unlike_scales", framework=rows[0].name)


def at(value: float, table: BoardTable) -> str:
    """Where on a bar, which begins at 0, in percent of its width."""
    return f"{97 * value / (table.highest or 1.0):.1f}"


def spark(row: BoardRow, sheet: BoardSheet) -> Mapping[str, Any]:
    """Efficiency over the doublings of devices: a path and its points, in 64 × 16 pixels; the lines are 0 and 100 %."""
    devices = [n for other in sheet.curves.values() for n, *_ in other.curve]
    low, high = math.log2(min(devices)), math.log2(max(devices))
    points = [
        (round(3 + 58 * (math.log2(n) - low) / ((high - low) or 1), 1), round(14.5 - 13 * min(e, TALL), 1), weak)
        for n, e, weak, _ in row.curve
    ]
    return {"path": "M" + "L".join(f"{x} {y}" for x, y, _ in points), "points": points}


def model_findings(book: Book | Finished, words: Words) -> tuple[ModelFinding, ...]:
    """A sentence for each model: who is fastest, at the largest of the scales that most frameworks share."""
    of_model = by_key((answer.setting.model, answer) for answer in book.answers)
    return tuple(
        ModelFinding(
            model=names.model(answer.setting.model),
            about=options.apart([answers.setting(answer, words), answers.scale(answer)], words),
            sentence=answers.sentence(answer, words),
            beside=answers.reason_beside(answer, words),
        )
        for model in book.models
        if (answer := compared.headline(of_model.get(model, ())))
    )

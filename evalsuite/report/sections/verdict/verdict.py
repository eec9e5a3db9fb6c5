"""The verdict, the first screen: what was found, what to know before it, who is fastest where, and what is accepted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalsuite.report.sections.common.markdown import NOTHING, MarkdownWriter, listed, table, text
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.sections.verdict import (
    acceptance,
    answers,
    cards,
    curves,
    headlines,
    matrix,
    notices,
    suspicions,
)
from evalsuite.report.sections.verdict.answers import Answered, AnsweredQuestion
from evalsuite.report.sections.verdict.cards import Card
from evalsuite.report.sections.verdict.matrix import Standing, Standings, WinnerCell, WinnerMatrix
from evalsuite.report.text import names
from evalsuite.report.text.words import Rendered, Text, Words

MOST_OPEN = 3
MOST_FOUND = 5
FIRST_FOUND = 3


@dataclass(frozen=True, kw_only=True)
class ModelFinding:
    ref: str
    model: str
    about: Rendered
    sentence: Text
    beside: Rendered | None
    ranked: int = 0
    decided: bool = False


def section(subject: Subject) -> Section:
    return Section(
        id="verdict",
        title=subject.words("verdict.title"),
        template="verdict/verdict.html.j2",
        facts=lambda: facts(subject),
        markdown=lambda writer: _markdown(subject, writer),
    )


def facts(subject: Subject) -> Mapping[str, Any]:
    book, words = subject.book, subject.words
    questions = answers.questions(book, words)
    shown = _in_place(questions)
    criteria = cards.cards(book, words)
    judged = [card for card in criteria if acceptance.applies(card.verdict)]
    every = model_findings(book, words)
    first = choose_open(every)
    return {
        "found": first,
        "folded": [one for one in every if one not in first],  # below a line that names their models
        "notices": notices.notices(book, words),
        "questions": questions,
        "curves": curves.draw(
            book, questions, subject.look, words, {one.id: block.id for block in subject.blocks for one in block.cases}
        ),
        "shown": shown,  # drawn in place; without them the reader asks
        "standings": matrix.standings(book, words),
        "matrix": None if shown else matrix.matrix(book, questions, words),
        "accepted": acceptance.matrix(judged),
        "cards": [(card, cards.bullet(card, subject.look, words), acceptance.about(card)) for card in judged],
        "not_here": acceptance.not_here(criteria, words),
        "without": [words.same(one.verdict.criterion).about(one.id) for one in criteria if acceptance.is_left_out(one)],
        "without_card": [card.id for card in criteria if not acceptance.applies(card.verdict)],
        "headlines": headlines.headlines(book, subject.models, words),
        "coverage": notices.coverage(book, words),
        "suspicions": suspicions.facts(book, words),
    }


def model_findings(book: Answered, words: Words) -> tuple[ModelFinding, ...]:
    """A sentence for each model: who is fastest, at the largest of the scales that most frameworks share."""
    labels = answers.settings(book, words)
    return tuple(
        ModelFinding(
            ref=answers.anchor(one),
            model=names.model(one.setting.model),
            about=words("answers.about", setting=labels[one.setting], scale=answers.workers(one, words)),
            sentence=answers.sentence(one, words),
            beside=answers.reason_beside(one, words),
            ranked=len(one.ranked),
            decided=bool(one.ahead),
        )
        for one in answers.headlines(book)
    )


def choose_open(found: Sequence[ModelFinding]) -> tuple[ModelFinding, ...]:
    """Those that are open, in the order of the document: of many models the few that compare most frameworks, of
    these the decided ones before others."""
    if len(found) <= MOST_FOUND:
        return tuple(found)
    first = sorted(found, key=lambda one: (-one.ranked, not one.decided))[:FIRST_FOUND]
    return tuple(one for one in found if one in first)


def _in_place(questions: Sequence[AnsweredQuestion]) -> tuple[AnsweredQuestion, ...]:
    if len({one.answer.setting for one in questions}) != 1 or len(questions) > MOST_OPEN:
        return ()
    return tuple(sorted(questions, key=lambda one: not one.chosen))


def _markdown_found(one: ModelFinding, writer: MarkdownWriter) -> str:
    said = writer.words("verdict.found_line", model=one.model, about_text=one.about, sentence_text=one.sentence)
    name = text(one.model)
    found = writer.sentences(map(writer.render, (said, *([one.beside] if one.beside else []))))
    return f"**{name}**{found.removeprefix(name)}"


def _markdown(subject: Subject, writer: MarkdownWriter) -> Iterable[str]:
    book, words = subject.book, subject.words
    yield f"## {writer.word('verdict.title')}"
    yield listed(_markdown_found(one, writer) for one in model_findings(book, words))
    yield from (f"> {writer.render(notice.line)}" for notice in notices.notices(book, words))
    yield from _markdown_standings(matrix.standings(book, words), writer)
    yield from _markdown_matrix(matrix.matrix(book, answers.questions(book, words), words), writer)
    criteria = cards.cards(book, words)
    judged = [card for card in criteria if acceptance.applies(card.verdict)]
    yield from acceptance.markdown(acceptance.matrix(judged), writer)
    if judged:
        heads = ("verdict.title", "verdict.measured", "verdict.interval", "verdict.threshold", "verdict.n")
        yield table(
            ["", *map(writer.word, (*heads, "words.reason"))],
            [_row(card, writer) for card in judged],
            right=(2, 3, 4, 5),
        )
    left_out = acceptance.not_here(criteria, words)
    if left_out:
        yield writer.render(words("acceptance.not_here", reasons_text=left_out))
    elif not judged:
        yield writer.word("verdict.none")
    yield from suspicions.markdown(suspicions.facts(book, words), writer)
    sentences = (*headlines.headlines(book, subject.models, words), notices.coverage(book, words))
    yield listed(map(writer.render, sentences))


def _markdown_standings(found: Sequence[Standings], writer: MarkdownWriter) -> Iterable[str]:
    for one in found:
        if one.chosen:
            title = writer.words("standings.at", scale=one.scale) if one.scale else writer.words("standings.by_scale")
            yield f"**{writer.render(title)}**"
            named = zip(one.answers, one.settings, strict=True)
            heads = [f"{text(names.model(answer.setting.model))} {writer.render(of)}" for answer, of in named]
            rows = [[text(of), *(_standing(cell, writer) for cell in cells)] for of, cells in one.rows]
            yield table([writer.word("answers.framework"), *heads], rows, right=range(1, len(heads) + 1))
            yield writer.word("standings.legend_plain")


def _standing(cell: Standing, writer: MarkdownWriter) -> str:
    share = text(cell.share.text) if cell.share else ""
    marked = f"**{share}**" if cell.weight == "decided" and share else share
    why = writer.render(writer.words("matrix.note", note_text=cell.why)) if cell.why else ""
    return f"{marked}{'⚠' * cell.flagged}{why}".strip() or NOTHING


def _markdown_matrix(found: WinnerMatrix | None, writer: MarkdownWriter) -> Iterable[str]:
    if found is None:
        return
    yield f"**{writer.render(found.title)}**"
    yield table(
        [writer.word("answers.model"), writer.word("answers.setting"), *found.scales],
        [
            [text(row.model), writer.render(row.setting), *(_winner(cell, writer) for cell in row.cells)]
            for row in found.rows
        ],
    )


def _winner(cell: WinnerCell, writer: MarkdownWriter) -> str:
    if not cell.winner:
        return NOTHING
    name = f"**{writer.render(cell.winner)}**" if cell.tone in ("clear", "tie") else writer.render(cell.winner)
    note = writer.render(writer.words("matrix.note", note_text=cell.note)) if cell.note else ""
    return " ".join(filter(None, (name, text(cell.lead), "⚠" if cell.flagged else ""))) + note


def _row(card: Card, writer: MarkdownWriter) -> list[str]:
    words, verdict = writer.words, card.verdict
    noise = f" · {writer.word('verdict.within_noise')}" if verdict.within_noise else ""
    key = f"criteria_short.{verdict.criterion}"
    name = words(key) if key in words else words("criteria_short.other", name=names.visible(verdict.criterion))
    return [
        f"**{text(verdict.criterion)}** {writer.render(name)}",
        f"{writer.word(f'verdict.{verdict.outcome}')}{noise}",
        *(writer.render(value) if value else NOTHING for value in (card.value, card.interval, card.threshold)),
        str(verdict.n) if card.value else NOTHING,
        writer.render(card.reason) if card.reason else NOTHING,
    ]

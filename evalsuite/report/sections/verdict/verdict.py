"""The first screen: what was found, what to know before it, what is accepted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evalsuite.report.book import tally
from evalsuite.report.sections.common import figure_titles
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.sections.usage import usage
from evalsuite.report.sections.verdict import answers, cards, curves, matrix, notices
from evalsuite.report.sections.verdict.answers import Answered
from evalsuite.report.sections.why.why import scaling_blocks
from evalsuite.report.text import names
from evalsuite.report.text.words import Rendered, Text, Words

MOST_OPEN = 3


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
        markdown=lambda writer: writer.fill("verdict/verdict.md.j2", **_in_markdown(subject)),
    )


def facts(subject: Subject) -> Mapping[str, Any]:
    book, words, told = subject.book, subject.words, _in_markdown(subject)
    questions, criteria = told["questions"], told["criteria"]
    one_setting = len({question.answer.setting for question in questions}) == 1 and len(questions) <= MOST_OPEN
    block_of = {case.id: block.id for block in subject.blocks for case in block.cases}
    return {
        **told,
        "curves": curves.draw(book, questions, subject.look, words, block_of),
        # drawn in place; without them the reader asks
        "shown": sorted(questions, key=lambda question: not question.chosen) if one_setting else (),
        "without": [words.same(card.verdict.criterion).about(card.id) for card in criteria if not card.applies],
        "without_card": [card.id for card in criteria if not card.applies],
        "headlines": told["headlines"][:-1],
        "coverage": told["headlines"][-1],
    }


def model_findings(book: Answered, words: Words) -> tuple[ModelFinding, ...]:
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


def _in_markdown(subject: Subject) -> dict[str, Any]:
    book, words = subject.book, subject.words
    criteria, blocks = cards.cards(book, words), scaling_blocks(subject.models)
    short = [figure_titles.of_blocks(blocks, words)] if blocks else []
    busy = usage.finding(usage.usages(book, subject.models), words)
    return {
        "found": model_findings(book, words),
        "notices": notices.notices(book, words),
        "standings": matrix.standings(book, words),
        "questions": answers.questions(book, words),
        "criteria": criteria,
        "cards": [card for card in criteria if card.applies],
        "not_here": cards.not_here(criteria, words),
        "headlines": (*short, *([busy] if busy else []), tally.coverage(book, words)),
    }

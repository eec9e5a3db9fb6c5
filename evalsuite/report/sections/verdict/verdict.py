"""The first screen: what was found, what to know before it, what is accepted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalsuite.report.book import tally
from evalsuite.report.sections.common import figure_titles
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.sections.usage import usage
from evalsuite.report.sections.verdict import answers, cards, curves, matrix, notices
from evalsuite.report.sections.verdict.answers import Answered, AnsweredQuestion
from evalsuite.report.sections.why.why import scaling_blocks
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
        markdown=lambda writer: writer.fill("verdict/verdict.md.j2", **_in_markdown(subject)),
    )


def facts(subject: Subject) -> Mapping[str, Any]:
    book, words, told = subject.book, subject.words, _in_markdown(subject)
    questions, every = told["questions"], told["found"]
    shown, first, criteria = _in_place(questions), choose_open(every), told["criteria"]
    block_of = {case.id: block.id for block in subject.blocks for case in block.cases}
    return {
        **told,
        "found": first,
        "folded": [finding for finding in every if finding not in first],  # below a line that names their models
        "curves": curves.draw(book, questions, subject.look, words, block_of),
        "shown": shown,  # drawn in place; without them the reader asks
        "without": [words.same(card.verdict.criterion).about(card.id) for card in cards.left_out(criteria)],
        "without_card": [card.id for card in criteria if not cards.applies(card.verdict)],
        "headlines": told["headlines"][:-1],
        "coverage": told["headlines"][-1],
    }


def _in_short(subject: Subject) -> Sequence[Rendered | Text]:
    blocks, words = scaling_blocks(subject.models), subject.words
    texts = [figure_titles.of_blocks(blocks, words)] if blocks else []
    busy = usage.finding(usage.usages(subject.book, subject.models), words)
    return [*texts, *([busy] if busy else [])]


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
            ranked=len(answer.ranked),
            decided=bool(answer.ahead),
        )
        for answer in answers.headlines(book)
    )


def choose_open(findings: Sequence[ModelFinding]) -> tuple[ModelFinding, ...]:
    """Those that are open, in the order of the document: of many models the few that compare most frameworks, of
    these the decided ones before others."""
    if len(findings) <= MOST_FOUND:
        return tuple(findings)
    first = sorted(findings, key=lambda finding: (-finding.ranked, not finding.decided))[:FIRST_FOUND]
    return tuple(finding for finding in findings if finding in first)


def _in_place(questions: Sequence[AnsweredQuestion]) -> tuple[AnsweredQuestion, ...]:
    if len({question.answer.setting for question in questions}) != 1 or len(questions) > MOST_OPEN:
        return ()
    return tuple(sorted(questions, key=lambda question: not question.chosen))


def _in_markdown(subject: Subject) -> dict[str, Any]:
    book, words = subject.book, subject.words
    questions = answers.questions(book, words)
    criteria = cards.cards(book, words)
    return {
        "found": model_findings(book, words),
        "notices": notices.notices(book, words),
        "standings": matrix.standings(book, words),
        "questions": questions,
        "criteria": criteria,
        "cards": [card for card in criteria if cards.applies(card.verdict)],
        "not_here": cards.not_here(criteria, words),
        "headlines": (*_in_short(subject), tally.coverage(book, words)),
    }

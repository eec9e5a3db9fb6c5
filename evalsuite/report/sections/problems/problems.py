"""Section 8: the problems that people keep, what the author found, and what is found by rule."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evalsuite.author_document import KeptProblem
from evalsuite.model import Finding
from evalsuite.report.book.book import Book
from evalsuite.report.book.states import GLYPHS, WORST_FIRST, how, run_state
from evalsuite.report.sections.author import author, author_sections
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.text import findings, numbers
from evalsuite.report.text.words import Rendered, Text, Words

STATUSES = ("open", "in_progress", "closed")


@dataclass(frozen=True, kw_only=True)
class Problem:
    sentence: Text
    affected: Rendered
    decides: bool
    href: str


@dataclass(frozen=True, kw_only=True)
class Question:
    kept: KeptProblem
    question: tuple[Rendered, ...]
    answer: tuple[Rendered, ...]


def sections(subject: Subject) -> Iterable[Section]:
    book, words = subject.book, subject.words
    yield Section(
        id="problems",
        title=words("problems.title"),
        template="problems/problems.html.j2",
        facts=lambda: _facts(subject),
        markdown=lambda writer: writer.fill(
            "problems/problems.md.j2", kept=kept_problems(subject), notes=author.notes(book, words)
        ),
    )


def _facts(subject: Subject) -> Mapping[str, object]:
    book, words = subject.book, subject.words
    found = kept_problems(subject)
    counted: Counter[str] = Counter(one.kept.status for one in found)
    return {
        "kept": found,
        "by_status": [(status, counted[status]) for status in STATUSES if counted[status]],
        "problems": problems(book, words),
        "notes": author.notes(book, words),
    }


def kept_problems(subject: Subject) -> tuple[Question, ...]:
    return tuple(
        Question(
            kept=one,
            question=author_sections.prose(one.question, subject),
            answer=author_sections.prose(one.answer, subject),
        )
        for one in subject.book.evaluation.kept_problems
    )


def problems(book: Book, words: Words) -> tuple[Problem, ...]:
    return (*_failed(book, words), *_flagged(book, words), *_skipped(book, words))


def _failed(book: Book, words: Words) -> Iterable[Problem]:
    bad = [run for run in book.measurements if run_state(run) != "value"]
    if not bad:
        return
    states = Counter(how(run) for run in bad)
    named = words.listed(
        words("list.counted", glyph=GLYPHS[state], n=numbers.count(states[state]))
        for state in WORST_FIRST
        if states[state]
    )
    cases = len({run.run.case.id for run in bad})
    yield Problem(
        sentence=words("problems.failed", n=numbers.count(len(bad)), states=named),
        affected=words("problems.cases", n=numbers.count(cases)),
        decides=any(book.state(run.run.case) != "value" for run in bad),
        href="#quality-failures",
    )


def _flagged(book: Book, words: Words) -> Iterable[Problem]:
    found: dict[str, list[Finding]] = {}
    for finding in book.findings:
        if finding.severity != "note":
            found.setdefault(finding.code, []).append(finding)
    for code, same in sorted(found.items()):
        places = len({place for finding in same for place in (finding.where, *finding.also)})
        yield Problem(
            sentence=words("problems.flagged", n=numbers.count(len(same)), rule=findings.rule(code, words)),
            affected=words("quality.places", n=numbers.count(places)),
            decides=True,
            href="#quality-findings",
        )


def _skipped(book: Book, words: Words) -> Iterable[Problem]:
    if book.skips:
        yield Problem(
            sentence=words("problems.skipped", n=numbers.count(len(book.skips))),
            affected=words("problems.cases", n=numbers.count(len(book.skips))),
            decides=False,
            href="#quality-skips",
        )

"""Open problems, found by rule: failures by class, skips, flags, criteria without a verdict (section 8)."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from evalsuite.model import AuthorNote, Finding
from evalsuite.report.book.book import Book
from evalsuite.report.book.states import GLYPHS, WORST_FIRST, how, run_state
from evalsuite.report.sections import author
from evalsuite.report.sections.author import Said
from evalsuite.report.sections.markdown import MarkdownWriter, listed
from evalsuite.report.sections.section import Section, Subject
from evalsuite.report.text import findings, names, numbers
from evalsuite.report.text.words import Rendered, Text, Words


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Something open, how much it affects, and whether a verdict depends on it."""

    sentence: Text
    affected: Rendered
    decides: bool
    href: str  # where the details stand


@dataclass(frozen=True, kw_only=True)
class ProblemFacts:
    """What the section shows."""

    problems: tuple[Problem, ...]
    notes: tuple[tuple[AuthorNote, Said], ...]


def sections(subject: Subject) -> Iterable[Section]:
    book, words = subject.book, subject.words
    yield Section(
        id="problems",
        title=words("problems.title"),
        template="problems.html.j2",
        facts=lambda: ProblemFacts(problems=problems(book, words), notes=author.said(book, words)),
        markdown=lambda writer: _markdown(author.said(book, words), writer),
    )


def problems(book: Book, words: Words) -> tuple[Problem, ...]:
    return (*_failed(book, words), *_flagged(book, words), *_skipped(book, words), *_undetermined(book, words))


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
        places = len({finding.where for finding in same})
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


def _undetermined(book: Book, words: Words) -> Iterable[Problem]:
    for verdict in sorted(book.evaluation.verdicts, key=lambda one: one.criterion):
        if verdict.outcome == "undetermined":
            yield Problem(
                sentence=words("problems.undetermined", criterion=verdict.criterion),
                affected=words.listed([verdict.criterion]),
                decides=True,
                href="#verdict",
            )


def _markdown(notes: Iterable[tuple[AuthorNote, Said]], writer: MarkdownWriter) -> Iterable[str]:
    """What people found, with whose it is and whether a verdict depends on it."""
    if notes:
        yield f"## {writer.word('problems.author')}"
        yield listed(_note(note, said, writer) for note, said in notes)


def _note(note: AuthorNote, said: Said, writer: MarkdownWriter) -> str:
    sentences = [f"<strong>{writer.word(f'severity.{note.severity}')}</strong>", writer.said(said)]
    if note.owner:
        sentences.append(writer.said(writer.words("problems.owner", name=names.visible(note.owner))))
    if note.decides:
        sentences.append(writer.word("problems.decides"))
    return " ".join(sentences)

"""The last section: the terms of the report in both languages."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from evalsuite.core import paths
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.text.words import ON_CPU, Words, read

FILE = paths.DATA / "glossary.csv"
# where readers stumbled over the glossary's word: "partial" runs did complete, and a solver has a time to solution
OWN_WORDS = {"partial": "columns.partial", "time_to_solution": "columns.time_to_solution"}


@dataclass(frozen=True, kw_only=True)
class Term:
    key: str
    zh: str
    en: str
    definition_zh: str
    definition_en: str


def adapt_term(term: Term, words: Words) -> Term:
    if term.key in OWN_WORDS:
        own = read()(OWN_WORDS[term.key])
        term = replace(term, zh=own.plain("zh"), en=own.plain("en"))
    if words.on_cpu:
        for card in ("单卡批大小", "单卡"):
            zh, definition = (text.replace(card, ON_CPU[card]) for text in (term.zh, term.definition_zh))
            term = replace(term, zh=zh, definition_zh=definition)
    return term


def sections(subject: Subject) -> Iterable[Section]:
    yield Section(
        id="glossary",
        title=subject.words("glossary.title"),
        template="glossary/glossary.html.j2",
        facts=lambda: {"terms": [adapt_term(term, subject.words) for term in terms()]},
    )


@cache
def terms(file: Path = FILE) -> tuple[Term, ...]:
    return tuple(Term(**row) for row in paths.read_rows(file))

"""The last section: the terms of the report in both languages."""

from collections.abc import Iterable

from evalsuite.core import paths
from evalsuite.core.messages import LANGUAGES
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.text.words import ON_CPU, Words, read

FILE = paths.DATA / "glossary.csv"
# where readers stumbled over the glossary's word: "partial" runs did complete, and a solver has a time to solution
OWN_WORDS = {"partial": "columns.partial", "time_to_solution": "columns.time_to_solution"}


def terms(words: Words) -> list[dict[str, str]]:
    return [_adapted(term, words) for term in paths.read_rows(FILE)]


def _adapted(term: dict[str, str], words: Words) -> dict[str, str]:
    if term["key"] in OWN_WORDS:
        term = term | {language: read()(OWN_WORDS[term["key"]]).plain(language) for language in LANGUAGES}
    for card in ("单卡批大小", "单卡") if words.on_cpu else ():
        term = {column: text.replace(card, ON_CPU[card]) for column, text in term.items()}
    return term


def sections(subject: Subject) -> Iterable[Section]:
    yield Section(
        id="glossary",
        title=subject.words("glossary.title"),
        template="glossary/glossary.html.j2",
        facts=lambda: {"terms": terms(subject.words)},
    )

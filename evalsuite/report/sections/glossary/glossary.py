"""The last section: the terms of the report in both languages."""

import html
import re
import string
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from evalsuite.core import paths
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.text.words import ON_CPU, Words, read

FILE = paths.DATA / "glossary.csv"
GLOSSARY = '<section id="glossary"'
UNSEEN = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL)
BRACKETS = re.compile(r"\s*[(（]([^()（）]*)[)）]\s*")
LETTERS = frozenset(string.ascii_lowercase + string.digits)
SHORTEST = 3  # characters of a form that counts as its term; "IB" or "d" occurs in other words
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


def mark_unused(page: str) -> str:
    """*page* with the terms marked that it does not use: on paper they are left out."""
    main, heading, rest = page.partition(GLOSSARY)
    if not heading:
        return page
    text = html.unescape(UNSEEN.sub(" ", main[main.find("<main") :])).casefold()
    for term in terms():
        if not any(_stands_in(form, text) for form in forms(term)):
            rest = rest.replace(f'<tr id="term-{term.key}">', f'<tr id="term-{term.key}" class="unused">', 1)
    return main + heading + rest


def forms(term: Term) -> tuple[str, ...]:
    return tuple(dict.fromkeys(form for name in (term.en, term.zh) for form in _forms(name) if form))


def _forms(name: str) -> Iterable[str]:
    whole = name.casefold()
    yield BRACKETS.sub(" ", whole).strip()
    yield from (term for term in BRACKETS.findall(whole) if len(term) >= SHORTEST and not term.isdigit())


def _stands_in(form: str, text: str) -> bool:
    if not form.isascii():
        return form in text
    at = text.find(form)
    while at >= 0:  # by hand: to compile a pattern a form takes longer than to look
        if LETTERS.isdisjoint((text[at - 1 : at], text[at + len(form) : at + len(form) + 1])):
            return True
        at = text.find(form, at + 1)
    return False


@cache
def terms(file: Path = FILE) -> tuple[Term, ...]:
    return tuple(Term(**row) for row in paths.read_rows(file))

"""Which terms of the glossary a page uses: on paper the others are left out."""

import html
import re
import string
from collections.abc import Iterable

from evalsuite.report.text import glossary
from evalsuite.report.text.glossary import Term

GLOSSARY = '<section id="glossary"'
UNSEEN = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL)
BRACKETS = re.compile(r"\s*[(（]([^()（）]*)[)）]\s*")
LETTERS = frozenset(string.ascii_lowercase + string.digits)
SHORTEST = 3  # characters of a form that counts as its term; "IB" or "d" occurs in other words


def mark_unused(page: str) -> str:
    main, heading, rest = page.partition(GLOSSARY)
    if not heading:
        return page
    text = html.unescape(UNSEEN.sub(" ", main[main.find("<main") :])).casefold()
    for term in glossary.terms():
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

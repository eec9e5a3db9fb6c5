"""The last section: the terms of the report in both languages."""

import re
from collections.abc import Iterable

from evalsuite.core import paths
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.text.words import ON_CPU, Words

FILE = paths.DATA / "glossary.csv"
OWN = paths.DATA / "terms.csv"  # words and signs of the page, and what it says otherwise than the glossary
WAYS = " · "  # between those to write one term
BARE = re.compile(r"[\d\s.,%+–-]").sub


def terms(words: Words) -> list[dict[str, str]]:
    rows = {term["key"]: term for file in (FILE, OWN) for term in paths.read_rows(file)}
    for card in ("单卡批大小", "单卡") if words.on_cpu else ():
        rows = {key: {of: text.replace(card, ON_CPU[card]) for of, text in term.items()} for key, term in rows.items()}
    return [*rows.values()]


def meant(asked: str, words: Words) -> dict[str, str] | None:
    """The term that is *asked* for as a page has it: with other numbers, and what follows is about it."""
    ways = ((way, term) for term in terms(words) for of in ("en", "zh", "key") for way in term[of].split(WAYS))
    asked, known = BARE("", asked.casefold()), {BARE("", way.casefold()): term for way, term in ways}
    inside = [(asked.index(way), -len(way), way) for way in known if len(way) > 1 and way in asked]
    return known.get(asked if asked in known or not inside else min(inside)[2])


def sections(subject: Subject) -> Iterable[Section]:
    yield Section(
        id="glossary",
        title=subject.words("glossary.title"),
        template="glossary/glossary.html.j2",
        facts=lambda: {"terms": terms(subject.words)},
    )

"""The last section: the terms of the report in both languages."""

import re
from collections.abc import Iterable

from evalsuite.core import paths
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.text.words import ON_CPU, Words

FILE = paths.DATA / "glossary.csv"
OWN = paths.DATA / "terms.csv"  # of the page: otherwise than the glossary, and its words and signs; ways to write one
BARE = re.compile(r"[\d\s.,%+–-]").sub


def terms(words: Words) -> list[dict[str, str]]:
    own = {term["key"]: term for term in paths.read_rows(OWN)}
    rows = [own.get(term["key"], term) for term in paths.read_rows(FILE)]
    for card in ("单卡批大小", "单卡") if words.on_cpu else ():
        rows = [{of: text.replace(card, ON_CPU[card]) for of, text in term.items()} for term in rows]
    return rows


def meant(asked: str, words: Words) -> dict[str, str] | None:
    """The term that is *asked* for as a page has it: with other numbers, and what follows is about it."""
    every = [*terms(words), *paths.read_rows(OWN)]
    ways = ((way, term) for term in every for of in ("en", "zh", "key") for way in term[of].split(" · "))
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

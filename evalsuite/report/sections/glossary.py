"""The last section: the terms of the report in both languages."""

from collections.abc import Iterable
from dataclasses import dataclass

from evalsuite.report.sections.section import Section, Subject
from evalsuite.report.text import glossary
from evalsuite.report.text.glossary import Term


@dataclass(frozen=True, kw_only=True)
class GlossaryFacts:
    """What the glossary shows."""

    terms: tuple[Term, ...]


def sections(subject: Subject) -> Iterable[Section]:
    yield Section(
        id="glossary",
        title=subject.words("glossary.title"),
        template="glossary.html.j2",
        facts=lambda: GlossaryFacts(terms=glossary.terms()),
    )

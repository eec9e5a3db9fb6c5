"""Which sections a report has, in the order of the outline, each with its number."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from evalsuite.report.page import placing
from evalsuite.report.page.placing import Placed
from evalsuite.report.sections.author import author_sections
from evalsuite.report.sections.author.author_sections import OwnText
from evalsuite.report.sections.background import background
from evalsuite.report.sections.common.markdown import MarkdownWriter
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.sections.convergence import convergence
from evalsuite.report.sections.fairness import fairness
from evalsuite.report.sections.forecasts import forecasts
from evalsuite.report.sections.glossary import glossary
from evalsuite.report.sections.introduction import introduction
from evalsuite.report.sections.models import models
from evalsuite.report.sections.problems import problems
from evalsuite.report.sections.quality import quality
from evalsuite.report.sections.reproduction import reproduction
from evalsuite.report.sections.steptime import steptime
from evalsuite.report.sections.usage import usage
from evalsuite.report.sections.variants import variants
from evalsuite.report.sections.why import why
from evalsuite.report.text.words import Rendered, Text

SectionsOf = Callable[[Subject], Iterable[Section]]
WHOLE: tuple[SectionsOf, ...] = (  # all sections after the verdict
    introduction.sections,
    background.sections,
    models.sections,
    problems.sections,
    why.sections,
    steptime.sections,
    usage.sections,
    convergence.sections,
    variants.sections,
    forecasts.sections,
    fairness.sections,
    quality.sections,
    reproduction.sections,
    glossary.sections,
    author_sections.sections,
)


@dataclass(frozen=True, kw_only=True)
class Subsection:
    id: str
    number: str
    title: Rendered


class Numbering:
    """Of the tables and figures of one chapter: 3-1, 3-2, …"""

    def __init__(self, chapter: str) -> None:
        self.chapter = chapter
        self.counts = {"table": 0, "figure": 0}

    def next(self, kind: str) -> str:
        self.counts[kind] += 1
        return f"{self.chapter}-{self.counts[kind]}"


@dataclass(frozen=True, kw_only=True)
class Chapter:
    id: str
    number: str
    title: Rendered | str
    template: str
    facts: object
    finding: Rendered | Text | None  # of a part of the annex, beside its folded title
    parts: tuple[Subsection, ...]
    own: tuple[OwnText, ...]  # the lab's sections at its end; they are parts too
    places: Numbering = field(compare=False)

    @property
    def in_annex(self) -> bool:
        return self.number.startswith("A")

    def part(self, id: str) -> Subsection:
        return next(part for part in self.parts if part.id == id)


def sections(subject: Subject) -> tuple[Section, ...]:
    return tuple(_with_own_words(subject, section) for _, section in place_sections(subject))


def _with_own_words(subject: Subject, section: Section) -> Section:
    own = author_sections.own(subject, section.id)

    def markdown(writer: MarkdownWriter) -> Iterable[str]:
        yield from section.markdown(writer)
        for text in own:
            yield from author_sections.markdown(text, writer)

    return replace(section, markdown=markdown) if own else section


def place_sections(subject: Subject) -> tuple[Placed, ...]:
    return placing.place(subject, tuple(section for sections_of in WHOLE for section in sections_of(subject)))


def chapters(subject: Subject) -> tuple[Chapter, ...]:
    return tuple(_chapter(subject, section, number) for number, section in place_sections(subject))


def _chapter(subject: Subject, section: Section, number: str) -> Chapter:
    own = author_sections.own(subject, section.id)
    parts = [*section.parts.items(), *((text.id, text.title) for text in own)]
    facts = section.facts()
    return Chapter(
        id=section.id,
        number=number,
        title=section.title,
        template=section.template,
        facts=facts,
        finding=section.finding(facts) if section.finding else None,
        parts=tuple(
            Subsection(id=id, number=f"{number}.{place}", title=title) for place, (id, title) in enumerate(parts, 1)
        ),
        own=own,
        places=Numbering(number),
    )

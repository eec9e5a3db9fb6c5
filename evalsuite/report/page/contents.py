"""Which sections a report has, each with its place in the outline and its number."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evalsuite.core.author_document import LabDocument
from evalsuite.report.book import outline
from evalsuite.report.sections.author import author_sections
from evalsuite.report.sections.author.author_sections import OwnText
from evalsuite.report.sections.background import background
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.sections.convergence import convergence
from evalsuite.report.sections.fairness import fairness
from evalsuite.report.sections.forecasts import forecasts
from evalsuite.report.sections.glossary import glossary
from evalsuite.report.sections.introduction import introduction
from evalsuite.report.sections.language import language
from evalsuite.report.sections.models import models
from evalsuite.report.sections.problems import problems
from evalsuite.report.sections.quality import quality
from evalsuite.report.sections.reproduction import reproduction
from evalsuite.report.sections.steptime import steptime
from evalsuite.report.sections.usage import usage
from evalsuite.report.sections.variants import variants
from evalsuite.report.text import names
from evalsuite.report.text.words import Rendered, Text

FIRST_AFTER = 9  # the number of the first chapter after the outline's eight
Placed = tuple[str, Section]  # number, section
WHOLE = (  # all sections after the verdict
    *(introduction, background, models, language, problems, steptime, usage, convergence, variants, forecasts),
    *(fairness, quality, reproduction, glossary, author_sections),
)


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
    parts: Sequence[Mapping[str, Any]]  # id, number and title of each
    own: tuple[OwnText, ...]  # the lab's sections at its end; they are parts too
    places: Numbering = field(compare=False)

    @property
    def in_annex(self) -> bool:
        return self.number.startswith("A")

    def part(self, id: str) -> Mapping[str, Any]:
        return next(part for part in self.parts if part["id"] == id)


def place_sections(subject: Subject) -> tuple[Placed, ...]:
    """Of a report without a lab's document the results come first, and all that explains them is its annex."""
    sections, lab = [section for of in WHOLE for section in of.sections(subject)], subject.book.evaluation.document
    if lab is None:
        behind = (*outline.ANNEX[:-1], outline.BACKGROUND, outline.ANNEX[-1])
        return _number(sorted(sections, key=lambda of: behind.index(of.id) if of.id in behind else -1), annex=behind)
    if lab.outline == "free":
        return _number(_ordered(subject, lab, sections), lab.order)
    return tuple(_tianshu(subject, lab, sections))


def chapters(subject: Subject) -> tuple[Chapter, ...]:
    return tuple(_chapter(subject, section, number) for number, section in place_sections(subject))


def _chapter(subject: Subject, section: Section, number: str) -> Chapter:
    own = author_sections.own(subject, section.id)
    parts = [*section.parts.items(), *((text["id"], text["title"]) for text in own)]
    facts = section.facts()
    return Chapter(
        id=section.id,
        number=number,
        title=section.title,
        template=section.template,
        facts=facts,
        finding=section.finding(facts) if section.finding else None,
        parts=[{"id": id, "number": f"{number}.{n}", "title": title} for n, (id, title) in enumerate(parts, 1)],
        own=own,
        places=Numbering(number),
    )


def _number(
    given: Iterable[Section], asked: Sequence[str] = (), first: int = 1, annex: Sequence[str] = outline.ANNEX
) -> tuple[Placed, ...]:
    """Chapters in numbers, then the annex, A1, A2, …, without what a lab has *asked* for by name."""
    sections = tuple(given)
    behind = [section for section in sections if section.id in annex and section.id not in asked]
    chapters = [section for section in sections if section not in behind]
    return (
        *((str(place), section) for place, section in enumerate(chapters, first)),
        *((f"A{place}", section) for place, section in enumerate(behind, 1)),
    )


def _tianshu(subject: Subject, lab: LabDocument, sections: Sequence[Section]) -> Iterator[Placed]:
    by_id = {section.id: section for section in sections}
    yield "1", by_id.pop(outline.INTRODUCTION)
    yield "2", by_id.pop(outline.BACKGROUND)
    for chapter in outline.MODEL_CHAPTERS:
        ours = [section for model in chapter.models if (section := by_id.pop(names.model_anchor(model), None))]
        titles = [replace(part, title=author_sections.titled(subject, chapter, str(part.title))) for part in ours]
        if not ours:
            yield chapter.number, author_sections.untested(subject, chapter)
        elif len(ours) == 1:
            yield chapter.number, titles[0]
        else:
            yield from ((f"{chapter.number}.{place}", section) for place, section in enumerate(titles, 1))
    yield "8", by_id.pop(outline.PROBLEMS)
    after = [section for section in sections if section.id in by_id]
    yield from _number(_ordered(subject, lab, after), lab.order, FIRST_AFTER)


def _ordered(subject: Subject, lab: LabDocument, sections: Sequence[Section]) -> tuple[Section, ...]:
    order = [*lab.order, *(key for key in outline.ORDERED if key not in lab.order)]
    keys = {model.id: outline.MODELS for model in subject.models}
    own = [section.id for section in sections if section.id.startswith("own-")]
    keys |= dict.fromkeys(own, outline.OWN)
    return tuple(sorted(sections, key=lambda section: order.index(keys.get(section.id, section.id))))

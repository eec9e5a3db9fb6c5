"""Which chapter comes where, and its number."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from evalsuite.core.author_document import LabDocument
from evalsuite.report.book import outline
from evalsuite.report.sections.author import author_sections
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.text import names

FIRST_AFTER = 9  # the number of the first chapter after the outline's eight
Placed = tuple[str, Section]  # number, section


def place(subject: Subject, sections: Sequence[Section]) -> tuple[Placed, ...]:
    lab = subject.book.evaluation.document
    if lab is None:
        return number(sections)
    if lab.outline == "free":
        return number(_ordered(subject, lab, sections), lab.order)
    return tuple(_tianshu(subject, lab, sections))


def number(given: Iterable[Section], asked: Sequence[str] = (), first: int = 1) -> tuple[Placed, ...]:
    """Chapters in numbers, then the annex, A1, A2, …, without what a lab has *asked* for by name."""
    sections = tuple(given)
    annex = [section for section in sections if section.id in outline.ANNEX and section.id not in asked]
    chapters = [section for section in sections if section not in annex]
    return (
        *((str(place), section) for place, section in enumerate(chapters, first)),
        *((f"A{place}", section) for place, section in enumerate(annex, 1)),
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
    yield from number(_ordered(subject, lab, after), lab.order, FIRST_AFTER)


def _ordered(subject: Subject, lab: LabDocument, sections: Sequence[Section]) -> tuple[Section, ...]:
    order = [*lab.order, *(key for key in outline.ORDERED if key not in lab.order)]
    return tuple(sorted(sections, key=lambda section: order.index(_key(subject, section))))


def _key(subject: Subject, section: Section) -> str:
    if section.id.startswith("own-"):
        return outline.OWN
    return outline.MODELS if section.id in {model.id for model in subject.models} else section.id

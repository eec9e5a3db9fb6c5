"""What the lab's document adds to the page: chapters of its own, sections of its own in others, models without data."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from evalsuite.core.author_document import BothLanguages
from evalsuite.report.book.outline import FREE_PLACES, MODEL_CHAPTERS, OWN, ModelChapter
from evalsuite.report.sections.author.author import FilledText
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.text import names
from evalsuite.report.text.words import Rendered

OwnText = Mapping[str, Any]  # "id", "title" and "paragraphs" of a section of the lab's


def sections(subject: Subject) -> Iterable[Section]:
    for text in _at(subject, OWN):
        yield Section(id=text["id"], title=text["title"], template="author/own.html.j2", facts=partial(dict, text))


def own(subject: Subject, chapter: str) -> tuple[OwnText, ...]:
    return next((_at(subject, place) for place, id in _places(subject).items() if id == chapter), ())


def _at(subject: Subject, place: str) -> tuple[OwnText, ...]:
    document = subject.book.evaluation.document
    if document is None:
        return ()
    known = {OWN, *_places(subject)}
    return tuple(
        {
            "id": f"own-{number}",
            "title": subject.words("page.by_author", text=subject.words.same(vars(section.title))),
            "paragraphs": prose(section.text, subject, marked=False),
        }
        for number, section in enumerate(document.sections, 1)
        if (section.place if section.place in known else OWN) == place
    )


def _places(subject: Subject) -> dict[str, str]:
    document, models = subject.book.evaluation.document, [model.name for model in subject.models]
    places = dict(FREE_PLACES)
    for chapter in MODEL_CHAPTERS:
        tested = [names.model_anchor(model) for model in chapter.models if model in models]
        if tested:
            places[chapter.key] = tested[-1]  # after all of its kind
        elif document and document.outline == "tianshu":
            places[chapter.key] = untested_id(chapter)
    return places


def untested_id(chapter: ModelChapter) -> str:
    return f"untested-{chapter.key}"


def prose(written: BothLanguages | None, subject: Subject, marked: bool = True) -> tuple[Rendered, ...]:
    """Paragraphs; *marked* as the author's at the end of the last, where no title above them says whose they are."""
    filled = [FilledText(subject.words, subject.book, each) for each in (written.paragraphs if written else ())]
    return (*filled[:-1], *(subject.words("page.by_author", text=each) if marked else each for each in filled[-1:]))


def untested(subject: Subject, chapter: ModelChapter) -> Section:
    return Section(
        id=untested_id(chapter),
        title=subject.words(f"outline.{chapter.key}"),
        template="author/untested.html.j2",
        facts=lambda: None,
    )


def titled(subject: Subject, chapter: ModelChapter, title: str) -> Rendered | str:
    """The title of a model's chapter: the outline's, and which model of the kind it is where that does not say it."""
    words = subject.words
    known = words(f"outline.{chapter.key}")
    if any(known.plain(language) in title for language in words.languages):
        return title
    return words("outline.which", kind=known, model=title)

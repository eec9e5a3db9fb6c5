"""The sections of the models: participants, then tables and figures for each condition."""

from collections.abc import Iterable, Mapping
from functools import partial

from evalsuite.report.book import model_figures
from evalsuite.report.book.blocks import Model
from evalsuite.report.book.participants import is_stated
from evalsuite.report.book.result_tables import tables
from evalsuite.report.sections.author import author
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.sections.language.language import language_rows
from evalsuite.report.sections.why import why


def sections(subject: Subject) -> Iterable[Section]:
    for of in subject.models:
        yield Section(id=of.id, title=of.title, template="models/model.html.j2", facts=partial(_facts, subject, of))


def _facts(subject: Subject, model: Model) -> Mapping[str, object]:
    book, words = subject.book, subject.words
    return {
        "model": model,
        "kinds": len({participant.kind for each in subject.models for participant in each.participants}) > 1,
        "stated": any(map(is_stated, model.participants)),
        "tables": tables(model.blocks),
        "why": () if subject.book.huge else why.cards(book, model, words),
        "notes": author.notes(book, words, model.name),
        "table": None if subject.book.huge or language_rows(model) else model_figures.of_model(book, model),
    }

"""The sections of the models: participants, then tables and figures for each condition."""

from collections.abc import Iterable, Mapping
from typing import Any

from evalsuite.report.book import model_figures
from evalsuite.report.book.blocks import Model, distinctions
from evalsuite.report.book.book import Book
from evalsuite.report.book.participants import is_stated
from evalsuite.report.book.result_tables import policies
from evalsuite.report.sections.author import author
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.sections.why import why
from evalsuite.report.text import numbers
from evalsuite.results.measure.latency import of_case


def sections(subject: Subject) -> Iterable[Section]:
    return (_section(subject, model) for model in subject.models)


def _section(subject: Subject, model: Model) -> Section:
    return Section(
        id=model.id,
        title=model.title,
        template="models/model.html.j2",
        facts=lambda: _facts(subject, model),
        markdown=lambda writer: writer.fill(
            "models/model.md.j2",
            model=model,
            policies=policies(model.blocks),
            table=model_figures.of_model(subject.book, model),
            why=[(card["title"], card["said"]) for card in why.cards(subject.book, model, writer.words)],
        ),
    )


def _facts(subject: Subject, model: Model) -> Mapping[str, object]:
    book, words = subject.book, subject.words
    return {
        "model": model,
        "kinds": len({participant.kind for each in subject.models for participant in each.participants}) > 1,
        "stated": any(map(is_stated, model.participants)),
        "policies": policies(model.blocks),
        "why": () if subject.book.huge else why.cards(book, model, words),
        "notes": author.notes(book, words, model.name),
        "table": None if subject.book.huge else model_figures.of_model(book, model),
        "latency": () if subject.book.huge else latency_rows(book, model),
    }


def latency_rows(book: Book, model: Model) -> list[Mapping[str, Any]]:
    """Time of one step: the median over the repeats of each run's percentiles."""
    valid = [summary for block in model.blocks for summary in block.valid]
    notes = distinctions(summary.case for summary in valid)
    timed = [(summary, latency) for summary in valid if (latency := of_case(summary))]
    largest = {row.case.series: row for row, _ in sorted(timed, key=lambda pair: pair[0].case.total_devices)}
    return [
        {
            "summary": summary,
            "notes": notes[summary.case.id],
            "percentiles": [None if of is None else numbers.milliseconds(of) for of in latency.percentiles_s],
            "latency": latency,
        }
        for summary, latency in timed
        if not book.large or largest[summary.case.series] is summary
    ]

"""The sections of the models: participants, then tables and figures for each condition."""

from collections.abc import Iterable, Mapping
from typing import Any

from evalsuite.report import figures
from evalsuite.report.book import model_figures
from evalsuite.report.book.blocks import Block, Model, distinctions
from evalsuite.report.book.book import Book
from evalsuite.report.book.participants import is_stated
from evalsuite.report.book.result_tables import BatchPolicy, policies
from evalsuite.report.figures import Look
from evalsuite.report.sections.author import author
from evalsuite.report.sections.common import figure_titles
from evalsuite.report.sections.common.captioned_figure import CaptionedFigure, series_of_block
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.sections.why import why
from evalsuite.report.text import names, numbers
from evalsuite.report.text.words import Words
from evalsuite.results.measure.latency import of_case

FEWEST_OPEN = 3


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
            largest=model_figures.largest_batches(subject.book, model),
            table=model_figures.of_model(subject.book, model),
        ),
    )


def _facts(subject: Subject, model: Model) -> Mapping[str, object]:
    book, look, words = subject.book, subject.look, subject.words
    scaling = why.scaling_blocks((model,))
    return {
        "model": model,
        "kinds": len({participant.kind for each in subject.models for participant in each.participants}) > 1,
        "stated": any(map(is_stated, model.participants)),
        "policies": policies(model.blocks),
        "why": () if subject.book.huge else why.cards(book, model, words),
        "notes": author.notes(book, words, model.name),
        "table": None if subject.book.huge else model_figures.of_model(book, model),
        "largest": () if subject.book.huge else model_figures.largest_batches(book, model),
        "latency": () if subject.book.huge else latency_rows(book, model),
        "scaling": figure_titles.of_blocks(scaling, words) if scaling else None,
        "figures": {block.id: figures_of_block(block, look, words) for block in model.blocks},
    }


def opened(
    policy: BatchPolicy, figures: Mapping[str, tuple[CaptionedFigure, ...]]
) -> tuple[tuple[CaptionedFigure, ...], tuple[CaptionedFigure, ...]]:
    """The figure that is open below a results table, of its largest block, and those that a click shows."""
    most = max(policy.blocks, key=lambda block: len(block.columns))
    shown = figures[most.id][:1] if len(most.columns) >= FEWEST_OPEN else ()
    drawn = (figure for block in policy.blocks if len(block.columns) > 1 for figure in figures[block.id])
    return shown, tuple(figure for figure in drawn if figure not in shown)


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


def figures_of_block(block: Block, look: Look, words: Words) -> tuple[CaptionedFigure, ...]:
    """Throughput per device; the others stand under the answer. A series alone has none."""
    if len({summary.case.series for summary in block.valid}) < 2 or block.book.huge:
        return ()
    panel = figures.LinePanel(lines=series_of_block(block, "per_device"), unit=names.visible(block.unit), valued=True)
    drawn = CaptionedFigure(
        figure=figures.lines((panel,), look, id=f"f-{block.id}-t", value="items_per_s_per_device"),
        title=figure_titles.of_throughput(block, words),
        help=words("figures.per_device_see"),
        tables=((f"{block.id}-t", words("tables.throughput")),),
    )
    return (drawn,)

"""The sections of the models: participants, then tables and figures for each condition."""

from collections.abc import Iterable, Mapping

from evalsuite.report.book import cells, model_figures
from evalsuite.report.book.blocks import Model
from evalsuite.report.book.participants import is_stated
from evalsuite.report.book.result_tables import BatchPolicy, policies
from evalsuite.report.sections.author import author
from evalsuite.report.sections.common import figure_titles
from evalsuite.report.sections.common.captioned_figure import CaptionedFigure
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.sections.models import block_figures, latency, network
from evalsuite.report.sections.overview.overview import scaling_blocks
from evalsuite.report.sections.variants import effects, sweeps
from evalsuite.report.sections.why import why
from evalsuite.report.text import names

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
            network=network.of_model(subject.book, model),
        ),
    )


def _facts(subject: Subject, model: Model) -> Mapping[str, object]:
    book, look, words = subject.book, subject.look, subject.words
    pairs, of_effects = cells.lift_shared(() if subject.in_parts else effects.effects(book, model))
    swept = () if subject.in_parts else sweeps.sweeps(book, model)
    option, by_option = ("", ()) if subject.in_parts else sweeps.of_option(book, model)
    measured = network.of_model(book, model)
    scaling = scaling_blocks((model,))
    options = [option for option in effects.OPTIONS if any(effect.option == option for effect in pairs)]
    return {
        "model": model,
        "kinds": len({participant.kind for each in subject.models for participant in each.participants}) > 1,
        "stated": any(map(is_stated, model.participants)),
        "policies": policies(model.blocks),
        "why": () if subject.in_parts else why.cards(book, model, words),
        "notes": author.notes(book, words, model.name),
        "table": None if subject.in_parts else model_figures.of_model(book, model),
        "largest": () if subject.in_parts else model_figures.largest_batches(book, model),
        "latency": () if subject.in_parts else latency.rows(book, model),
        "part": names.part_file(model.name) if subject.in_parts else None,
        "scaling": figure_titles.of_blocks(scaling, words) if scaling else None,
        "figures": {block.id: block_figures.of_block(block, look, words) for block in model.blocks},
        "effects": pairs,
        "of_effects": of_effects,
        "effects_judged": effects.judged_alike(pairs),
        "effect_figures": effects.draw_options(model, pairs, options, look, words),
        "effects_alone": list(filter(None, (effects.describe_alone(pairs, option, words) for option in options))),
        "sweep_table": sweeps.table(swept) if swept else None,
        "sweep_figure": sweeps.draw_sweeps(model, swept, look, words) if swept else None,
        "option_figure": sweeps.draw_option(model, option, by_option, look, words) if by_option else None,
        "network": measured,
        "network_figure": network.draw_network(model, measured, words),
    }


def opened(
    policy: BatchPolicy, figures: Mapping[str, tuple[CaptionedFigure, ...]], first: bool
) -> tuple[tuple[CaptionedFigure, ...], tuple[CaptionedFigure, ...]]:
    """The figures that are open below a results table, and those that a click shows; a lone series has none.

    Two series are as quickly read in the table: their figure is open only if it is the model's *first*, of more scales.
    """
    most = max(policy.blocks, key=lambda block: len(block.columns))  # its first figure is open
    drawn = {block.id: figures[block.id] for block in policy.blocks if len(block.columns) > 1}
    scales = {(case.nodes, case.devices_per_node) for case in most.cases}
    curves = first and len(scales) >= FEWEST_OPEN
    shown = drawn.get(most.id, ())[:1] if curves or len(most.columns) >= FEWEST_OPEN else ()
    return shown, tuple(figure for figures in drawn.values() for figure in figures if figure not in shown)

"""The sections of the models: participants, then tables and figures for each condition."""

from collections.abc import Iterable, Mapping
from itertools import chain

from evalsuite.report.book import cells, heading, model_figures, states
from evalsuite.report.book.blocks import Model
from evalsuite.report.book.book import Book
from evalsuite.report.book.model_figures import FiguresTable, LargestTable
from evalsuite.report.book.participants import is_stated
from evalsuite.report.book.result_tables import BatchPolicy, Grid, policies
from evalsuite.report.sections.author import author
from evalsuite.report.sections.common.captioned_figure import CaptionedFigure
from evalsuite.report.sections.common.markdown import NOTHING, MarkdownWriter, listed, table, text
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.sections.models import block_figures, latency, network
from evalsuite.report.sections.variants import effects, sweeps
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
        markdown=lambda writer: _markdown(subject.book, model, writer),
    )


def _facts(subject: Subject, model: Model) -> Mapping[str, object]:
    book, look, words = subject.book, subject.look, subject.words
    pairs, of_effects = cells.lift_shared(() if subject.in_parts else effects.effects(book, model))
    swept = () if subject.in_parts else sweeps.sweeps(book, model)
    measured = network.of_model(book, model)
    options = [option for option in effects.OPTIONS if any(one.option == option for one in pairs)]
    return {
        "model": model,
        "kinds": len({one.kind for each in subject.models for one in each.participants}) > 1,
        "stated": any(map(is_stated, model.participants)),
        "policies": policies(model.blocks),
        "notes": author.notes(book, words, model.name),
        "table": None if subject.in_parts else model_figures.of_model(book, model),
        "largest": () if subject.in_parts else model_figures.largest_batches(book, model),
        "latency": () if subject.in_parts else latency.rows(book, model),
        "part": names.part_file(model.name) if subject.in_parts else None,
        "figures": {block.id: block_figures.of_block(block, look, words) for block in model.blocks},
        "effects": pairs,
        "of_effects": of_effects,
        "effects_judged": effects.judged_alike(pairs),
        "effect_figures": effects.draw_options(model, pairs, options, look, words),
        "effects_alone": list(filter(None, (effects.describe_alone(pairs, option, words) for option in options))),
        "sweep_table": sweeps.table(swept) if swept else None,
        "sweep_figure": sweeps.draw_sweeps(model, swept, look, words) if swept else None,
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
    return shown, tuple(one for found in drawn.values() for one in found if one not in shown)


def _markdown(book: Book, model: Model, writer: MarkdownWriter) -> Iterable[str]:
    yield f"## {text(model.title)}"
    for policy in policies(model.blocks):
        yield from _policy(policy, writer)
    for largest in model_figures.largest_batches(book, model):
        yield from _largest(largest, writer)
    if found := model_figures.of_model(book, model):
        yield from _figures(found, writer)
    if networks := network.of_model(book, model):
        yield from network.markdown(networks, writer)


def _largest(found: LargestTable, writer: MarkdownWriter) -> Iterable[str]:
    title = writer.words("models.largest", precision=names.precision(found.precision), unit=names.visible(found.unit))
    yield f"### {writer.render(title)}"
    yield writer.word("models.largest_note")
    yield from writer.of_all(found.of_all)
    heads = [writer.word("words.framework"), writer.word("filter.batch_per_device")]
    heads += [f"{nodes}×{per_node}" for nodes, per_node in found.scales]
    lines = [
        [writer.case_name(row.case, row.notes), ", ".join(map(str, row.batches)), *map(writer.cell, row.cells)]
        for row in found.rows
    ]
    yield table(heads, lines, right=range(1, len(heads)))


def _figures(found: FiguresTable, writer: MarkdownWriter) -> Iterable[str]:
    yield f"### {writer.render(found.title(writer.words))}"
    if found.counts_twice:
        yield writer.word("models.stated_note")
    yield from writer.of_all(found.of_all)
    keys = ("words.framework", "filter.precision", "words.scale", "filter.batch_per_device")
    heads = [*map(writer.word, keys), *map(writer.render, found.heads(writer.words))]
    heads += [writer.word("columns.items_per_s"), *(writer.word(f"totals.{column.name}") for column in found.columns)]
    lines = []
    for row in found.rows:
        case = row.case
        where = [names.precision(case.precision), names.scale(case), str(case.batch_per_device)]
        sizes, values = ([text(one) if one else NOTHING for one in found] for found in (row.sizes, row.values))
        lines.append([writer.case_name(case, row.notes), *where, *sizes, writer.cell(row.throughput), *values])
    yield table(heads, lines, right=range(2, len(heads)))


def _policy(policy: BatchPolicy, writer: MarkdownWriter) -> Iterable[str]:
    words = writer.words
    yield f"### {writer.render(heading.policy(policy, words))}"
    if policy.summaries:
        yield f"**{writer.render(writer.beyond('markdown.throughput', unit=names.visible(policy.unit)))}**"
    else:
        yield writer.word("models.no_valid")
    yield from writer.of_all(policy.throughput)
    if policy.throughput.rows:
        yield _values(policy, policy.throughput, writer)
    if policy.has_scaling:
        yield f"**{writer.render(writer.beyond('markdown.speedup'))}**"
        yield _values(policy, policy.speedup, writer)
    if policy.unsupported:
        yield f"{writer.word('models.unsupported')} {', '.join(_unsupported(policy, writer))}"
    legend = [key for key in policy.throughput.legend if key != "value"]
    if legend:
        yield listed(_explained(key, writer) for key in legend)


def _unsupported(policy: BatchPolicy, writer: MarkdownWriter) -> Iterable[str]:
    for row in chain.from_iterable(policy.unsupported):
        yield f"{text(row.column.title)} ({writer.render(heading.setting_of(row, policy, writer.words))})"


def _values(policy: BatchPolicy, grid: Grid, writer: MarkdownWriter) -> str:
    keys = (
        "words.framework",
        "models.setting",
        *(("convergence.global_batch" if policy.strong else "filter.batch_per_device",) if policy.mixed else ()),
    )
    heads = [*map(writer.word, keys), *(f"{nodes}×{per_node}" for nodes, per_node in policy.scales)]
    lines = []
    for row in grid.rows:
        setting = writer.render(heading.setting_of(row, policy, writer.words))
        recipe = f" ({text(row.column.recipe)})" if row.column.show_recipe else ""
        batch = [str(row.block.batch)] if policy.mixed else []
        signs = "".join(states.MARKS[mark] for mark in row.marks) + (f" (n = {row.n})" if row.n is not None else "")
        lines.append([text(row.column.title) + recipe + signs, setting, *batch, *map(writer.cell, row.cells)])
    return table(heads, lines, right=range(2, len(heads)))


def _explained(key: str, writer: MarkdownWriter) -> str:
    sign = text(states.MARKS[key]) if key in states.MARKS else writer.state(key)
    meaning = writer.word(f"status.{key}")
    return meaning if meaning.startswith(sign) else f"{sign} {meaning}"

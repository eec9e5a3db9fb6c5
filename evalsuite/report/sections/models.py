"""The sections of the models: participants, a block of tables and figures for each condition, what single options
change, batch sizes, step times, and what the author found."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evalsuite.model import AuthorNote
from evalsuite.report.book import heading, states
from evalsuite.report.book.blocks import Block, Model, Row
from evalsuite.report.sections import author, block_figures, effects, latency, sweeps
from evalsuite.report.sections.author import Said
from evalsuite.report.sections.drawn import Drawn
from evalsuite.report.sections.effects import Effect
from evalsuite.report.sections.latency import LatencyRow
from evalsuite.report.sections.markdown import MarkdownWriter, table, text
from evalsuite.report.sections.section import Section, Subject
from evalsuite.report.sections.sweeps import Sweep
from evalsuite.report.text import names


@dataclass(frozen=True, kw_only=True)
class ModelFacts:
    """What the section of one model shows."""

    model: Model
    notes: tuple[tuple[AuthorNote, Said], ...]
    latency: tuple[LatencyRow, ...]
    part: str | None  # the file that has the rest, where the model has a page of its own
    figures: Mapping[str, tuple[Drawn, ...]]  # block id → its figures
    effects: tuple[Effect, ...]
    effect_figures: Mapping[str, Drawn | None]  # option → its figure
    sweeps: tuple[Sweep, ...]
    sweep_figure: Drawn | None


def sections(subject: Subject) -> Iterable[Section]:
    """One for each model."""
    return (_section(subject, model) for model in subject.models)


def _section(subject: Subject, model: Model) -> Section:
    return Section(
        id=model.id,
        title=model.title,
        template="model.html.j2",
        facts=lambda: _facts(subject, model),
        markdown=lambda writer: _markdown(model, writer),
    )


def _facts(subject: Subject, model: Model) -> ModelFacts:
    book, look, words = subject.book, subject.look, subject.words
    pairs = () if subject.in_parts else effects.effects(book, model)
    swept = () if subject.in_parts else sweeps.sweeps(book, model)
    options = [option for option in effects.OPTIONS if any(one.option == option for one in pairs)]
    return ModelFacts(
        model=model,
        notes=author.said(book, words, model.name),
        latency=() if subject.in_parts else latency.rows(book, model),
        part=names.part_file(model.name) if subject.in_parts else None,
        figures={block.id: block_figures.of_block(block, look, words) for block in model.blocks},
        effects=pairs,
        effect_figures={option: effects.drawn(model, pairs, option, look, words) for option in options},
        sweeps=swept,
        sweep_figure=sweeps.drawn(model, swept, look, words) if swept else None,
    )


def _markdown(model: Model, writer: MarkdownWriter) -> Iterable[str]:
    yield f"## {text(model.title)}"
    for block in model.blocks:
        yield from _block(block, writer)


def _block(block: Block, writer: MarkdownWriter) -> Iterable[str]:
    words = writer.words
    yield f"### {writer.said(heading.heading(block, words))}"
    if block.valid:
        yield f"**{writer.said(words('models.throughput_caption', unit=names.visible(block.unit)))}**"
    else:
        yield writer.word("models.no_valid")
    yield _values(block, block.throughput, writer)
    if block.has_scaling:
        yield f"**{writer.word('models.speedup_caption')}**"
        yield _values(block, block.speedup, writer)
    if block.legend:
        yield "<br>\n".join(f"{_sign(key)} {writer.word(f'status.{key}')}" for key in block.legend if key != "value")


def _values(block: Block, rows: Sequence[Row], writer: MarkdownWriter) -> str:
    heads = [writer.word("words.nodes"), writer.word("words.devices")]
    columns = [text(column.label) for column in block.columns]
    lines = [[str(row.nodes), str(row.devices), *map(writer.cell, row.cells)] for row in rows]
    return table([*heads, *columns], lines, right=range(2 + len(columns)))


def _sign(key: str) -> str:
    return text(states.MARKS.get(key) or states.GLYPHS[key])

"""Scaling across models: the efficiency of every block side by side, and where it breaks."""

from collections.abc import Iterable, Mapping, Sequence

from evalsuite.report import figures
from evalsuite.report.book import heading
from evalsuite.report.book.blocks import Block, Model
from evalsuite.report.figures import Look
from evalsuite.report.sections.common import figure_titles
from evalsuite.report.sections.common.captioned_figure import CaptionedFigure, label, series_of_block
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.sections.overview import breaks
from evalsuite.report.text import names, options
from evalsuite.report.text.words import Rendered, Words

MOST_PANELS = 12


def sections(subject: Subject) -> Iterable[Section]:
    blocks = scaling_blocks(subject.models)
    if len(blocks) > 1 or (subject.book.breaks and subject.book.breaks.found):
        yield Section(
            id="overview",
            title=subject.words("overview.title"),
            template="overview/overview.html.j2",
            facts=lambda: _facts(blocks, subject),
            markdown=lambda writer: writer.fill(
                "overview/overview.md.j2", breaks=breaks.facts(subject.book, blocks, writer.words)
            ),
            finding=lambda facts: facts["figure"].title if facts["figure"] else facts["breaks"].said[0],
        )


def _facts(blocks: Sequence[Block], subject: Subject) -> Mapping[str, object]:
    shown = [block for block in blocks if len({one.case.series for one in block.valid}) > 1][:MOST_PANELS]
    shown = (shown or list(blocks[:MOST_PANELS])) if len(blocks) > 1 else []
    return {
        "figure": draw_blocks(shown, subject.look, subject.words) if shown else None,
        "left_out": len(blocks) - len(shown) if shown else 0,
        "breaks": breaks.facts(subject.book, blocks, subject.words),
    }


def scaling_blocks(models: Sequence[Model]) -> tuple[Block, ...]:
    found = [block for model in models for block in model.blocks if block.has_scaling and not block.strong]
    return tuple(sorted(found, key=lambda block: (names.model_order(block.model), block.batch)))


def draw_blocks(blocks: Sequence[Block], look: Look, words: Words) -> CaptionedFigure:
    settings = _settings(blocks, words)
    panels = tuple(
        figures.Multiple(
            label=names.model(block.model), detail=label(setting), series=series_of_block(block, "efficiency")
        )
        for block, setting in zip(blocks, settings, strict=True)
    )
    threshold = blocks[0].book.efficiency_threshold
    figure = figures.small_multiples(panels, look, id="f-overview", threshold=threshold)
    tables = tuple(
        (f"{block.id}-{'s' if block.book.huge else 'e'}", options.apart([names.model(block.model), setting], words))
        for block, setting in zip(blocks, settings, strict=True)
    )
    grey = any(entry.key == "others" for entry in figure.legend)
    help = words("overview.see" if grey else "overview.see_two")
    return CaptionedFigure(figure=figure, title=figure_titles.of_blocks(blocks, words), help=help, tables=tables)


def _settings(blocks: Sequence[Block], words: Words) -> list[Rendered]:
    parts: list[list[Rendered | str]] = [[names.precision(block.precision), block.short_batch] for block in blocks]
    keys: list[tuple[object, ...]] = [(block.model, block.precision, block.batch) for block in blocks]
    for place, block in enumerate(blocks):
        alike = [other for key, other in zip(keys, blocks, strict=True) if key == keys[place]]
        if len({other.unit for other in alike}) > 1:
            parts[place].append(names.visible(block.unit))
        if len({other.options for other in alike if other.unit == block.unit}) > 1:
            parts[place] += [options.option(*pair, words) for pair in heading.options_beside(block)]
        if called := heading.variant_name(block, words):
            settings = {(each.precision, each.batch) for each in blocks if each.model == block.model}
            parts[place] = [called] if len(settings) == 1 else [*parts[place], called]
    return [options.apart(each, words) for each in parts]

"""Scaling across models: the efficiency of every block side by side, and who loses where."""

from collections.abc import Iterable, Mapping, Sequence

from evalsuite.report import figures
from evalsuite.report.book import heading
from evalsuite.report.book.blocks import Block, Model
from evalsuite.report.figures import Look
from evalsuite.report.sections.common import figure_titles
from evalsuite.report.sections.common.captioned_figure import CaptionedFigure, label, series_of_block
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.sections.why import why
from evalsuite.report.text import names, options
from evalsuite.report.text.words import Text, Words

MOST_PANELS = 12


def sections(subject: Subject) -> Iterable[Section]:
    blocks = scaling_blocks(subject.models)
    if len(blocks) > 1:
        yield Section(
            id="overview",
            title=subject.words("overview.title"),
            template="overview/overview.html.j2",
            facts=lambda: _facts(blocks, subject),
            markdown=lambda writer: writer.fill(
                "overview/overview.md.j2",
                why=[said for _, said in why.findings(subject.book, subject.models, writer.words)],
            ),
            finding=lambda facts: facts["figure"].title,
        )


def _facts(blocks: Sequence[Block], subject: Subject) -> Mapping[str, object]:
    shown = ([block for block in blocks if len({row.case.series for row in block.valid}) > 1] or blocks)[:MOST_PANELS]
    title = figure_titles.of_blocks(blocks, subject.words)  # of all, as everywhere on the page
    return {
        "figure": draw_blocks(shown, title, subject.look, subject.words),
        "left_out": len(blocks) - len(shown),
        "why": tuple(why.findings(subject.book, subject.models, subject.words)),
    }


def scaling_blocks(models: Sequence[Model]) -> tuple[Block, ...]:
    blocks = [block for model in models for block in model.blocks if block.has_scaling and not block.strong]
    return tuple(sorted(blocks, key=lambda block: (names.model_order(block.model), block.batch)))


def draw_blocks(blocks: Sequence[Block], title: Text, look: Look, words: Words) -> CaptionedFigure:
    settings = heading.settings(blocks, words)
    threshold = blocks[0].book.efficiency_threshold
    panels = tuple(
        figures.LinePanel(
            lines=series_of_block(block, "efficiency"),
            label=names.model(block.model),
            detail=label(setting),
            share=True,
            target=threshold,
            valued=True,
        )
        for block, setting in zip(blocks, settings, strict=True)
    )
    figure = figures.lines(panels, look, id="f-overview", value="efficiency")
    tables = tuple(
        (f"{block.id}-{'s' if block.book.huge else 'e'}", options.apart([names.model(block.model), setting], words))
        for block, setting in zip(blocks, settings, strict=True)
    )
    return CaptionedFigure(figure=figure, title=title, help=words("overview.see"), tables=tables)

"""Figures of a block: throughput per device next to the whole job's, efficiency next to speed-up.

A series alone has no figure: its table says as much.
"""

from dataclasses import replace

from evalsuite.report import figures
from evalsuite.report.book.blocks import Block
from evalsuite.report.figures import Figure, Look
from evalsuite.report.sections.common import figure_titles
from evalsuite.report.sections.common.captioned_figure import CaptionedFigure, series_of_block
from evalsuite.report.text import names
from evalsuite.report.text.words import Text, Words

MOST_BARS = 4  # series, and scales above the base, up to which speed-up is drawn as bars; beyond, as dots of efficiency
MOST_POINTS_DRAWN_TWICE = 80  # of a block: above, its figures have one view
MOST_CASES_DRAWN_TWICE = 180  # of a report: below the 1,000 runs (200 cases) that are to be built in seconds


def of_block(block: Block, look: Look, words: Words) -> tuple[CaptionedFigure, ...]:
    if len({one.case.series for one in block.valid}) < 2 or block.book.huge:
        return ()
    if len({one.case.total_devices for one in block.valid}) < 2:
        return (_one_scale(block, look, words),)
    found = [_throughput(block, look, words)]
    if block.has_scaling:
        found.append(_scaling(block, look, words))
    return tuple(found)


def _two_views(block: Block) -> bool:
    return len(block.book.planned) <= MOST_CASES_DRAWN_TWICE and len(block.valid) <= MOST_POINTS_DRAWN_TWICE


def _one_scale(block: Block, look: Look, words: Words) -> CaptionedFigure:
    series = series_of_block(block, "items_per_s")
    figure = figures.throughput(series, look, id=f"f-{block.id}-t", unit=names.visible(block.unit))
    title = figure_titles.of_throughput(block, words, "throughput_one")
    return _captioned(figure, title, "one_scale_see", words, f"{block.id}-t", "throughput")


def _throughput(block: Block, look: Look, words: Words) -> CaptionedFigure:
    unit, title = names.visible(block.unit), figure_titles.of_throughput(block, words, "throughput")
    series = series_of_block(block, "per_device")
    figure = figures.per_device(series, look, id=f"f-{block.id}-t", unit=unit)
    drawn = _captioned(figure, title, "per_device_see", words, f"{block.id}-t", "throughput")
    if not _two_views(block):
        return drawn
    series = series_of_block(block, "items_per_s")
    whole = figures.throughput(series, look, id=f"f-{block.id}-tl", unit=unit)
    other = _captioned(whole, title, "throughput_see", words, f"{block.id}-t", "throughput")
    return replace(drawn, view="per_device", other=replace(other, view="logarithmic"))


def _scaling(block: Block, look: Look, words: Words) -> CaptionedFigure:
    title = figure_titles.of_efficiency(block, words)

    def bars() -> CaptionedFigure:
        figure = figures.speedup(series_of_block(block, "speedup"), look, id=f"f-{block.id}-s")
        return replace(_captioned(figure, title, "speedup_see", words, f"{block.id}-s", "speedup"), view="speedup")

    def dots() -> CaptionedFigure:
        series, threshold = series_of_block(block, "efficiency"), block.efficiency_threshold
        figure = figures.efficiency(series, look, id=f"f-{block.id}-e", threshold=threshold)
        return replace(
            _captioned(figure, title, "efficiency_see", words, f"{block.id}-s", "speedup"), view="efficiency"
        )

    series = {one.case.series for one in block.valid}
    scales = {one.case.total_devices for one in block.valid}
    scales -= {one.base.total_devices for one in block.valid if one.base}
    few = len(series) <= MOST_BARS and len(scales) <= MOST_BARS
    first, other = (bars, dots) if few else (dots, bars)
    return replace(first(), other=other()) if _two_views(block) else replace(first(), view="")


def _captioned(figure: Figure, title: Text, see: str, words: Words, table: str, name: str) -> CaptionedFigure:
    return CaptionedFigure(
        figure=figure,
        title=title,
        help=words(f"figures.{see}"),
        tables=((table, words(f"tables.{name}")),),
    )

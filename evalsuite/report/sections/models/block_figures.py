"""Figures of a block: throughput per device, and efficiency. Throughput and speed-up stand under the answer.

A series alone has no figure: its table says as much.
"""

from evalsuite.report import figures
from evalsuite.report.book.blocks import Block
from evalsuite.report.figures import Figure, Look
from evalsuite.report.sections.common import figure_titles
from evalsuite.report.sections.common.captioned_figure import CaptionedFigure, series_of_block
from evalsuite.report.text import names
from evalsuite.report.text.words import Text, Words

MOST_CASES_DRAWN_TWICE = 180  # of a report: below the 1,000 runs (200 cases) that are to be built in seconds


def of_block(block: Block, look: Look, words: Words) -> tuple[CaptionedFigure, ...]:
    if len({summary.case.series for summary in block.valid}) < 2 or block.book.huge:
        return ()
    scaling = (_efficiency(block, look, words),) if block.has_scaling else ()
    twice = len(block.book.planned) <= MOST_CASES_DRAWN_TWICE
    return (_throughput(block, look, words), *scaling) if twice or not scaling else scaling


def _throughput(block: Block, look: Look, words: Words) -> CaptionedFigure:
    one_scale = len({summary.case.total_devices for summary in block.valid}) < 2
    series = series_of_block(block, "items_per_s" if one_scale else "per_device")
    draw = figures.throughput if one_scale else figures.per_device
    figure = draw(series, look, id=f"f-{block.id}-t", unit=names.visible(block.unit))
    title = figure_titles.of_throughput(block, words, "throughput_one" if one_scale else "throughput")
    see = "one_scale_see" if one_scale else "per_device_see"
    return _captioned(figure, title, see, words, f"{block.id}-t", "throughput")


def _efficiency(block: Block, look: Look, words: Words) -> CaptionedFigure:
    series, threshold = series_of_block(block, "efficiency"), block.efficiency_threshold
    figure = figures.efficiency(series, look, id=f"f-{block.id}-e", threshold=threshold)
    title = figure_titles.of_efficiency(block, words)
    return _captioned(figure, title, "efficiency_see", words, f"{block.id}-s", "speedup")


def _captioned(figure: Figure, title: Text, see: str, words: Words, table: str, name: str) -> CaptionedFigure:
    return CaptionedFigure(
        figure=figure, title=title, help=words(f"figures.{see}"), tables=((table, words(f"tables.{name}")),)
    )

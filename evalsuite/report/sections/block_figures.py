"""Figures a, b and c of a block: throughput, speed-up or efficiency, throughput per device."""

from dataclasses import replace

from evalsuite.report import figures
from evalsuite.report.book.blocks import Block
from evalsuite.report.figures import Figure, Look
from evalsuite.report.sections.drawn import FORMS, Drawn, series_of_block
from evalsuite.report.text import names, numbers
from evalsuite.report.text.words import Text, Words

FEW_SCALES = 4  # up to here speed-up stands as bars beside their ideal, beyond as lines of efficiency
MOST_POINTS_DRAWN_TWICE = 80  # of a block: above, its figures have one view
MOST_CASES_DRAWN_TWICE = 180  # of a report: below the 1,000 runs (200 cases) that are to be built in seconds


def of_block(block: Block, look: Look, words: Words) -> tuple[Drawn, ...]:
    """Figures a, b and c of a block: throughput, speed-up or efficiency, throughput per device."""
    if not block.valid:
        return ()
    scales = {one.case.total_devices for one in block.valid}
    if len(scales) < 2:
        return (_throughput(block, look, words, "one_scale_see"),)
    found = [_throughput(block, look, words, "throughput_see")]
    if block.book.huge:
        return tuple(found)  # the part of its model has the others
    if block.has_scaling:
        found.append(_scaling(block, look, words, bars_first=len(scales) <= FEW_SCALES))
    if block.has_scaling and block.book.large:
        return tuple(found)  # throughput per device is efficiency times that of the base; its table is below
    figure = figures.per_device(
        series_of_block(block, "per_device"), look, id=f"f-{block.id}-d", unit=names.visible(block.unit)
    )
    own = (f"{block.id}-d", "per_device") if block.has_scaling else None
    found.append(_drawn(figure, "per_device", "per_device_see", words, own))
    return tuple(found)


def _two_views(block: Block) -> bool:
    """Whether figures have a second view: each costs as many bytes and as much time as the first."""
    return len(block.book.planned) <= MOST_CASES_DRAWN_TWICE and len(block.valid) <= MOST_POINTS_DRAWN_TWICE


def _throughput(block: Block, look: Look, words: Words, see: str) -> Drawn:
    """Figure a, logarithmic, and linear as its other view."""
    series, unit, own = (
        series_of_block(block, "items_per_s"),
        names.visible(block.unit),
        (f"{block.id}-t", "throughput"),
    )
    one_scale = see == "one_scale_see"
    title = "throughput_one" if one_scale else "throughput"
    drawn = _drawn(figures.throughput(series, look, id=f"f-{block.id}-t", unit=unit), title, see, words, own)
    if one_scale or not _two_views(block):
        return drawn
    linear = figures.throughput(series, look, id=f"f-{block.id}-tl", unit=unit, logarithmic=False)
    other = _drawn(linear, "throughput", "throughput_linear_see", words, own)
    return replace(drawn, view="logarithmic", other=replace(other, view="linear"))


def _scaling(block: Block, look: Look, words: Words, *, bars_first: bool) -> Drawn:
    """Figure b: speed-up as bars beside their ideal, efficiency as lines; the one is the other view of the other."""

    def bars() -> Drawn:
        figure = figures.speedup(series_of_block(block, "speedup"), look, id=f"f-{block.id}-s")
        return _drawn(figure, "speedup", "speedup_see", words, (f"{block.id}-s", "speedup"))

    def lines() -> Drawn:
        figure = figures.efficiency(series_of_block(block, "efficiency"), look, id=f"f-{block.id}-e")
        return _drawn(figure, "efficiency", "efficiency_see", words, (f"{block.id}-e", "efficiency"))

    views = (("speedup", bars), ("efficiency", lines))
    (view, draw), (other, draw_other) = views if bars_first else reversed(views)
    if not _two_views(block):
        return draw()
    return replace(draw(), view=view, other=replace(draw_other(), view=other))


def _drawn(figure: Figure, title: str, see: str, words: Words, table: tuple[str, str] | None) -> Drawn:
    found = [words(f"figures.{see}")]
    reading = _reading(figure, words)
    if reading is not None:
        found.append(reading)
    tables = ((table[0], words(f"tables.{table[1]}")),) if table else ()
    return Drawn(figure=figure, title=words(f"figures.{title}"), reading=tuple(found), tables=tables)


def _reading(figure: Figure, words: Words) -> Text | None:
    """What the marks of a figure over scales say in one sentence: how many, from where to where."""
    if "series" not in figure.table.columns:
        return None
    key, place = figure.table.columns[2], figure.table.columns.index("series")
    points = [(value, row[place]) for row in figure.table.rows if isinstance(value := row[2], int | float)]
    if not points:
        return None
    (low, low_name), (high, high_name) = min(points, key=_value), max(points, key=_value)
    if len(points) == 1:
        return words("figures.reading_point", value=FORMS[key](low), name=low_name)
    return words(
        "figures.reading_points",
        series=numbers.count(len({name for _, name in points})),
        points=numbers.count(len(points)),
        low=FORMS[key](low),
        low_name=low_name,
        high=FORMS[key](high),
        high_name=high_name,
    )


def _value(point: tuple[float, object]) -> float:
    return point[0]

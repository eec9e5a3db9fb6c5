"""The seam to the figures: facts of the page → drawn figures with their words around them."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from evalsuite.model import Case, Summary, Verdict
from evalsuite.report import figures
from evalsuite.report.book.blocks import Block, Column, Model
from evalsuite.report.book.book import Book
from evalsuite.report.book.cells import Cell
from evalsuite.report.book.states import GLYPHS
from evalsuite.report.figures import Figure, Look
from evalsuite.report.figures.slim import slim
from evalsuite.report.sections.studies import Effect, Sweep
from evalsuite.report.sections.usage import RESOURCES, Usage
from evalsuite.report.sections.verdict import Card
from evalsuite.report.text import names, numbers
from evalsuite.report.text.numbers import Form
from evalsuite.report.text.words import Pair, Rendered, Text, Words
from evalsuite.results.summary import counts

FORMS = {
    "items_per_s": numbers.throughput,
    "items_per_s_per_device": numbers.throughput,
    "speedup": numbers.speedup,
    "efficiency": numbers.percent,
    "ideal": numbers.speedup,
    "ratio": numbers.speedup,
    "off": numbers.throughput,
    "on": numbers.throughput,
    "before": numbers.throughput,
    "after": numbers.throughput,
    "value": numbers.throughput,
    "median": numbers.throughput,
    "cv": numbers.percent,
}
T = TypeVar("T")
BULLET_WIDTH = 320
FEW_SCALES = 4  # up to here speed-up stands as bars beside their ideal, beyond as lines of efficiency
MOST_POINTS_DRAWN_TWICE = 80  # of a block: above, its figures have one view
MOST_CASES_DRAWN_TWICE = 180  # of a report: below the 1,000 runs (200 cases) that are to be built in seconds
MOST_REPEATS_DRAWN = 30  # cases in one strip plot; the table beside it has all
MOST_PAIRS_DRAWN = 40  # effects in one figure, for the same reason
NOTHING = "–"  # a field that is meant to be empty, such as the status of a case that has a value
# What a time line shows; the table and the CSV have the rest.
STRIPS = (
    *("gpu", "gpu_memory", "gpu_power", "cpu", "memory"),
    *("disk_read", "disk_write", "network_receive", "network_send", "loopback"),
)


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A figure and the words that stand around it."""

    figure: Figure
    title: Text
    reading: tuple[Text, ...]
    labels: tuple[Rendered | str, ...] = ()  # what stands in the first column of its table, where that is a word
    tables: tuple[tuple[str, Rendered | str], ...] = ()  # (id, name) of tables of the page that hold its data
    view: str = ""  # key of the name of this view, where there is another
    other: "Drawn | None" = None  # the same data drawn otherwise; a button shows it in the place of this one

    @property
    def svg(self) -> str | None:
        """The drawing as the page holds it: 5,000 marks add up."""
        return None if self.figure.svg is None else slim(self.figure.svg, self.figure.id)


def look(book: Book) -> Look:
    """One look for the report. Where it names more frameworks than there are hues, those with most cases have them."""
    cases = Counter(case.framework for case in book.planned)
    coloured = sorted(book.frameworks, key=lambda name: -cases[name])[: figures.HUES]
    return figures.look([*filter(coloured.__contains__, book.frameworks), *book.frameworks])


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
        _series(block, "per_device"), look, id=f"f-{block.id}-d", unit=names.visible(block.unit)
    )
    own = (f"{block.id}-d", "per_device") if block.has_scaling else None
    found.append(_drawn(figure, "per_device", "per_device_see", words, own))
    return tuple(found)


def _two_views(block: Block) -> bool:
    """Whether figures have a second view: each costs as many bytes and as much time as the first."""
    return len(block.book.planned) <= MOST_CASES_DRAWN_TWICE and len(block.valid) <= MOST_POINTS_DRAWN_TWICE


def _throughput(block: Block, look: Look, words: Words, see: str) -> Drawn:
    """Figure a, logarithmic, and linear as its other view."""
    series, unit, own = _series(block, "items_per_s"), names.visible(block.unit), (f"{block.id}-t", "throughput")
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
        figure = figures.speedup(_series(block, "speedup"), look, id=f"f-{block.id}-s")
        return _drawn(figure, "speedup", "speedup_see", words, (f"{block.id}-s", "speedup"))

    def lines() -> Drawn:
        figure = figures.efficiency(_series(block, "efficiency"), look, id=f"f-{block.id}-e")
        return _drawn(figure, "efficiency", "efficiency_see", words, (f"{block.id}-e", "efficiency"))

    views = (("speedup", bars), ("efficiency", lines))
    (view, draw), (other, draw_other) = views if bars_first else reversed(views)
    if not _two_views(block):
        return draw()
    return replace(draw(), view=view, other=replace(draw_other(), view=other))


def _series(block: Block, metric: str) -> tuple[figures.Series, ...]:
    printed = {column.series: column.label for column in block.columns}
    return tuple(anchored(each) for each in figures.series_of(block.valid, metric, printed))


def anchored(series: figures.Series) -> figures.Series:
    """Marks lead to the anchors of the page, not to case ids."""
    return replace(series, points=tuple(replace(p, ref=names.anchor("c", p.ref)) for p in series.points))


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
    key = figure.table.columns[2]
    value, name = (figure.table.columns.index(column) for column in (key, "series"))
    rows = [row for row in figure.table.rows if row[value] is not None]
    if not rows:
        return None
    low, high = min(rows, key=lambda row: row[value]), max(rows, key=lambda row: row[value])
    if len(rows) == 1:
        return words("figures.reading_point", value=FORMS[key](low[value]), name=low[name])
    return words(
        "figures.reading_points",
        series=numbers.count(len({row[name] for row in rows})),
        points=numbers.count(len(rows)),
        low=FORMS[key](low[value]),
        low_name=low[name],
        high=FORMS[key](high[value]),
        high_name=high[name],
    )


def timelines(usage: Usage, look: Look, words: Words) -> tuple[Drawn, ...]:
    return tuple(_timeline(*shown, look, words) for shown in usage.shown)


def _timeline(summary: Summary, run_id: str, line, look: Look, words: Words) -> Drawn:
    window = (line.window.begin_s, line.window.end_s) if line.window and line.window.begin_s is not None else None
    strips = tuple(_strips(summary, run_id, line, words))
    figure = figures.utilisation(strips, look, id=names.anchor("f-u", run_id), window=window)
    case = words(
        "words.case",
        framework=names.framework(summary.case.framework),
        precision=names.precision(summary.case.precision),
        batch=numbers.count(summary.case.batch_per_device),
        nodes=numbers.count(summary.case.nodes),
        devices=numbers.count(summary.case.total_devices),
    )
    repeat = run_id.rpartition("/r")[2]
    return Drawn(
        figure=figure,
        title=words("figures.timeline", framework=names.framework(summary.case.framework)),
        reading=(words("figures.timeline_see", case=case, repeat=repeat),),
        labels=tuple(Pair(words=words, by_language=(("zh", s.label.zh), ("en", s.label.en))) for s in strips),
    )


def _strips(summary: Summary, run_id: str, line, words: Words) -> Iterable[figures.Strip]:
    run = next(one for one in summary.measurements if one.run.id == run_id)
    used = {(one.resource, one.device): one for one in run.utilisation}
    order = {resource: place for place, resource in enumerate(RESOURCES)}
    drawn = (key for key in line.series if key[0] in STRIPS or key[0] not in RESOURCES)
    for key in sorted(drawn, key=lambda k: (order.get(k[0], 99), k[0], k[1] or "")):
        resource, device = key
        samples = tuple(line.series[key])
        unit = line.units.get(resource, "")
        values = [value for _, value in samples if value is not None]
        if not values:
            continue
        about = used.get(key)
        capacity = about.capacity if about else None
        yield figures.Strip(
            label=_resource(resource, device, words),
            samples=samples,
            maximum=(100.0 if unit == "%" else capacity) or max(values) or 1.0,
            unit=unit,
            mean=about.mean if about else None,
            ref=names.case_anchor(summary.case),
        )


def _resource(resource: str, device: str | None, words: Words) -> figures.Label:
    """The name of a strip: one word in each language, with the device behind it."""
    key = f"resources.{resource}"
    named = words(key) if key in words else words("resources.other", name=names.visible(resource))
    behind = f" {names.visible(device)}" if device else ""
    languages = words.languages
    return figures.Words(zh=named.plain(languages[0]) + behind, en=named.plain(languages[-1]) + behind)


def repeats(book: Book, blocks: Sequence[Block], look: Look, words: Words) -> tuple[tuple[Block, Drawn], ...]:
    """Every run of every block; of a large report only the cases whose runs differ most, in one figure."""
    if book.large:
        rows = [
            _repeats(column, one, of=block)
            for block in blocks
            for column in block.columns
            for one in _of(block, column)
        ]
        return ((blocks[0], _repeats_figure(rows, f"f-{blocks[0].id}-r", look, words)),) if rows else ()
    found = []
    for block in blocks:
        rows = [_repeats(column, one) for column in block.columns for one in _of(block, column)]
        if rows:
            found.append((block, _repeats_figure(rows, f"f-{block.id}-r", look, words, setting(block, words))))
    return tuple(found)


def _repeats_figure(rows: Sequence[figures.Repeats], id: str, look: Look, words: Words, *before: Text) -> Drawn:
    noisiest = sorted(rows, key=lambda row: -(row.cv or 0.0))[:MOST_REPEATS_DRAWN]
    drawn = tuple(row for row in rows if row in noisiest)
    shown = drawn if not before else tuple(rows)  # without a block it is the whole report: the receipts have the rest
    figure = replace(figures.repeats(drawn, look, id=id), table=_by_case(shown))
    reading = [*before, words("figures.repeats_see")]
    if len(drawn) < len(rows):
        key = "figures.repeats_most" if before else "figures.repeats_most_receipts"
        reading.append(words(key, shown=numbers.count(len(drawn)), all=numbers.count(len(rows))))
    return Drawn(figure=figure, title=words("figures.repeats"), reading=tuple(reading))


def setting(block: Block, words: Words) -> Text:
    """Which block a figure belongs to, where several stand together."""
    about = {"model": names.model(block.model), "precision": names.precision(block.precision)}
    return words("figures.block", batch=numbers.count(block.batch_per_device), **about)


def _by_case(rows: Sequence[figures.Repeats]) -> figures.Table:
    """One row a case: its runs side by side, in the order of the repeats."""
    return figures.Table(
        columns=("case", "runs", "median", "cv"),
        rows=tuple((row.label, _side_by_side(row), row.median, row.cv) for row in rows),
        refs=tuple(row.ref for row in rows),
    )


def _side_by_side(row: figures.Repeats) -> str:
    counted = " ".join(numbers.throughput(value).text for value in row.values)
    excluded = " ".join(f"({numbers.throughput(value).text})" for value in row.excluded)
    return f"{counted} {excluded}".strip()


def _of(block: Block, column: Column) -> list[Summary]:
    return [one for one in block.valid if one.case.series == column.series]


def _repeats(column: Column, summary: Summary, of: Block | None = None) -> figures.Repeats:
    """The runs of one case; its block is named where a figure has cases of several."""
    return figures.Repeats(
        label=f"{column.label} {names.scale(summary.case)}" + (f" · {_panel_name(of)}" if of else ""),
        framework=summary.case.framework,
        values=tuple(run.value for run in summary.measurements if counts(run)),
        excluded=tuple(run.value for run in summary.measurements if run.value is not None and not counts(run)),
        unit=names.visible(summary.unit),
        ref=names.case_anchor(summary.case),
    )


def bullet(card: Card, look: Look, words: Words) -> Drawn | None:
    """The value of a criterion against its threshold; None where one of them is missing."""
    verdict: Verdict = card.verdict
    if verdict.measured is None or verdict.threshold is None:
        return None
    row = figures.Bullet(
        label="",
        value=verdict.measured.value,
        threshold=verdict.threshold,
        low=verdict.measured.low,
        high=verdict.measured.high,
        ref=names.case_anchor(verdict.case) if verdict.case else "",
    )
    figure = figures.bullets((row,), look, id=f"f-{card.id}", width=BULLET_WIDTH)
    criterion = words(f"criteria_short.{verdict.criterion}")
    return Drawn(
        figure=figure,
        title=words("figures.bullet", criterion=criterion),
        reading=(words("figures.bullet_see"),),
    )


def effects(model: Model, found: Sequence[Effect], option: str, look: Look, words: Words) -> Drawn | None:
    """Dumbbells: throughput without and with one option; None where no pair has a value."""
    ours = [one for one in found if one.option == option]
    shown = furthest(ours, lambda one: one.ratio and one.ratio.raw)
    unit = ", ".join(model.units)
    pairs = tuple(_pair(one) for one in shown)
    figure = figures.dumbbell(pairs, look, id=names.anchor(f"f-o{option}", model.name), unit=unit)
    if figure.svg is None:
        return None
    reading = [words("effects.see")]
    if len(shown) < len(ours):
        reading.append(words("effects.most", shown=numbers.count(len(shown)), all=numbers.count(len(ours))))
    own = (f"{model.id}-effects-table", words("effects.title"))
    return Drawn(figure=figure, title=words(f"effects.{option}"), reading=tuple(reading), tables=(own,))


def furthest(found: Sequence[T], ratio_of: Callable[[T], float | None]) -> Sequence[T]:
    """Of many pairs those that change most, in their order; all where they fit into one figure."""
    if len(found) <= MOST_PAIRS_DRAWN:
        return found
    known = [one for one in found if ratio_of(one)]
    most = sorted(known, key=lambda one: -abs(math.log(ratio_of(one))))[:MOST_PAIRS_DRAWN]
    kept = {id(one) for one in most}
    return [one for one in found if id(one) in kept]


def _pair(one: Effect) -> figures.Pair:
    return figures.Pair(
        label=f"{one.title} {names.scale(one.off)} b{one.off.batch_per_device}",
        framework=one.off.framework,
        off=median(one.off_summary),
        on=median(one.on_summary),
        off_interval=ends(one.off_summary),
        on_interval=ends(one.on_summary),
        status=next((cell.glyph for cell in (one.off_cell, one.on_cell) if cell.state != "value"), ""),
        off_ref=names.case_anchor(one.off),
        on_ref=names.case_anchor(one.on),
    )


def median(summary: Summary | None) -> float | None:
    return summary.items_per_s.value if summary else None


def ends(summary: Summary | None) -> tuple[float, float] | None:
    found = summary.items_per_s if summary else None
    return (found.low, found.high) if found and found.low is not None and found.high is not None else None


def sweep(model: Model, found: Sequence[Sweep], look: Look, words: Words) -> Drawn | None:
    """Throughput against the batch size per device, at the smallest scale."""
    smallest = min(one.example.total_devices for one in found)
    lines = tuple(
        figures.Sweep(
            name=one.title, framework=one.example.framework, points=tuple(_sweep_point(*point) for point in one.points)
        )
        for one in found
        if one.example.total_devices == smallest
    )
    figure = figures.batch_sweep(lines, look, id=names.anchor("f-b", model.name), unit=", ".join(model.units))
    if figure.svg is None:
        return None
    figure = replace(figure, axes=tuple(axis for axis in figure.axes if axis.key != "memory"), notes=())
    return Drawn(figure=figure, title=words("sweep.title"), reading=(words("sweep.see"),))


def _sweep_point(case: Case, cell: Cell, summary: Summary | None) -> figures.SweepPoint:
    low, high = ends(summary) or (None, None)
    return figures.SweepPoint(
        batch_per_device=case.batch_per_device,
        items_per_s=median(summary),
        low=low,
        high=high,
        oom=cell.state == "oom",
        ref=names.case_anchor(case),
    )


def overview(blocks: Sequence[Block], look: Look, words: Words) -> Drawn:
    """Efficiency of every block side by side."""
    named = _panel_names(blocks)
    panels = tuple(
        figures.Multiple(label=name, series=_series(block, "efficiency"))
        for block, name in zip(blocks, named, strict=True)
    )
    figure = figures.small_multiples(panels, look, id="f-overview")
    tables = tuple(
        (f"{block.id}-{'s' if block.book.huge else 'e'}", name) for block, name in zip(blocks, named, strict=True)
    )
    return Drawn(figure=figure, title=words("overview.figure"), reading=(words("overview.see"),), tables=tables)


def _panel_names(blocks: Sequence[Block]) -> list[str]:
    """Model, precision and batch size of each; the unit and the options too where these do not tell it from others."""
    found = [_panel_name(block) for block in blocks]
    for more in (lambda block: block.unit, lambda block: ", ".join("=".join(option) for option in block.options)):
        alike = {name for name in found if found.count(name) > 1}
        told = [(name, names.visible(more(block))) for name, block in zip(found, blocks, strict=True)]
        differ = {name for name in alike if len({text for each, text in told if each == name}) > 1}
        found = [f"{name} · {text}" if name in differ and text else name for name, text in told]
    return found


def _panel_name(block: Block) -> str:
    return f"{names.model(block.model)} · {names.precision(block.precision)} · b{block.batch_per_device}"


def table_rows(drawn: Drawn) -> Sequence[tuple[str, Sequence[tuple[object, object]]]]:
    """The rows of a figure's table as (anchor of the case, [(what is printed, raw value)])."""
    columns, rows = drawn.figure.table.columns, drawn.figure.table.rows
    forms = [_form(column, columns) for column in columns]
    labels = drawn.labels or [None] * len(rows)
    return [
        (ref, [(label, "") if label and not place else _shown(forms[place], value) for place, value in enumerate(row)])
        for ref, row, label in zip(drawn.figure.table.refs, rows, labels, strict=True)
    ]


def _form(column: str, columns: Sequence[str]) -> Form:
    """How a column is printed; both ends of an interval like the value they belong to."""
    if column in ("low", "high"):
        return next((FORMS[other] for other in columns if other in FORMS), numbers.plain)
    return FORMS.get(column, numbers.plain)


def _shown(form: Form, value: object) -> tuple[str, object]:
    if value is None:
        return GLYPHS["missing"], ""
    if isinstance(value, bool):
        return ("✓" if value else "–"), int(value)
    if isinstance(value, float):
        return form(value).text, value
    return names.visible(value) or NOTHING, value

"""Language models: how each lies over the devices, what it computes, losses at equal tokens."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evalsuite.core.model import Measurement, Summary, by_key
from evalsuite.report import figures
from evalsuite.report.book import model_figures
from evalsuite.report.book.blocks import Model
from evalsuite.report.sections.common.section import Section, Subject, low_and_high
from evalsuite.report.text import names, numbers, options
from evalsuite.report.text.words import Rendered, Text, Words
from evalsuite.results.compare.decisions import LayoutSearch, layout_of, speed
from evalsuite.results.compare.fairness import facts_of
from evalsuite.results.measure import convergence
from evalsuite.results.measure.units import TOKENS

SETTINGS = (
    *("precision", "batch_per_device", "parallel_layout", "input_size", "accumulation", "recomputation"),
    *("optimiser_state", "attention", "compiler", "packing", "token_kind", "data"),
)
MOST_CHARTS, MOST_CURVES = 4, 12


def language_rows(model: Model) -> list[Summary]:
    """Those that count tokens; none where there is nothing to hold beside each other."""
    rows = [row for block in model.blocks for row in block.valid if row.unit == TOKENS]
    return rows if len(rows) > 1 else []


def sections(subject: Subject) -> Iterable[Section]:
    models = [(model, rows) for model in subject.models if (rows := language_rows(model))]
    if models and not subject.book.huge:
        yield Section(
            id="language",
            title=subject.words("language.title"),
            template="language/language.html.j2",
            facts=lambda: {"models": [_facts(subject, model, rows) for model, rows in models]},
        )


def _facts(subject: Subject, model: Model, rows: Sequence[Summary]) -> Mapping[str, Any]:
    words, called = subject.words, names.labels(row.case for row in rows)
    told = {row.case.id: tuple(_stated(row, key) for key in SETTINGS) for row in rows}
    alike = by_key(((row.case.framework, row.case.recipe, row.trained, told[row.case.id]), row) for row in rows)
    lines = list(alike.values())  # one for all scales of a stack
    columns = zip(*(told[members[0].case.id] for members in lines), strict=True)
    stated = dict(zip(SETTINGS, columns, strict=True))
    shown = {key: [of and options.value_of(key, of, words) for of in values] for key, values in stated.items()}
    differing = {key: shown[key] for key, values in stated.items() if len({*values}) > 1}
    return {
        "model": model,
        "lines": lines,
        "told": [(words(f"values.fact.{key}"), values) for key, values in differing.items()],
        "legend": ("missing",) if any(None in values for values in differing.values()) else (),
        "same": words.listed(
            words("models.option", name_text=words(f"values.fact.{key}"), value=shown[key][0])
            for key, values in stated.items()
            if len({*values}) == 1 and values[0]
        ),
        "nobody": words.listed(words(f"values.fact.{key}") for key, values in stated.items() if not any(values)),
        "resumed": words.listed(
            words("models.option", name_text=called[row.case], value=numbers.percent(part))
            for row in rows
            for run in row.measurements
            if (part := run.figure("goodput")) is not None
        ),
        "table": model_figures.of_model(subject.book, model),
        "charts": list(_losses(model, rows, subject)),
        **in_every_form(subject, model.name),
    }


def in_every_form(subject: Subject, model: str | None = None) -> Mapping[str, Any]:
    """What Markdown too says of language models."""
    known = [each for each in subject.book.layout_searches if model in (None, each.model)]
    return {"searches": [(each, _order(each, subject.words)) for each in known], "layout": _layout}


def _layout(row: Summary, words: Words) -> Rendered:
    laid = (options.option(*pair, words) for pair in layout_of(row).items())
    return options.apart([names.scale(row.case), names.bsz(row.case.batch_per_device), *laid], words)


def _stated(row: Summary, key: str) -> str | None:
    if key == "precision":
        return names.precision(row.case.precision)
    stated = facts_of(row).get(key, ())
    return "; ".join(names.visible(fact.value) for fact in stated) or None


def _losses(model: Model, rows: Sequence[Summary], subject: Subject) -> Iterator[figures.Chart]:
    """Of each data and global batch the losses of all repeats, over the tokens that were trained."""
    words, counted = subject.words, ((row, run) for row in rows for run in row.measurements if run.counts)
    curves = [
        (row, points) for row, run in counted if len(points := _over_tokens(run, names.case_anchor(row.case))) > 1
    ]
    alike = by_key(((_stated(row, "data"), row.case.global_batch), (row, points)) for row, points in curves)
    largest = sorted(alike.items(), key=lambda pair: -len(pair[1]))
    for place, ((data, batch), drawn) in enumerate(largest[:MOST_CHARTS]):
        tokens, called = min(points[-1].x for _, points in drawn), names.labels(row.case for row, _ in drawn)
        named = [(called[row.case], row, _until(tokens, points)) for row, points in drawn]
        ends = low_and_high([(numbers.significant(at[-1].value), name) for name, _, at in named])
        if not ends:
            continue
        first = {row.case.id: points for _, row, points in reversed(named)}  # of several repeats one has the name
        shown = [(name if points is first[row.case.id] else "", row, points) for name, row, points in named]
        title = words("language.loss_title", tokens=numbers.count(round(tokens)), **ends)
        of = {"n": numbers.count(len(named)), "shown": numbers.count(min(len(named), MOST_CURVES))}
        of_data = options.value_of("data", data, words) if data else words("words.not_recorded")
        reading = words("language.loss_reading", data=of_data, batch=numbers.count(batch), **of)
        lines = [figures.Line(name=words.same(n), framework=row.case.framework, points=p) for n, row, p in shown]
        id, lines = f"f-{model.id}-loss{place}", lines[:MOST_CURVES]
        yield figures.chart(lines, subject.look, words, id=id, title=title, reading=[reading], share=False)


def _over_tokens(run: Measurement, ref: str) -> tuple[figures.Point, ...]:
    counted, window = run.throughput and run.throughput.counted, run.throughput and run.throughput.window
    if not counted or not window or not counted.items:
        return ()
    each = math.fsum(counted.items) / window.steps
    return tuple(figures.Point(x=step * each, value=loss, ref=ref) for step, loss in run.course)


def _until(tokens: float, points: Sequence[figures.Point]) -> tuple[figures.Point, ...]:
    """Up to *tokens*, where the loss is between its two neighbours."""
    before = [point for point in points if point.x < tokens]
    loss = convergence.loss_at([(point.x, point.value) for point in points], tokens)
    return (*before, replace(points[0], x=tokens, value=loss))


def _order(search: LayoutSearch, words: Words) -> Rendered:
    """What is said of the stacks' best layouts, and who is not among them."""
    apart = words.listed(map(names.framework, search.apart))
    others = [words("language.best_apart", frameworks=apart)] if search.apart else []
    order = [_best(search, words)] if len(search.tried) > 1 else []
    return words.sentences([*order, *others, words("language.best_note")])


def _best(search: LayoutSearch, words: Words) -> Text:
    if search.ranking is None:
        budgets = ((names.framework(name), numbers.count(len(rows))) for name, rows in search.tried.items())
        each = (words("language.tried", framework=name, n=n) for name, n in budgets)
        return words("language.unequal_search", tried=words.listed(each))
    first, second = (ranked.summary for ranked in search.ranking.ranked[:2])
    keys = {"ahead": "language.best_ahead", "equal": "language.best_equal"}
    return words(
        keys.get(search.ranking.known or "", "language.best_not_decided"),
        first=names.framework(first.case.framework),
        second=names.framework(second.case.framework),
        lead=numbers.percent(speed(first) / speed(second) - 1),
        n=numbers.count(len(search.tried)),
    )

"""Language models: how each lies over the devices, what it computes by named rules, memory, losses at equal tokens."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from evalsuite.core.model import Measurement, Summary, by_key
from evalsuite.report import figures
from evalsuite.report.book import model_figures
from evalsuite.report.book.blocks import Model
from evalsuite.report.sections.common.section import Section, Subject, low_and_high
from evalsuite.report.text import names, numbers
from evalsuite.report.text.words import Text, Words
from evalsuite.results.compare import layouts
from evalsuite.results.compare.decisions import speed
from evalsuite.results.compare.fairness import facts_of
from evalsuite.results.compare.layouts import LayoutSearch
from evalsuite.results.compare.units import TOKENS
from evalsuite.results.measure.summary import case_figure
from evalsuite.results.rules.flops_and_energy import compute
from evalsuite.results.samples.run_figures import FIGURES

SETTINGS = (
    *("parallel_layout", "input_size", "accumulation", "recomputation", "optimiser_state", "attention"),
    *("compiler", "packing", "token_kind", "data"),
)
LAID = ("parallel_layout", "micro_batch", "accumulation", "recomputation")
MEMORY = (
    "peak_memory_printed_bytes",
    "peak_memory_sampled_bytes",
    "peak_memory_of_job_bytes",
)  # the first that is known
MOST_CHARTS, MOST_CURVES = 4, 12
GIB = 2**30


def language_rows(model: Model) -> list[Summary]:
    return [row for block in model.blocks for row in block.valid if row.unit == TOKENS]


def sections(subject: Subject) -> Iterable[Section]:
    models = [(model, rows) for model in subject.models if (rows := language_rows(model))]
    if models and not subject.book.huge:
        yield Section(
            id="language",
            title=subject.words("language.title"),
            template="language/language.html.j2",
            facts=lambda: {"models": [_facts(subject, model, rows) for model, rows in models], "layout": _layout},
        )


def _facts(subject: Subject, model: Model, rows: Sequence[Summary]) -> Mapping[str, Any]:
    words, counted = subject.words, {row.case.id: compute(row) for row in rows}
    alike = by_key(((_setting(row), row.trained), row) for row in rows)  # one line for all scales of a stack
    lines = list(alike.values())
    stated = {key: [_stated(members[0], key) for members in lines] for key in SETTINGS}
    rules = [(row, rate) for row in rows if (rate := counted[row.case.id]) and rate.by_rule]
    unlisted = [row for row, rate in rules if rate.peak_tflops is None]
    return {
        "model": model,
        "lines": lines,
        "told": [(words(f"values.fact.{key}"), values) for key, values in stated.items() if len({*values}) > 1],
        "same": words.listed(
            words("language.each", fact_text=words(f"values.fact.{key}"), value=values[0])
            for key, values in stated.items()
            if len({*values}) == 1 and values[0]
        ),
        "nobody": words.listed(words(f"values.fact.{key}") for key, values in stated.items() if not any(values)),
        "table": model_figures.of_model(subject.book, model),
        "rules": rules,
        "no_peak": _no_peak(unlisted, words) if unlisted else None,
        "charts": [chart for chart in (_memory(model, rows, subject), *_losses(model, rows, subject)) if chart],
        "searches": [(search, _order(search, words)) for search in layouts.searches(rows)],
    }


def _stated(row: Summary, key: str) -> str | None:
    stated = facts_of(row).get(key, ())
    return "; ".join(names.visible(fact.value) for fact in stated) or None


def _setting(row: Summary) -> tuple[object, ...]:
    case = row.case
    how = (case.framework, case.recipe, case.precision, case.batch_per_device)
    return (*how, *(_stated(row, key) for key in SETTINGS))


def _layout(row: Summary) -> str:
    stated = (_stated(row, key) for key in LAID)
    return " · ".join([names.scale(row.case), names.bsz(row.case.batch_per_device), *filter(None, stated)])


def _no_peak(rows: Sequence[Summary], words: Words) -> Text:
    """Why there is no MFU: the device and the precision that data/peaks.csv does not list."""
    pairs = dict.fromkeys((_stated(row, "device_model") or row.case.device, row.case.precision) for row in rows)
    devices = words.listed(f"{device} ({names.precision(precision)})" for device, precision in pairs)
    return words("language.no_peak", devices=devices)


def label(row: Summary, rows: Sequence[Summary]) -> str:
    """The framework, and what tells it from others of its name."""
    name, case = names.framework(row.case.framework), row.case
    alike = [other.case for other in rows if other.case.framework == case.framework]
    several = (
        (names.scale(case), len({names.scale(each) for each in alike})),
        (names.precision(case.precision), len({each.precision for each in alike})),
        (str(case.batch_per_device), len({each.batch_per_device for each in alike})),
    )
    return " ".join([name, *(text for text, count in several if count > 1)])


def _memory(model: Model, rows: Sequence[Summary], subject: Subject) -> figures.Chart | None:
    words = subject.words
    of_figure = {figure.name: figure for figure in FIGURES}
    kind = next((name for name in MEMORY if any(case_figure(row, of_figure[name]) for row in rows)), None)
    known = [(row, used / GIB) for row in rows if kind and (used := case_figure(row, of_figure[kind]))]
    if len(known) < 2:
        return None
    return figures.chart(
        [
            figures.Line(
                name=words.same(label(row, rows)),
                framework=row.case.framework,
                points=(figures.Point(x=used, value=row.items_per_s_per_device, ref=names.case_anchor(row.case)),),
            )
            for row, used in known
        ],
        subject.look,
        words,
        id=f"f-{model.id}-memory",
        title=words("language.memory_title"),
        reading=[words("language.memory_reading", memory_text=words(f"totals.{kind}"))],
        share=False,
    )


def _losses(model: Model, rows: Sequence[Summary], subject: Subject) -> Iterator[figures.Chart]:
    """Of each data and global batch the losses of all repeats, over the tokens that were trained."""
    words = subject.words
    curves = [
        (row, points)
        for row in rows
        for run in row.measurements
        if run.counts and len(points := _over_tokens(run, names.case_anchor(row.case))) > 1
    ]
    alike = by_key(((_stated(row, "data"), row.case.global_batch), (row, points)) for row, points in curves)
    largest = sorted(alike.items(), key=lambda pair: -len(pair[1]))
    for place, ((data, batch), drawn) in enumerate(largest[:MOST_CHARTS]):
        tokens, ours = min(points[-1].x for _, points in drawn), [row for row, _ in drawn]
        drawn = [(row, _until(tokens, points)) for row, points in drawn]
        last = [(label(row, ours), points[-1]) for row, points in drawn]
        ends = low_and_high([(numbers.significant(point.value), name) for name, point in last])
        if not ends:
            continue
        first = {row.case.id: points for row, points in reversed(drawn)}  # of several repeats one has the name
        yield figures.chart(
            [
                figures.Line(
                    name=words.same(label(row, ours) if points is first[row.case.id] else ""),
                    framework=row.case.framework,
                    points=points,
                )
                for row, points in drawn[:MOST_CURVES]
            ],
            subject.look,
            words,
            id=f"f-{model.id}-loss{place}",
            title=words("language.loss_title", tokens=numbers.count(round(tokens)), **ends),
            reading=[
                words("language.loss_reading", data=data or words("words.not_recorded"), batch=numbers.count(batch)),
                *[words("language.loss_cut", n=numbers.count(len(drawn)), shown=numbers.count(MOST_CURVES))]
                * (len(drawn) > MOST_CURVES),
            ],
            share=False,
        )


def _over_tokens(run: Measurement, ref: str) -> tuple[figures.Point, ...]:
    counted, window = run.throughput and run.throughput.counted, run.throughput and run.throughput.window
    if not counted or not window or not counted.items:
        return ()
    each = math.fsum(counted.items) / window.steps
    return tuple(figures.Point(x=step * each, value=loss, ref=ref) for step, loss in run.course)


def _until(tokens: float, points: Sequence[figures.Point]) -> tuple[figures.Point, ...]:
    """Up to *tokens*, where the loss is between its two neighbours."""
    before = [point for point in points if point.x < tokens]
    after = next(point for point in points if point.x >= tokens)
    since = before[-1] if before else after
    share = (tokens - since.x) / (after.x - since.x) if after.x > since.x else 0.0
    loss = since.value + share * (after.value - since.value)
    return (*before, figures.Point(x=tokens, value=loss, ref=after.ref))


def _order(search: LayoutSearch, words: Words) -> Text | None:
    """What is said of the stacks' best layouts; None of one stack."""
    if len(search.tried) < 2:
        return None
    if search.ranking is None:
        of = (
            words("language.tried", framework=names.framework(name), n=numbers.count(len(rows)))
            for name, rows in search.tried.items()
        )
        return words("language.unequal_search", tried=words.listed(of))
    first, second = search.ranking.ranked[:2]
    lead = numbers.percent(speed(first.summary) / speed(second.summary) - 1)
    keys = {"ahead": "language.best_ahead", "equal": "language.best_equal"}
    key = keys.get(search.ranking.known or "", "language.best_not_decided")
    pair = {
        "first": names.framework(first.summary.case.framework),
        "second": names.framework(second.summary.case.framework),
    }
    return words(key, **pair, lead=lead, n=numbers.count(len(search.best)))

"""Titles of figures: no stronger than the rule of `results/compare/decisions` allows."""

from collections.abc import Sequence
from dataclasses import replace

from evalsuite.core.model import Summary, by_key
from evalsuite.report.book import answers
from evalsuite.report.book.blocks import Block
from evalsuite.report.sections.common.captioned_figure import low_and_high
from evalsuite.report.text import names, numbers, options
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Rendered, Text, Words
from evalsuite.results.compare.answers import Answer, headline
from evalsuite.results.compare.decisions import Ranked
from evalsuite.results.compare.scaling import suspicious


def of_throughput(block: Block, words: Words) -> Text:
    """Who is fastest at the largest scale that most frameworks share."""
    answer = shown_answer(block)
    if answer is None or len(answer.ranked) < 2:
        return words("figures.throughput")
    gpus = numbers.count(answer.devices).about(block.id)
    at = words("figures.at_cpu" if block.device == "cpu" else "figures.at_gpu", devices=gpus)
    if answer.left_out:
        at = words("figures.at_comparable", scale_text=at, n=numbers.count(len(answer.ranked)).about(block.id))
    if len({column.example.xla for column in block.columns}) > 1 and answer.setting.xla is not None:
        at = words("figures.at_xla" if answer.setting.xla else "figures.at_no_xla", scale_text=at)
    text = words("figures.title_setting", at_text=at, found_text=_order(answer, words))
    if not answer.passed_over:
        return text
    return words("figures.title_passed", found_text=text, passed_text=answers.passed(answer, words, answer.devices))


def of_blocks(blocks: Sequence[Block], words: Words) -> Text:
    """How far efficiencies lie apart, how many reach the threshold, where there is one, and over which bases."""
    row = [(value, point, block) for block in blocks for value, point in _efficient(block)]
    if len(row) < 2:
        return words("overview.figure")
    several, block, points = len({block.model for block in blocks}) > 1, blocks[0], [point for _, point, _ in row]
    threshold, bases = block.efficiency_threshold, sorted({point.base.total_devices for point in points if point.base})
    known: list[tuple[Number, Rendered]] = []
    for value, point, of in row:
        model = words.same(names.model(of.model)).about(of.id)
        name = words.clauses([_called(of, point, words), *[model] * several])
        efficiency = numbers.beside(of.efficiency_threshold)(value)
        known.append((efficiency.about(names.case_anchor(point.case)), name))
    values = low_and_high(known)
    text = words("figures.title_across", **values)
    if threshold is not None:
        reached = sum(value >= threshold for value, *_ in row)
        share = "none" if not reached else "all" if reached == len(row) else "some"
        values |= {"all": numbers.count(len(row)).about(block.id), "reached": numbers.count(reached).about(block.id)}
        values |= {"threshold": numbers.limit(threshold).about("verdict")}
        text = words.pick(f"figures.title_across_{share}", values)
    if bases == [1]:
        return text
    counts = (numbers.count(base).about(names.case_anchor(points[0].case)) for base in bases)
    listed = replace(words.listed(counts), separators={"zh": " 或 ", "en": " or "})
    return words("figures.title_base", found_text=text, base_text=words("headlines.base", devices=listed))


def shown_answer(block: Block) -> Answer | None:
    shown = {case.id for case in block.cases}
    return headline(
        answer
        for answer in block.book.answers
        if answer.ranked and all(entry.summary.case.id in shown for entry in answer.ranked)
    )


def _order(answer: Answer, words: Words) -> Text:
    def named(entry: Ranked) -> Rendered:
        return options.candidate_in_sentence(answer.candidate(entry.summary), answer.scope, words)

    first, last = answer.ranked[0], answer.ranked[-1]
    unit: Rendered | str = names.visible(first.summary.unit)
    if answer.devices > 1:
        unit = words("figures.of_each_device", unit=unit)
    values: dict[str, object] = {
        "first": words.listed(map(named, answer.leaders)) if answer.level else named(first),
        "value": answers.value(answer, first, words, answer.devices),
        "unit": unit,
        "last": named(last),
        "lowest": answers.value(answer, last, words, answer.devices),
        "n": numbers.count(min(summary.n for summary in answer.compared)).about(names.case_anchor(first.summary.case)),
    }
    if pair := answer.lead_pair:
        lead = numbers.gain(pair.lead).about(names.case_anchor(pair.second.case))
        second = options.candidate_in_sentence(answer.candidate(pair.second), answer.scope, words)
        values |= {"second": second, "lead": lead}
    form = "_order" if answer.why and not answer.level else ""
    if answer.level and (answer.disturbed or pair is None):
        form = "_level"
    elif answer.disturbed and answer.outcome == "ahead":
        form = "_in_rounds"
    return words.pick(f"figures.title_{answer.outcome}{form}", values)


def _efficient(block: Block) -> Sequence[tuple[float, Summary]]:
    sound = (each for each in block.valid if not suspicious(each) and each.base != each.case)  # a base would say 100 %
    scales = by_key((each.case.total_devices, (each.efficiency.value, each)) for each in sound if each.efficiency)
    if not scales:
        return ()
    most = max(scales, key=lambda devices: (len(scales[devices]), devices))
    return sorted(scales[most], key=lambda point: point[0])


def _called(block: Block, summary: Summary, words: Words) -> Rendered:
    scope = block.book.ranking_scopes[block.model]
    if scope.among == "frameworks":
        return words.same(block.column_of(summary.case).label)
    inside = options.candidate_in_sentence(scope.candidate(summary.case), scope, words)
    return inside.about(names.case_anchor(summary.case))

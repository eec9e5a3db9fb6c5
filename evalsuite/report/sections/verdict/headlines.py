"""The headlines: a few sentences on how it scales, how busy the hardware is, and what failed."""

from collections.abc import Iterable, Sequence

from evalsuite.model import Interval, Summary
from evalsuite.report.book.blocks import Block, Model
from evalsuite.report.book.book import Book
from evalsuite.report.book.result_tables import shared_options
from evalsuite.report.book.tally import tally
from evalsuite.report.sections.background.background import RULES
from evalsuite.report.sections.quality.quality import COUNTS
from evalsuite.report.sections.usage.readings import combine_means
from evalsuite.report.text import candidates, names, numbers
from evalsuite.report.text.numbers import Form
from evalsuite.report.text.options import option
from evalsuite.report.text.words import Rendered, Text, Words
from evalsuite.results.compare.scaling import Scaled, above_base, suspicious

NEAR_LINEAR = 0.90  # efficiency and the low end of its interval (docs/report.md#words)
LINEAR = 0.98


def headlines(book: Book, models: Sequence[Model], words: Words) -> tuple[Text, ...]:
    blocks = [block for model in models for block in model.blocks if block.valid]
    found: list[Text] = []
    for group in sorted(_groups(book, blocks), key=_entrants, reverse=True)[:2]:
        found += _scaling(group, _apart(group[0], blocks), words)
    found += _busy(blocks, words)
    found.append(_failures(book, words))
    return tuple(found)


def _groups(book: Book, blocks: Sequence[Block]) -> list[list[Block]]:
    found: dict[object, list[Block]] = {}
    for block in blocks:
        scope = book.ranking_scopes[block.model]
        options = tuple(pair for pair in block.options if pair[0] not in scope.names)
        key = (block.model, block.device, block.precision, block.strong, block.batch, options, block.protocol)
        found.setdefault((*key, block.unit), []).append(block)
    return list(found.values())


def _entrants(group: Sequence[Block]) -> int:
    scope = group[0].book.ranking_scopes[group[0].model]
    return len({scope.candidate(one.case) for block in group for one in block.valid})


def _apart(block: Block, blocks: Sequence[Block]) -> list[tuple[str, str]]:
    ranked = block.book.ranking_scopes[block.model].names
    twins = [
        one for one in blocks if (one.model, one.precision, one.batch) == (block.model, block.precision, block.batch)
    ]
    shared = shared_options(twins)
    return [pair for pair in block.options if pair not in shared and pair[0] not in ranked]


def _scaling(group: Sequence[Block], options: Sequence[tuple[str, str]], words: Words) -> Iterable[Text]:
    block = group[0]
    valid = [summary for each in group for summary in each.valid]
    known = [one for summary in valid if not suspicious(summary) and (one := above_base(summary))]
    if not known:
        return
    largest = max(one.case.total_devices for one in known)
    row = sorted((one for one in known if one.case.total_devices == largest), key=lambda one: one.efficiency.value)
    low, high = row[0], row[-1]
    values = {
        "setting": _setting(block, low.summary, options, words).about(block.id),
        "low": numbers.percent(low.efficiency.value).to(names.case_anchor(low.case)),
        "interval_text": _interval(low.summary, low.efficiency, numbers.percent, words),
        "runs_text": _runs(row, words),
        "base": _base(row, words),
        "remark_text": _remark(block, row, words),
    }
    least, most = (numbers.percent(one.efficiency.value) for one in (low, high))
    named: dict[str, object]
    if len(row) == 1:
        key, named = "headlines.efficiency_one", {"low_framework": _name(block, low, words)}
    elif least.text == most.text:
        key = "headlines.efficiency_same"
        named = {"frameworks": _named(block, row, words)}
    else:
        key = "headlines.efficiency"
        named = {
            "low_framework": _name(block, low, words),
            "high": most.to(names.case_anchor(high.case)),
            "high_framework": _name(block, high, words),
            "high_interval_text": _interval(high.summary, high.efficiency, numbers.percent, words),
        }
    yield words(key, **values, **named)


def _name(block: Block, one: Scaled, words: Words) -> Rendered:
    scope = block.book.ranking_scopes[block.model]
    name = candidates.in_sentence(scope.candidate(one.case), scope, words)
    return name.about(names.case_anchor(one.case))


def _named(block: Block, row: Sequence[Scaled], words: Words) -> Rendered:
    scope = block.book.ranking_scopes[block.model]
    return words.listed(_name(block, one, words) for one in {scope.candidate(one.case): one for one in row}.values())


def _remark(block: Block, row: Sequence[Scaled], words: Words) -> Rendered:
    if block.strong:
        return words("headlines.strong")
    if any(one.case.shares_cores for one in row):
        return words("headlines.shared_cores")
    return _adjective(block, row, words).about(RULES)


def _runs(row: Sequence[Scaled], words: Words) -> Text:
    fewest = min((one.summary for one in row), key=lambda summary: summary.n)
    alike = all(one.summary.n == fewest.n for one in row)
    if fewest.n == 1:
        return words("headlines.single_runs" if alike else "headlines.some_single_runs")
    n = numbers.count(fewest.n).about(names.case_anchor(fewest.case))
    return words("headlines.runs_each" if alike else "headlines.runs_least", n=n)


def _adjective(block: Block, row: Sequence[Scaled], words: Words) -> Text:
    """*linear* from 98 %, *near linear* from 90 %, each with the whole interval above it; else nothing."""
    for key, limit in (("headlines.linear", LINEAR), ("headlines.near_linear", NEAR_LINEAR)):
        found = [
            one
            for one in row
            if not one.summary.partial and min(one.efficiency.value, one.efficiency.low or 0.0) > limit
        ]
        if found:
            return words(key, frameworks=_named(block, found, words))
    return words("headlines.no_adjective")


def _busy(blocks: Sequence[Block], words: Words) -> Iterable[Text]:
    valid = [one for block in blocks for one in block.valid]
    for resource in ("gpu", "cpu"):
        read = [(one, [used for used in one.utilisation if used.resource == resource]) for one in valid]
        shares = [(combine_means(used), one, used) for one, used in read if used]
        if not shares:
            continue
        low, high = min(shares, key=lambda s: s[0]), max(shares, key=lambda s: s[0])
        least, most = numbers.percentage(low[0]), numbers.percentage(high[0])
        one = least.text == most.text
        yield words(
            f"headlines.busy_{resource}_one" if one else f"headlines.busy_{resource}",
            low=least.to(names.case_anchor(low[1].case)),
            **({} if one else {"high": most.to(names.case_anchor(high[1].case))}),
            cases=numbers.count(len(shares)).about("usage"),
            samples=numbers.count(sum(used[0].samples for _, _, used in shares)).about("usage"),
        )
        return


def _failures(book: Book, words: Words) -> Text:
    found = tally(book)
    key = "headlines.all_valid" if found.runs_made == found.runs_valid else "headlines.some_failed"
    values = {"runs": numbers.count(found.runs_made).about(COUNTS)}
    if key == "headlines.some_failed":
        values["failed"] = numbers.count(found.runs_made - found.runs_valid).about(COUNTS)
    return words(key, **values)


def _setting(block: Block, summary: Summary, options: Sequence[tuple[str, str]], words: Words) -> Text:
    found = words(
        f"headlines.setting{'_strong' * block.strong}",
        model=names.model(block.model),
        precision=names.precision(block.precision),
        batch=numbers.count(block.batch),
        nodes=numbers.count(summary.case.nodes),
        devices=numbers.count(summary.case.total_devices),
    )
    if not options:
        return found
    listed = words.listed(option(*pair, words) for pair in options)
    return words("models.and_options", conditions_text=found, options_text=listed)


def _interval(summary: Summary, found: Interval, form: Form, words: Words) -> Text:
    interval = numbers.interval(found, form)
    if interval is None:
        return words("headlines.no_interval")
    return words(
        "headlines.range_of_runs" if found.is_range else "headlines.interval",
        interval=interval.about(names.case_anchor(summary.case)),
    )


def _base(row: Sequence[Scaled], words: Words) -> Text:
    bases = {one.base.total_devices: one.base for one in row}
    counted = (numbers.count(each).about(names.case_anchor(bases[each])) for each in sorted(bases))
    return words("headlines.base", devices=words.listed(counted))

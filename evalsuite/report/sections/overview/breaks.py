"""Where each series stops to scale, and what the records show to be different there."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from evalsuite.model import Summary
from evalsuite.report.book import heading
from evalsuite.report.book.blocks import Block
from evalsuite.report.book.book import Book
from evalsuite.report.text import numbers
from evalsuite.report.text.numbers import Form, Number
from evalsuite.report.text.words import Rendered, Text, Words
from evalsuite.results.judge.breaks import Break, RecordedChange

NOTHING_BESIDE = 0.01  # of the rate after: what a host alone sends and receives is no part of the training


@dataclass(frozen=True, kw_only=True)
class BreakRow:
    found: Break
    block: Block
    title: str
    setting: Rendered
    changes: Rendered

    @property
    def sides(self) -> tuple[Summary, Summary]:
        return self.found.before, self.found.after

    @property
    def efficiencies(self) -> tuple[Number, ...]:
        return tuple(numbers.percent(one.efficiency.value) for one in self.sides if one.efficiency)

    @property
    def step(self) -> Number:
        return numbers.percent(self.found.step)


@dataclass(frozen=True, kw_only=True)
class BreakFacts:
    said: tuple[Text, ...]
    rows: tuple[BreakRow, ...]


def facts(book: Book, blocks: Sequence[Block], words: Words) -> BreakFacts | None:
    found = book.breaks
    if found is None or not found.series:
        return None
    block_of = {case.id: block for block in blocks for case in block.cases}
    rows = tuple(_row(one, block_of[one.after.case.id], words) for one in found.found if one.after.case.id in block_of)
    return BreakFacts(said=tuple(_sentences(book, words)), rows=rows)


def _sentences(book: Book, words: Words) -> Iterable[Text]:
    found = book.breaks
    if found is None:
        return
    values = {
        "all": numbers.count(found.series).about("breaks"),
        "threshold": numbers.limit(found.threshold).about("verdict"),
    }
    if not found.found:
        yield words("breaks.none", **values)
        return
    crossing = sum(any(change.key == "nodes" for change in one.changes) for one in found.found)
    yield words("breaks.some", **values, n=numbers.count(len(found.found)).about("breaks"))
    if crossing:
        yield words("breaks.crossing", n=numbers.count(crossing).about("breaks"))


def _row(one: Break, block: Block, words: Words) -> BreakRow:
    title = next(column.label for column in block.columns if column.series == one.after.case.series)
    said = [describe_change(change, words) for change in one.changes]
    changes = words.listed(said) if said else words("breaks.not_recorded")
    return BreakRow(found=one, block=block, title=title, setting=heading.short(block, words), changes=changes)


def describe_change(change: RecordedChange, words: Words) -> Text:
    if change.key == "nodes":
        return words("breaks.nodes", n=numbers.count(round(change.after)))
    form: Form = numbers.percent if change.key == "communication" else partial(numbers.quantity, unit="bytes/s")
    before = words("words.not_recorded") if change.before is None else form(change.before)
    if change.key == "network" and change.before is not None and change.before < NOTHING_BESIDE * change.after:
        before = words("breaks.no_network")
    values = {"before": before, "after": form(change.after)}
    if change.of_measured is not None:
        return words("breaks.network_measured", **values, share=numbers.percent(change.of_measured))
    if change.of_capacity is not None:
        return words("breaks.network_share", **values, share=numbers.percent(change.of_capacity))
    return words("breaks.communication" if change.key == "communication" else "breaks.network", **values)

"""One option changed: what that does to throughput, of two cases alike in all else (docs/numbers.md#variants)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from evalsuite.core.model import Case, Interval, by_key
from evalsuite.report.book.blocks import Distinction, distinctions
from evalsuite.report.book.book import Book
from evalsuite.report.text import names, numbers, options
from evalsuite.report.text.options import NEUTRAL
from evalsuite.report.text.words import Rendered, Text, Words
from evalsuite.results.compare.decisions import WORK, Outcome, decide
from evalsuite.results.compare.fairness import Obstacle, obstacles, setting
from evalsuite.results.measure.statistics import ratio_of_medians
from evalsuite.results.measure.summary import values

BATCH, XLA, PRECISION = "batch_per_device", "xla", "precision"


@dataclass(frozen=True, kw_only=True)
class Change:
    """Two cases that differ in one option and in nothing else."""

    option: str  # "xla", "precision", or an option of the script
    before: Case
    after: Case
    notes: Distinction
    obstacles: tuple[Obstacle, ...]
    ratio: Interval | None  # after ÷ before; None with an obstacle, or where a case has no value
    outcome: Outcome | None

    @property
    def values(self) -> tuple[str | None, str | None]:
        return _value(self.option, self.before), _value(self.option, self.after)

    def title(self, words: Words) -> Rendered:
        known = {XLA: "variants.xla", PRECISION: "filter.precision", BATCH: "values.fact.batch_per_device"}
        return words(known[self.option]) if self.option in known else options.title(self.option, words)

    def shown(self, words: Words) -> list[Rendered | str]:
        """Its two values."""
        return [_shown(self.option, given, words) for given in self.values]

    def sentence(self, words: Words) -> Text:
        before, after = self.shown(words)
        gain = numbers.change(self.ratio.value - 1 if self.ratio else 0.0)
        return words("board.change", option_text=self.title(words), before=before, after=after, change=gain)


def changes(book: Book, cases: Iterable[Case]) -> tuple[Change, ...]:
    """Of each option: the case without it, or with what switches nothing on, beside each with another value."""
    cases = tuple(dict.fromkeys(cases))
    given = sorted({name for case in cases for name, _ in case.options} - set(WORK))
    pairs = []
    for option in (XLA, PRECISION, *given):
        for alike in by_key((_without(option, case), case) for case in cases).values():
            base, *others = sorted(alike, key=lambda case: _value_order(_value(option, case)))
            pairs += [(option, base, other) for other in others if _value(option, other) != _value(option, base)]
    notes = distinctions(_without(option, before) for option, before, _ in pairs)
    return tuple(
        _change(book, option, before, after, notes[_without(option, before).id]) for option, before, after in pairs
    )


def _value(option: str, case: Case) -> str | None:
    if option == XLA:
        return "on" if case.xla else "off"
    return case.precision if option == PRECISION else case.option(option)


def _shown(option: str, given: str | None, words: Words) -> Rendered | str:
    if option == PRECISION and given:
        return names.precision(given)
    return options.value_of(option, given, words) if given else words("variants.default")


def _without(option: str, case: Case) -> Case:
    if option == XLA:
        return replace(case, xla=None)
    if option == PRECISION:
        return replace(case, precision="unknown")
    if option == BATCH:
        return replace(case, batch_per_device=1)
    return replace(case, options=tuple(pair for pair in case.options if pair[0] != option))


def _value_order(value: str | None) -> tuple[int, int, str]:
    if value is None:
        return (0, 0, "")
    first = ("fp32", *NEUTRAL)
    in_order = value.zfill(options.WHOLE) if value.isdecimal() else value
    return (1, first.index(value), "") if value in first else (2, 0, in_order)


def _change(book: Book, option: str, before: Case, after: Case, notes: Distinction) -> Change:
    a, b = book.valid_of.get(before.id), book.valid_of.get(after.id)
    purpose = setting(option if option in (XLA, PRECISION) else f"options.{option}")
    barred = obstacles(a, b, purpose) if a and b else ()
    known = decide(a, b, purpose=purpose) if a and b else None
    if answer := book.answer_of.get(before.id):
        entries = {entry.summary.case.id: entry for entry in answer.ranked}
        if before.id in entries and after.id in entries:
            known = answer.decision(entries[before.id], entries[after.id])
    return Change(
        option=option,
        before=before,
        after=after,
        notes=notes,
        obstacles=barred,
        ratio=ratio_of_medians(values(b), values(a)) if a and b and not barred else None,
        outcome=known.outcome if known and not barred else None,
    )

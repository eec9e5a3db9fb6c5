"""What a reviewer would ask, in words: each suspicion with what to look at first."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from evalsuite.core.messages import dotted
from evalsuite.core.model import Case, by_key
from evalsuite.report.book.book import Book
from evalsuite.report.text import names, numbers
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Text, Words
from evalsuite.results.compare.published_rates import PublishedRange
from evalsuite.results.rules.suspicions import AtChance, FarBelow, OneClock, OutsidePublished, SlowBase, Suspicion

Titles = Mapping[Case, str]
MOST_OPEN = 1


@dataclass(frozen=True, kw_only=True)
class AskedOnReview:
    said: Text
    check: Text
    settings: tuple[str, ...]  # names of variables and options, as the framework has them


@dataclass(frozen=True, kw_only=True)
class SuspicionFacts:
    open: tuple[AskedOnReview, ...]
    more: tuple[AskedOnReview, ...]


def facts(book: Book, words: Words) -> SuspicionFacts | None:
    title = titles(book)
    by_rule: dict[type, list[AskedOnReview]] = {type(suspicion): [] for suspicion in book.suspicions}
    for suspicion in sorted(book.suspicions, key=_size, reverse=True):
        by_rule.setdefault(type(suspicion), []).append(_asked(suspicion, title, words))
    if not by_rule:
        return None
    return SuspicionFacts(
        open=tuple(review for reviews in by_rule.values() for review in reviews[:MOST_OPEN]),
        more=tuple(review for reviews in by_rule.values() for review in reviews[MOST_OPEN:]),
    )


def _size(suspicion: Suspicion) -> float:
    match suspicion:
        case FarBelow():
            return suspicion.times
        case OutsidePublished():
            value = suspicion.one.items_per_s.value
            return value / suspicion.range.high if suspicion.above else suspicion.range.low / value
        case SlowBase():
            return 1 / suspicion.share
        case _:
            return 0.0


def _asked(doubt: Suspicion, titles: Titles, words: Words) -> AskedOnReview:
    match doubt:
        case FarBelow():
            said = words(
                "suspicions.far_below",
                case=titles[doubt.one.case],
                value=_value(doubt.one.items_per_s.value, doubt.one.case),
                unit=names.visible(doubt.one.unit),
                n=numbers.count(doubt.others).about("verdict"),
                median=numbers.rounded(doubt.median).about("verdict"),
                times=numbers.significant(doubt.times, 2).about(names.case_anchor(doubt.one.case)),
            )
            return AskedOnReview(said=said, check=words("suspicions.check"), settings=doubt.settings)
        case OutsidePublished():
            return AskedOnReview(
                said=_outside(doubt, titles, words), check=words("suspicions.check_published"), settings=doubt.settings
            )
        case SlowBase():
            efficiency = doubt.one.efficiency.value if doubt.one.efficiency else 0.0
            said = words(
                "suspicions.slow_base",
                case=titles[doubt.one.case],
                efficiency=numbers.percent(efficiency).to(names.case_anchor(doubt.one.case)),
                base=names.scale(doubt.base.case),
                value=_value(doubt.base.items_per_s.value, doubt.base.case),
                unit=names.visible(doubt.base.unit),
                share=numbers.percent(doubt.share).about(names.case_anchor(doubt.base.case)),
            )
            return AskedOnReview(said=said, check=words("suspicions.check_base"), settings=doubt.settings)
        case AtChance():
            said = words(
                "suspicions.chance",
                case=titles[doubt.one.case],
                value=numbers.percentage(doubt.score.value).to(names.case_anchor(doubt.one.case)),
                guess=numbers.percentage(100 / doubt.classes).about("verdict"),
                classes=numbers.count(doubt.classes).about("verdict"),
            )
            return AskedOnReview(said=said, check=words("suspicions.check_chance"), settings=())
        case OneClock():
            said = words("suspicions.one_clock", n=numbers.count(len(doubt.cases)).about("verdict"))
            return AskedOnReview(said=said, check=words("suspicions.check_clock"), settings=())


def _outside(suspicion: OutsidePublished, titles: Titles, words: Words) -> Text:
    known = suspicion.range
    return words(
        "suspicions.above_published" if suspicion.above else "suspicions.below_published",
        case=titles[suspicion.one.case],
        value=_value(suspicion.one.items_per_s.value, suspicion.one.case),
        unit=names.visible(suspicion.one.unit),
        range=_between(known),
        device=known.device if known.devices == 1 else f"{known.devices}\u00d7 {known.device}",
        n=numbers.count(known.figures).about("verdict"),
        sources=words.listed(map(names.visible, known.sources[:2])),
    )


def _between(known: PublishedRange) -> Number:
    low, high = (numbers.rounded(end).text for end in (known.low, known.high))
    return replace(numbers.rounded(known.low), text=low if low == high else f"{low}–{high}").about("verdict")


def _value(items_per_s: float, case: Case) -> Number:
    return numbers.rounded(items_per_s).to(names.case_anchor(case))


def titles(book: Book) -> Titles:
    recipes = by_key(((case.framework, case.model), case.recipe) for case in book.planned)
    return {case: _title(case, len({*recipes[case.framework, case.model]}) > 1) for case in book.planned}


def _title(case: Case, with_recipe: bool) -> str:
    recipe = f" ({names.visible(case.recipe)})" if with_recipe else ""
    parts = (names.framework(case.framework) + recipe, names.model(case.model), names.precision(case.precision))
    return dotted(*parts, names.bsz(case.series_batch, strong=case.strong_batch is not None), names.scale(case))

"""What a reviewer would ask, in words: each suspicion with what to look at first."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from evalsuite.messages import dotted
from evalsuite.model import Case, by_key
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
    by_rule: dict[type, list[AskedOnReview]] = {type(one): [] for one in book.suspicions}
    for one in sorted(book.suspicions, key=_size, reverse=True):
        by_rule.setdefault(type(one), []).append(_asked(one, title, words))
    if not by_rule:
        return None
    return SuspicionFacts(
        open=tuple(one for found in by_rule.values() for one in found[:MOST_OPEN]),
        more=tuple(one for found in by_rule.values() for one in found[MOST_OPEN:]),
    )


def _size(one: Suspicion) -> float:
    match one:
        case FarBelow():
            return one.times
        case OutsidePublished():
            value = one.one.items_per_s.value
            return value / one.range.high if one.above else one.range.low / value
        case SlowBase():
            return 1 / one.share
        case _:
            return 0.0


def _asked(one: Suspicion, titles: Titles, words: Words) -> AskedOnReview:
    match one:
        case FarBelow():
            said = words(
                "suspicions.far_below",
                case=titles[one.one.case],
                value=_value(one.one.items_per_s.value, one.one.case),
                unit=names.visible(one.one.unit),
                n=numbers.count(one.others).about("verdict"),
                median=numbers.rounded(one.median).about("verdict"),
                times=numbers.significant(one.times, 2).about(names.case_anchor(one.one.case)),
            )
            return AskedOnReview(said=said, check=words("suspicions.check"), settings=one.settings)
        case OutsidePublished():
            return AskedOnReview(
                said=_outside(one, titles, words), check=words("suspicions.check_published"), settings=one.settings
            )
        case SlowBase():
            efficiency = one.one.efficiency.value if one.one.efficiency else 0.0
            said = words(
                "suspicions.slow_base",
                case=titles[one.one.case],
                efficiency=numbers.percent(efficiency).to(names.case_anchor(one.one.case)),
                base=names.scale(one.base.case),
                value=_value(one.base.items_per_s.value, one.base.case),
                unit=names.visible(one.base.unit),
                share=numbers.percent(one.share).about(names.case_anchor(one.base.case)),
            )
            return AskedOnReview(said=said, check=words("suspicions.check_base"), settings=one.settings)
        case AtChance():
            said = words(
                "suspicions.chance",
                case=titles[one.one.case],
                value=numbers.percentage(one.score.value).to(names.case_anchor(one.one.case)),
                guess=numbers.percentage(100 / one.classes).about("verdict"),
                classes=numbers.count(one.classes).about("verdict"),
            )
            return AskedOnReview(said=said, check=words("suspicions.check_chance"), settings=())
        case OneClock():
            said = words("suspicions.one_clock", n=numbers.count(len(one.cases)).about("verdict"))
            return AskedOnReview(said=said, check=words("suspicions.check_clock"), settings=())


def _outside(one: OutsidePublished, titles: Titles, words: Words) -> Text:
    known = one.range
    return words(
        "suspicions.above_published" if one.above else "suspicions.below_published",
        case=titles[one.one.case],
        value=_value(one.one.items_per_s.value, one.one.case),
        unit=names.visible(one.one.unit),
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
    """With the recipe where it has several."""
    recipes = by_key(((case.framework, case.model), case.recipe) for case in book.planned)
    return {case: _title(case, len({*recipes[case.framework, case.model]}) > 1) for case in book.planned}


def _title(case: Case, with_recipe: bool) -> str:
    recipe = f" ({names.visible(case.recipe)})" if with_recipe else ""
    parts = (names.framework(case.framework) + recipe, names.model(case.model), names.precision(case.precision))
    return dotted(*parts, names.bsz(case.series_batch, strong=case.strong_batch is not None), names.scale(case))

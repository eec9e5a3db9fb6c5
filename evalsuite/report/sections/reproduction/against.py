"""Each case beside the reference that was asked for, in a sentence."""

from collections.abc import Mapping

from evalsuite.core.messages import dotted
from evalsuite.core.model import Case, ReferenceComparison, by_key
from evalsuite.report.book.book import Book
from evalsuite.report.text import names, numbers
from evalsuite.report.text.words import Listed, Text, Words

SHOWN = {"framework": names.framework, "precision": names.precision}


def sentences(book: Book, words: Words) -> list[Text]:
    title = titles(book)
    return [
        words(
            "against.differing" if comparison.differs else "against.alike",
            case=title[comparison.case],
            value=numbers.rounded(comparison.items_per_s).to(names.case_anchor(comparison.case)),
            unit=names.visible(comparison.unit),
            share=numbers.percent(comparison.share).to(names.case_anchor(comparison.case)),
            reference=numbers.rounded(comparison.reference).about("reproduction"),
            n=numbers.count(comparison.figures).about("reproduction"),
            source=names.visible(comparison.source),
            **_differing(comparison, words),
        )
        for comparison in book.evaluation.against
    ]


def _differing(pair: ReferenceComparison, words: Words) -> dict[str, Listed]:
    named: list[Text | str] = []
    for name, value in pair.differs:
        shown = SHOWN.get(name, names.visible)(value)
        named.append(words(f"against.{name}", value=shown) if f"against.{name}" in words else shown)
    return {"differs": words.listed(named)} if named else {}


def titles(book: Book) -> Mapping[Case, str]:
    recipes = by_key(((case.framework, case.model), case.recipe) for case in book.planned)
    return {case: _title(case, len({*recipes[case.framework, case.model]}) > 1) for case in book.planned}


def _title(case: Case, with_recipe: bool) -> str:
    recipe = f" ({names.visible(case.recipe)})" if with_recipe else ""
    parts = (names.framework(case.framework) + recipe, names.model(case.model), names.precision(case.precision))
    return dotted(*parts, names.bsz(case.series_batch, strong=case.strong_batch is not None), names.scale(case))

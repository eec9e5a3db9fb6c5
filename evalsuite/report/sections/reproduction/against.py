"""Each case beside the reference that was asked for, in a sentence."""

from evalsuite.core.model import ReferenceComparison
from evalsuite.report.book.book import Book
from evalsuite.report.sections.verdict.suspicions import titles
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
    named = [words(f"against.{name}", value=SHOWN.get(name, names.visible)(value)) for name, value in pair.differs]
    return {"differs": words.listed(named)} if named else {}

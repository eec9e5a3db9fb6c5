"""Each case beside the reference that was asked for, in a sentence."""

from evalsuite.model import ReferenceComparison
from evalsuite.report.book.book import Book
from evalsuite.report.sections.verdict.suspicions import titles
from evalsuite.report.text import names, numbers
from evalsuite.report.text.words import Listed, Text, Words

SHOWN = {"framework": names.framework, "precision": names.precision}


def sentences(book: Book, words: Words) -> list[Text]:
    title = titles(book)
    return [
        words(
            "against.differing" if one.differs else "against.alike",
            case=title[one.case],
            value=numbers.rounded(one.items_per_s).to(names.case_anchor(one.case)),
            unit=names.visible(one.unit),
            share=numbers.percent(one.share).to(names.case_anchor(one.case)),
            reference=numbers.rounded(one.reference).about("reproduction"),
            n=numbers.count(one.figures).about("reproduction"),
            source=names.visible(one.source),
            **_differing(one, words),
        )
        for one in book.evaluation.against
    ]


def _differing(one: ReferenceComparison, words: Words) -> dict[str, Listed]:
    named = [words(f"against.{name}", value=SHOWN.get(name, names.visible)(value)) for name, value in one.differs]
    return {"differs": words.listed(named)} if named else {}

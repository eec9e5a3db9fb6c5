"""One page for each model of a report that is too large for one page (`Book.huge`).

The report's own page then keeps verdicts, values and speed-ups; the parts have file, line, command and SHA-256.
"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from evalsuite.core.model import Evaluation
from evalsuite.report.book.book import Book

FILES = "report.part-*.html"


def books(book: Book) -> Iterable[Book]:
    if book.huge:
        for model in book.models:
            yield Book(evaluation=_of(book.evaluation, model), part=model)


def _of(evaluation: Evaluation, model: str) -> Evaluation:
    cases = tuple(case for case in evaluation.planned if case.model == model)
    ids = {case.id for case in cases}
    return replace(
        evaluation,
        planned=cases,
        skips=tuple(skip for skip in evaluation.skips if skip.case.model == model),
        summaries=tuple(summary for summary in evaluation.summaries if summary.case.model == model),
        verdicts=(),
        findings=tuple(finding for finding in evaluation.findings if finding.where.partition("/r")[0] in ids),
    )


def outdated(out: Path, written: Iterable[Path]) -> list[Path]:
    return sorted(set(out.glob(FILES)) - set(written))

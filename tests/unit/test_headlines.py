"""Sentences over several cases say one number where least and most are printed alike."""

import pytest
import reports

from evalsuite.report.book import identity
from evalsuite.report.book.blocks import models
from evalsuite.report.book.book import Book
from evalsuite.report.sections import headlines
from evalsuite.report.text import words

SPOKEN = words.read()


def said(*summaries, language="en"):
    book = Book(evaluation=identity.ordered(reports.evaluation(*summaries)))
    return [one.plain(language) for one in headlines.headlines(book, models(book), SPOKEN)]


@pytest.mark.parametrize(("language", "twice"), [("en", "between"), ("zh", "之间")])
def test_one_case_has_one_utilisation(language, twice):
    (busy,) = [one for one in said(reports.summary(), language=language) if "CPU" in one]

    assert twice not in busy
    assert busy.count("%") == 1

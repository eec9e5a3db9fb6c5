"""Sentences over several cases say one number where least and most are printed alike."""

import pytest
import reports
import synthetic

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


def test_two_frameworks_of_one_median_have_one_throughput():
    of = [synthetic.case(name, protocol=synthetic.FULL) for name in ("pytorch", "mxnet")]

    sentence = said(*(reports.summary(of=one) for one in of))[0]

    assert "throughput of MXNet, PyTorch is 100.00 images/s, n" in sentence
    assert "between" not in sentence


def test_a_range_of_two_numbers_is_still_one():
    of = [synthetic.case(name, protocol=synthetic.FULL) for name in ("pytorch", "mxnet")]

    sentence = said(reports.summary(of=of[0]), reports.summary((100.2, 100.3, 99.9, 100.7, 99.4), of=of[1]))[0]

    assert "between" in sentence

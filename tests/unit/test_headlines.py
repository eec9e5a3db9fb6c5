"""Sentences over several cases say one number where least and most are printed alike."""

from dataclasses import replace

import pytest
import reports
import synthetic

from evalsuite.report.book import identity
from evalsuite.report.book.blocks import models
from evalsuite.report.book.book import Book
from evalsuite.report.sections.verdict import headlines
from evalsuite.report.text import words
from evalsuite.results.compare.scaling import with_scaling

SPOKEN = words.read()


def said(*summaries, language="en"):
    book = Book(evaluation=identity.ordered(reports.evaluation(*summaries)))
    return [one.plain(language) for one in headlines.headlines(book, models(book), SPOKEN)]


@pytest.mark.parametrize(("language", "twice"), [("en", "% to "), ("zh", "之间")])
def test_one_case_has_one_utilisation(language, twice):
    (busy,) = [one for one in said(reports.summary(), language=language) if "CPU" in one]

    assert twice not in busy
    assert busy.count("%") == 1


@pytest.mark.parametrize(
    ("speeds", "english", "chinese"),
    [
        (((40.0,), (39.0,)), "single runs", "每项一次运行"),
        (((40.0,), (39.0, 39.1)), "some of them single runs", "部分只有一次运行"),
        (((40.0, 40.1), (39.0, 39.1)), "2 runs each", "每项 2 次运行"),
        (((40.0, 40.1, 40.2), (39.0, 39.1)), "at least 2 runs each", "每项至少 2 次运行"),
    ],
)
def test_a_headline_says_how_many_runs_its_values_have(speeds, english, chinese):
    wide = [
        synthetic.case(name, protocol=synthetic.FULL, devices_per_node=2, device="gpu") for name in ("pytorch", "mxnet")
    ]
    found = [reports.summary(runs, of=one) for runs, one in zip(speeds, wide, strict=True)]
    alone = [reports.summary((30.0, 30.1, 30.2, 30.3, 30.4), of=replace(one, devices_per_node=1)) for one in wide]
    scaled = with_scaling([*alone, *found])

    assert any(english in sentence for sentence in said(*scaled))
    assert any(chinese in sentence for sentence in said(*scaled, language="zh"))


def test_headlines_of_blocks_that_differ_in_an_option_name_it():
    found = []
    for size in ("32", "64"):
        for devices in (1, 2):
            of = synthetic.case("pytorch", protocol=synthetic.FULL, devices_per_node=devices, device="gpu")
            found.append(reports.summary((20.0 * devices,), of=replace(of, options=(("image_size", size),))))

    sentences = [one for one in said(*with_scaling(found)) if "efficiency" in one]

    assert len(sentences) == 2
    assert sorted(size for size in ("32", "64") for one in sentences if f"image size: {size}" in one) == ["32", "64"]
    assert not any("image size" in one for one in said(*with_scaling(found[:2])))

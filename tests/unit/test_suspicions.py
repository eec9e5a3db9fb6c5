"""What a reviewer would ask: each rule with what breaks it and what comes close, and that nothing follows from one."""

from dataclasses import replace

import pytest
import synthetic

from evalsuite.core import paths
from evalsuite.core.model import Score
from evalsuite.report.book.book import Book
from evalsuite.report.data import summary_json
from evalsuite.results import evaluation
from evalsuite.results.compare import published_rates
from evalsuite.results.compare.scaling import with_scaling
from evalsuite.results.rules import data_rules
from evalsuite.runs import archive
from evalsuite.runs.store import Store
from tests import sources


def one(rate, framework="pytorch", scale=(1, 1), **changes):
    case = synthetic.case(framework, scale, **changes)
    return synthetic.summary(synthetic.measured(case, repeat, rate * (1 + 0.001 * repeat)) for repeat in range(3))


OTHERS = [one(80, "tensorflow"), one(77, "mxnet"), one(73, "pytorch")]


def test_a_framework_far_below_the_median_of_the_others_is_asked_about():
    (found,) = list(data_rules.far_below([*OTHERS, one(15, "paddlepaddle")]))

    assert found.where.startswith("paddlepaddle")
    assert (found.others, found.median) == (3, pytest.approx(77, rel=0.01))


@pytest.mark.parametrize(("others", "slow"), sources.cases("suspicions.toml")["no_question"])
def test_slower_but_not_many_times_or_than_one_other_or_at_other_work_is_no_question(others, slow):
    assert list(data_rules.far_below([*OTHERS[:others], one(**slow)])) == []


def test_every_published_figure_names_its_place_and_those_with_a_known_error_are_no_yardstick():
    known = published_rates.of_reference("published")
    ids = [row["id"] for row in published_rates.figures() if row["device"]]

    assert all(each.items_per_s > 0 and each.source for each in known)
    assert len(set(ids)) == len(known) > 900
    assert set(ids).isdisjoint({"nvdle-0781", "nvdle-0782"})  # the second is a value of another column, printed twice


def test_nothing_is_left_out_and_nothing_judged_because_of_a_note_of_doubt():
    recorded = evaluation.evaluate(Store(archive.unpack(paths.DATA / "recorded.zip")))

    written = summary_json.document(Book(evaluation=recorded), "0" * 64)

    doubts = [each for each in written["findings"] if each["code"] == "far_below"]
    assert {each["severity"] for each in doubts} == {"note"}
    assert {each["where"] for each in doubts} <= {summary["id"] for summary in written["summaries"] if summary["n"]}


def test_efficiency_that_is_surely_first_because_its_base_is_slow_is_told_and_none_in_the_noise():
    def scaled(**rates):
        found = (with_scaling([one(alone, of), one(two, of, (1, 2))]) for of, (alone, two) in rates.items())
        return list(data_rules.slow_bases([row for pair in found for row in pair]))

    (found,) = scaled(tensorflow=(80, 120), mxnet=(77, 130), pytorch=(73, 110), paddlepaddle=(15, 29))

    assert found.where.startswith("paddlepaddle") and found.where.endswith("1x2") and found.base == "1x1"
    assert found.code == "slow_base"
    assert found.share == pytest.approx(15 / 77, rel=0.01)
    assert scaled(tensorflow=(80, 159), mxnet=(77, 130), pytorch=(73, 110), paddlepaddle=(15, 20)) == []
    assert scaled(tensorflow=(80, 155.0), mxnet=(77, 130), pytorch=(73, 110), paddlepaddle=(15, 29.06)) == []


@pytest.mark.parametrize(
    ("accuracy", "model", "guesses"), [(10.4, "mnist_mlp", True), (13.0, "mnist_mlp", False), (10.0, "other", False)]
)
def test_a_trained_model_that_guesses_is_told(accuracy, model, guesses):
    summary = one(100, model=model)
    scores = (Score(metric="accuracy", split="validation", value=accuracy, epoch=2),)
    trained = replace(summary, measurements=tuple(replace(run, scores=scores) for run in summary.measurements))

    assert [(each.classes, each.accuracy) for each in data_rules.at_chance([trained])] == [(10, accuracy)] * guesses

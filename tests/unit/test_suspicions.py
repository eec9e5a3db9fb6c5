"""What a reviewer would ask: each rule with what breaks it and what comes close, and that nothing follows from one."""

from dataclasses import replace

import pytest
import synthetic

from evalsuite.core import paths
from evalsuite.core.findings import FarBelow, OutsidePublished
from evalsuite.core.model import Fact, Machine
from evalsuite.report.book.book import Book
from evalsuite.report.data import summary_json
from evalsuite.results import evaluation
from evalsuite.results.compare import published_rates
from evalsuite.results.rules import suspicions
from evalsuite.runs import archive
from evalsuite.runs.store import Store
from tests import sources

V100 = Machine(name="8 x Tesla V100-SXM2-16GB, Intel(R) Xeon(R) (64 cores), driver 450.80")


def one(rate, framework="pytorch", scale=(1, 1), **changes):
    case = synthetic.case(framework, scale, **changes)
    return synthetic.summary(synthetic.measured(case, repeat, rate * (1 + 0.001 * repeat)) for repeat in range(3))


def on_v100(rate, **changes):
    wanted = {"device": "gpu", "batch_per_device": 128, "options": (), **changes}
    summary = one(rate, **wanted)
    runs = tuple(
        replace(run, environment=V100, facts=(*run.facts, Fact(key="input_size", value="224", source="recipe")))
        for run in summary.measurements
    )
    return replace(summary, measurements=runs)


OTHERS = [one(80, "tensorflow"), one(77, "mxnet"), one(73, "pytorch")]


def of(kind, found):
    return [each for each in suspicions.findings(found) if isinstance(each, kind)]


def test_a_framework_far_below_the_median_of_the_others_is_asked_about():
    (found,) = of(FarBelow, [*OTHERS, one(15, "paddlepaddle")])

    assert found.where.startswith("paddlepaddle")
    assert (found.others, found.median) == (3, pytest.approx(77, rel=0.01))


@pytest.mark.parametrize(("others", "slow"), sources.cases("suspicions.toml")["no_question"])
def test_slower_but_not_many_times_or_than_one_other_or_at_other_work_is_no_question(others, slow):
    assert of(FarBelow, [*OTHERS[:others], one(**slow)]) == []


@pytest.mark.parametrize(("rate", "above"), [(150, [False]), (700, [True]), *((like, []) for like in (200, 390, 530))])
def test_a_rate_unlike_any_that_is_published_is_asked_about(rate, above):
    found = of(OutsidePublished, [on_v100(rate)])

    assert [each.rate > each.high for each in found] == above
    for each in found:
        assert (each.device, each.low, each.high) == ("V100", 356.0, 432.0)
        assert each.figures >= published_rates.FEWEST_FIGURES and each.sources


PUBLISHED = [  # as printed: machine, model, precision, devices, input size, unit, batch, items/s over all devices
    ("8 x NVIDIA A100-SXM4-80GB", "resnet50_v1.5", "amp", (1, 8), "224", "images/s", 256, 20_144.0),
    ("8 x Tesla V100-SXM2-32GB", "bert_large", "amp", (1, 8), "128", "sequences/s", 64, 1_443.05),
    ("8 x NVIDIA A100-SXM4-80GB", "resnext101_32x4d", "amp", (1, 1), "224", "images/s", 128, 1_132.0),
    ("8 x NVIDIA H100 80GB HBM3", "llama3_8b", "fp8", (1, 8), "8192", "tokens/s", 1, 8 * 13_000.0),
]


@pytest.mark.parametrize("row", PUBLISHED, ids=lambda row: f"{row[1]} on {row[0]}")
@pytest.mark.parametrize(("times", "asked"), [(1.0, 0), (1 / 3, 1), (3.0, 1)])
def test_a_rate_three_times_off_what_is_published_is_asked_about(row, times, asked):
    machine, model, precision, scale, size, unit, batch, rate = row
    summary = one(rate * times, scale=scale, device="gpu", model=model, precision=precision, batch_per_device=batch)
    runs = (
        replace(
            run,
            environment=Machine(name=machine),
            facts=(*run.facts, Fact(key="input_size", value=size, source="recipe")),
        )
        for run in summary.measurements
    )

    assert len(of(OutsidePublished, [replace(summary, unit=unit, measurements=tuple(runs))])) == asked


def test_every_published_figure_names_its_place_and_those_with_a_known_error_are_no_yardstick():
    known = published_rates.of_reference("published")
    ids = [row["id"] for row in published_rates.figures() if row["device"]]

    assert all(each.items_per_s > 0 and each.source for each in known)
    assert len(set(ids)) == len(known) > 900
    assert set(ids).isdisjoint({"nvdle-0781", "nvdle-0782"})  # the second is a value of another column, printed twice


@pytest.mark.parametrize(
    "changes", [{"batch_per_device": 2}, {"device": "cpu"}, {"scale": (3, 8)}, {"model": "other"}, {"precision": "fp8"}]
)
def test_figures_of_other_conditions_are_no_yardstick(changes):
    assert of(OutsidePublished, [on_v100(10, **changes)]) == []


def test_nothing_is_left_out_and_nothing_judged_because_of_a_note_of_doubt():
    recorded = evaluation.evaluate(Store(archive.unpack(paths.DATA / "recorded.zip")))

    written = summary_json.document(Book(evaluation=recorded), "0" * 64)

    doubts = [each for each in written["findings"] if each["code"] == "far_below"]
    assert {each["severity"] for each in doubts} == {"note"}
    assert {each["where"] for each in doubts} <= {summary["id"] for summary in written["summaries"] if summary["n"]}

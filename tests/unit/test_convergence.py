"""Final accuracy, and what may be called the same (D24)."""

from dataclasses import replace

import pytest
import synthetic

from evalsuite.core.model import Score, Target
from evalsuite.results.judge import criteria
from evalsuite.results.measure import convergence
from tests import seeds

TARGET = Target(model="resnet50_v1.5", metric="top1", value=76.0, epochs=90)


def score(value, epoch=90, at_s=None, metric="top1", split="validation"):
    return Score(metric=metric, split=split, value=value, epoch=epoch, at_s=at_s)


def trained(*scores, scale=(1, 1)):
    """A case whose one run printed *scores*."""
    run = synthetic.measured(synthetic.case("pytorch", scale), 0, 40.0)
    return synthetic.summary([replace(run, scores=scores)])


def codes(*scores):
    return [finding.code for finding in convergence.findings([trained(*scores)], (TARGET,))]


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        ((score(10.0, 1, 60.0),), []),  # a benchmark of a few steps
        ((score(76.4, 90),), []),
        ((), []),
        ((score(70.0, 89), score(76.4, 90)), []),
        ((score(75.0, 90, metric="accuracy"),), ["D24"]),
        ((score(75.0, 45),), ["D24"]),
    ],
)
def test_a_final_value_below_the_target_is_found_where_half_of_its_epochs_were_trained(scores, told):
    assert codes(*scores) == told


@pytest.mark.parametrize(
    ("value", "base", "same"), [(76.4, 76.2, True), (76.4, 76.05, False), (75.8, 76.0, False), (76.0, 76.3, True)]
)
def test_the_same_accuracy_is_within_the_tolerance_and_not_below_the_target(value, base, same):
    assert convergence.same(score(value), score(base), TARGET) is same


# the systems whose published figures this must judge (docs/architecture.md#checks)


def published(system, metric):
    """(devices, variant) → value, as published."""
    rows = [row for row in seeds.rows() if (row["seed"], row["metric"]) == (system, metric)]
    return {(int(row["total_devices"]), row["variant"]): float(row["value"]) for row in rows}


def test_hal_and_chainermn_are_judged_by_their_published_accuracies():
    known = published("hal", "top1_val_final")

    runs = {devices: trained(score(value, 90, 3600.0)) for (devices, _), value in known.items()}
    found = [(devices, finding) for devices, run in runs.items() for finding in convergence.findings([run], (TARGET,))]
    missed = {devices: round(finding.difference, 2) for devices, finding in found if finding.code == "D24"}

    assert missed == {32: -0.09, 64: -0.86}

    known = published("chainermn", "validation_accuracy_mean5")

    infiniband, ethernet = (known[32, name] for name in ("InfiniBand FDR", "10 Gb Ethernet"))
    buffered = known[32, "10 Gb Ethernet + Double Buffering + FP16 Allreduce"]

    assert convergence.same(score(ethernet), score(infiniband), TARGET)
    assert not convergence.same(score(buffered), score(infiniband), TARGET)
    assert buffered - infiniband == pytest.approx(-0.6)


# the criteria file


def test_the_default_criteria_name_the_target_of_resnet50():
    assert [vars(each) for each in criteria.read().target] == [vars(TARGET)]

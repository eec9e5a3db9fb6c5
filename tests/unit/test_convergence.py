"""Final accuracy, time to solution, and what may be called the same (D17, D24)."""

from dataclasses import replace

import pytest
import synthetic

from evalsuite.core import paths
from evalsuite.core.model import Score, Target
from evalsuite.results.judge import criteria
from evalsuite.results.measure import convergence

TARGET = Target(model="resnet50_v1.5", metric="top1", value=76.0, epochs=90)


def score(value, epoch=90, at_s=None, metric="top1", split="validation"):
    return Score(metric=metric, split=split, value=value, epoch=epoch, at_s=at_s)


def trained(*scores, scale=(1, 1)):
    """A case whose one run printed *scores*."""
    run = synthetic.measured(synthetic.case("pytorch", scale), 0, 40.0)
    return synthetic.summary([replace(run, scores=scores)])


def codes(*scores):
    return [finding.code for finding in convergence.misses([trained(*scores)], (TARGET,))]


def test_a_time_to_solution_is_measured_to_the_last_epoch_or_scaled_and_says_so():
    run = convergence.run_of(trained(score(70.0, 89, 3500.0), score(76.4, 90, 3600.0)))
    assert convergence.solution(run, TARGET) == convergence.Solution(seconds=3600.0, epochs=90, factor=1.0)
    assert codes(*run.scores) == []
    assert convergence.solution(replace(run, status="failed"), TARGET) is None

    run = convergence.run_of(trained(score(76.3, 81, 8100.0)))

    found = convergence.solution(run, TARGET)

    assert (found.seconds, found.scaled) == (pytest.approx(9000.0), True)
    assert codes(*run.scores) == []
    assert codes(score(75.0, 90, 3600.0, metric="accuracy")) == ["D24"]


@pytest.mark.parametrize("scores", [(score(10.0, 1, 60.0),), (score(76.4, 90),), ()])
def test_a_benchmark_of_a_few_steps_or_without_a_clock_has_none_and_claims_nothing(scores):
    summary = trained(*scores)
    run = convergence.run_of(summary)

    assert run is None or convergence.solution(run, TARGET) is None
    assert codes(*scores) == []


@pytest.mark.parametrize(
    ("value", "base", "same"), [(76.4, 76.2, True), (76.4, 76.05, False), (75.8, 76.0, False), (76.0, 76.3, True)]
)
def test_the_same_accuracy_is_within_the_tolerance_and_not_below_the_target(value, base, same):
    assert convergence.same(score(value), score(base), TARGET) is same


# the systems whose published figures this must judge (docs/architecture.md#checks)


SEEDS = paths.read_rows(paths.DATA.parent / "tests" / "published" / "seeds.csv")


def published(system, metric):
    """(devices, variant) → value, as published."""
    rows = [row for row in SEEDS if (row["seed"], row["metric"]) == (system, metric)]
    return {(int(row["total_devices"]), row["variant"]): float(row["value"]) for row in rows}


def test_hal_and_chainermn_are_judged_by_their_published_accuracies():
    known = published("hal", "top1_val_final")

    runs = {devices: trained(score(value, 90, 3600.0)) for (devices, _), value in known.items()}
    found = [(devices, finding) for devices, run in runs.items() for finding in convergence.misses([run], (TARGET,))]
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

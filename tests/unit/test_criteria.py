from dataclasses import replace

import pytest

from evalsuite.model import Utilisation
from evalsuite.results import criteria
from evalsuite.results.scaling import with_scaling
from evalsuite.results.summary import summaries
from tests.toys import CASE, measured

CRITERIA = criteria.read()


def rows(scales, repeats=5, **changes):
    runs = [
        measured(CASE.at_scale(nodes, 8 if nodes > 1 else devices), repeat, value + repeat / 100, **changes)
        for nodes, devices, value in scales
        for repeat in range(repeats)
    ]
    return with_scaling(summaries(runs))


def verdict(name, summaries):
    return next(v for v in criteria.verdicts(summaries, CRITERIA) if v.criterion == name)


def test_without_a_scale_of_twenty_nodes_linear_speedup_is_undetermined():
    found = verdict("C1", rows([(1, 1, 100.0), (2, 8, 1500.0)]))

    assert (found.outcome, found.reason) == ("undetermined", "no_large_scale")
    assert dict(found.values) == {"largest": "2", "min_nodes": "20"}


@pytest.mark.parametrize(("value", "outcome"), [(14_000.0, "pass"), (12_000.0, "fail")])
def test_linear_speedup_is_decided_at_twenty_nodes(value, outcome):
    found = verdict("C1", rows([(1, 1, 100.0), (20, 8, value)]))

    assert found.outcome == outcome
    assert found.case.nodes == 20


def test_linear_speedup_without_one_device_is_undetermined():
    found = verdict("C1", rows([(2, 8, 1500.0), (20, 8, 14_000.0)]))

    assert (found.outcome, found.reason) == ("undetermined", "no_base")


def test_partial_repeats_decide_nothing():
    found = verdict("C1", rows([(1, 1, 100.0), (20, 8, 14_000.0)], repeats=3))

    assert (found.outcome, found.reason) == ("undetermined", "partial")


def test_cited_values_decide_nothing():
    found = verdict("C1", rows([(1, 1, 100.0), (20, 8, 14_000.0)], origin="cited"))

    assert found.outcome == "undetermined"


def test_no_gpu_leaves_utilisation_undetermined_and_not_zero():
    cpu = Utilisation(resource="cpu", unit="%", mean=95.0, p5=90.0, p95=99.0, samples=20, coverage=1.0)

    found = verdict("C2a", rows([(1, 1, 100.0)], utilisation=(cpu,)))

    assert (found.outcome, found.reason, found.measured) == ("undetermined", "no_gpu", None)


def test_gpu_utilisation_is_judged_where_it_is_lowest():
    def gpu(mean):
        return (
            Utilisation(resource="gpu", unit="%", mean=mean, p5=0, p95=100, samples=20, coverage=1.0, device="gpu0"),
        )

    summaries_ = [*rows([(1, 1, 100.0)], utilisation=gpu(95.0)), *rows([(2, 8, 900.0)], utilisation=gpu(60.0))]

    found = verdict("C2a", summaries_)

    assert found.outcome == "fail"
    assert found.measured.value == pytest.approx(0.60)
    assert found.case.nodes == 2


def test_the_fastest_framework_is_named_only_if_the_difference_is_more_than_noise():
    other = replace(CASE, framework="othernet")
    runs = [measured(CASE, r, 100.0 + r) for r in range(5)] + [measured(other, r, 100.5 + r) for r in range(5)]

    found = verdict("C3", with_scaling(summaries(runs)))

    assert (found.outcome, found.reason, found.within_noise) == ("information", "no_difference", True)

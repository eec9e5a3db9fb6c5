"""What a reviewer would ask: each rule with what breaks it and what comes close, and that nothing follows from one."""

import pytest
import synthetic

from evalsuite.results.compare import published_rates
from evalsuite.results.compare.scaling import with_scaling
from evalsuite.results.rules import data_rules


def one(rate, framework="pytorch", scale=(1, 1), **changes):
    case = synthetic.case(framework, scale, **changes)
    return synthetic.summary(synthetic.measured(case, repeat, rate * (1 + 0.001 * repeat)) for repeat in range(3))


def test_every_published_figure_names_its_place_and_those_with_a_known_error_are_no_yardstick():
    known = published_rates.of_reference("published")
    ids = [row["id"] for row in published_rates.figures() if row["device"]]

    assert all(each.items_per_s > 0 and each.source for each in known)
    assert len(set(ids)) == len(known) > 900
    assert set(ids).isdisjoint({"nvdle-0781", "nvdle-0782"})  # the second is a value of another column, printed twice


def test_efficiency_that_is_surely_first_because_its_base_is_slow_is_told_and_none_in_the_noise():
    def scaled(**rates):
        found = (with_scaling([one(alone, of), one(two, of, (1, 2))]) for of, (alone, two) in rates.items())
        return list(data_rules.slow_bases([row for pair in found for row in pair]))

    (found,) = scaled(tensorflow=(80, 120), mxnet=(77, 130), pytorch=(73, 110), paddlepaddle=(15, 29))

    assert found.where.startswith("paddlepaddle") and found.where.endswith("1x2") and found.base == "1x1"
    assert found.code == "D11"
    assert found.share == pytest.approx(15 / 77, rel=0.01)
    assert scaled(tensorflow=(80, 159), mxnet=(77, 130), pytorch=(73, 110), paddlepaddle=(15, 20)) == []
    assert scaled(tensorflow=(80, 155.0), mxnet=(77, 130), pytorch=(73, 110), paddlepaddle=(15, 29.06)) == []

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsuite.results.measure import statistics

speeds = st.lists(st.floats(min_value=1e-3, max_value=1e7), min_size=2, max_size=9)


@pytest.mark.parametrize(("n", "coverage"), [(5, 0.9375), (6, 0.96875), (7, 0.984375)])
def test_coverage_of_the_range_is_exact_and_never_rounded_up(n, coverage):
    interval = statistics.median_with_range([float(value) for value in range(1, n + 1)])

    assert interval.coverage == coverage
    assert (interval.low, interval.high) == (1.0, float(n))


def test_one_value_has_no_interval_and_efficiency_is_the_ratio_divided_by_the_ideal():
    interval = statistics.median_with_range([250.0])
    assert (interval.value, interval.low, interval.high, interval.coverage) == (250.0, None, None, None)

    assert statistics.ratio_of_medians([150.0], [100.0], divisor=2.0).value == 0.75


@given(speeds, st.floats(min_value=0.1, max_value=1000))
def test_scaling_every_speed_scales_the_median_and_its_range(values, factor):
    plain = statistics.median_with_range(values)
    scaled = statistics.median_with_range([value * factor for value in values])

    assert math.isclose(scaled.value, plain.value * factor, rel_tol=1e-9)
    assert math.isclose(scaled.low, plain.low * factor, rel_tol=1e-9)


@given(speeds)
def test_the_median_lies_in_its_own_range(values):
    interval = statistics.median_with_range(values)

    assert interval.low <= interval.value <= interval.high


few = st.lists(st.floats(min_value=1e-3, max_value=1e7), min_size=2, max_size=6)  # all splits are tried


@given(few, few)
def test_permutation_p_does_not_depend_on_which_group_is_named_first(a, b):
    assert statistics.permutation_p(a, b) == pytest.approx(statistics.permutation_p(b, a))


def test_two_groups_differ_where_enough_runs_do_not_overlap():
    values = [100.0, 101.0, 99.0, 100.5, 99.5]
    assert statistics.differ(values, values) is False

    assert statistics.differ([1.0] * 4, [1000.0] * 7) is None
    assert statistics.differ([1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0]) is True

    # Two groups of 3 that do not overlap: of the C(6,3) = 20 splits only 2 are as far apart.
    p = statistics.permutation_p([10.0, 11.0, 12.0], [1.0, 2.0, 3.0])
    assert p == pytest.approx(2 / 20)


def test_bootstrap_interval_is_the_same_every_time_and_holds_the_ratio():
    runs, base = [190.0, 200.0, 210.0, 205.0, 195.0], [98.0, 100.0, 102.0, 101.0, 99.0]

    first, again = statistics.ratio_of_medians(runs, base), statistics.ratio_of_medians(runs, base)

    assert first == again
    assert first.value == 2.0
    assert first.low <= 2.0 <= first.high


def test_a_value_far_from_the_others_is_an_outlier_where_few_values_are_equal():
    assert statistics.outliers([100.0, 101.0, 99.0, 100.5, 60.0]) == [4]
    assert statistics.outliers([5.0, 5.0, 5.0, 5.0, 9.0]) == []


def test_many_runs_are_tested_by_drawn_splits_and_not_by_all():
    low, high = [100.0 + k / 100 for k in range(40)], [100.2 + k / 100 for k in range(40)]

    assert statistics.differ(low, high) is True
    assert statistics.differ(low, [*low[1:], low[0]]) is False
    assert statistics.permutation_p(low, high) == statistics.permutation_p(low, high)

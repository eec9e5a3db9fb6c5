"""The model for scales that were not measured, what it is refused for, and that it decides nothing."""

import sys
from itertools import pairwise
from pathlib import Path

import pytest
import synthetic
from hypothesis import given
from hypothesis import strategies as st

from evalsuite.results import extrapolation
from evalsuite.results.scaling import with_scaling

TOOLS = Path(__file__).parents[2] / "tools"
GPU = {"protocol": synthetic.FULL, "options": (), "device": "gpu", "batch_per_device": 128}


def ladder(speeds, **changes):
    """One PyTorch series: (scale, items/s) of each case, five equal runs."""
    cases = [(synthetic.case("pytorch", scale, **GPU), speed) for scale, speed in speeds]
    runs = [[synthetic.measured(case, k, speed) for k in range(5)] for case, speed in cases]
    return with_scaling([synthetic.summary(found, **changes) for found in runs])


def planned(*scales):
    return [synthetic.case("pytorch", scale, **GPU) for scale in scales]


LINEAR = [((1, 1), 100.0), ((1, 8), 800.0), ((2, 8), 1600.0)]


def test_perfect_scaling_is_continued_perfectly():
    assert extrapolation.predicted([(1, 100.0), (8, 800.0), (16, 1600.0)], 128) == pytest.approx(12_800)


def test_the_time_of_an_item_grows_by_the_same_amount_with_every_doubling():
    points = [(1, 1 / 1.0), (2, 2 / 1.1), (4, 4 / 1.2)]

    assert extrapolation.predicted(points, 16) == pytest.approx(16 / 1.4)


@given(
    st.lists(st.floats(0.5, 1.0), min_size=3, max_size=8).map(
        lambda shares: [(2**k, 2**k * s) for k, s in enumerate(shares)]
    )
)
def test_nothing_better_than_the_largest_measured_scale_is_ever_expected(points):
    last, rate = points[-1]

    assert extrapolation.predicted(points, 4 * last) <= 4 * rate * (1 + 1e-9)


def test_every_planned_scale_that_was_validated_gets_a_forecast_with_its_interval():
    (found,) = extrapolation.outlooks(ladder(LINEAR), planned((1, 1), (2, 8), (4, 8), (16, 8)))

    near, far = found.forecasts
    assert (near.case.scale, near.distance, near.validation.doublings) == ("4x8", 2.0, 1)
    assert (far.case.scale, far.distance, far.validation.doublings) == ("16x8", 8.0, 3)
    assert near.efficiency.value == pytest.approx(1.0)
    assert near.efficiency.low == pytest.approx(near.validation.low)
    assert far.efficiency.low < near.efficiency.low < near.efficiency.value < near.efficiency.high


def test_a_planned_maximum_beyond_the_validated_distance_is_refused_with_the_distance():
    (found,) = extrapolation.outlooks(ladder(LINEAR), planned((4, 8), (125, 8)))

    assert [forecast.case.scale for forecast in found.forecasts] == ["4x8"]
    (refusal,) = found.refusals
    assert (refusal.case.scale, refusal.reason, dict(refusal.values)["distance"]) == ("125x8", "too_far", "62.5")


def test_two_scales_are_too_few():
    (found,) = extrapolation.outlooks(ladder(LINEAR[:2]), planned((4, 8)))

    assert (found.forecasts, found.refusals[0].reason) == ((), "too_few")


def test_a_series_that_falls_at_its_last_step_is_not_continued():
    (found,) = extrapolation.outlooks(ladder([*LINEAR, ((4, 8), 1500.0)]), planned((8, 8)))

    assert (found.forecasts, found.refusals[0].reason) == ((), "falls")


def test_a_series_measured_as_far_as_it_was_planned_has_no_outlook():
    assert extrapolation.outlooks(ladder(LINEAR), planned((1, 1), (2, 8))) == ()


@pytest.mark.parametrize("origin", ["cited", "digitised", "simulated"])
def test_only_what_was_measured_is_continued(origin):
    assert extrapolation.outlooks(ladder(LINEAR, origin=origin), planned((4, 8))) == ()


# how far off it is


def test_intervals_never_get_narrower_with_distance_and_hold_enough_series():
    found = list(extrapolation.validations().values())

    assert [one.doublings for one in found] == list(range(1, len(found) + 1))
    assert all(one.series >= extrapolation.FEWEST_SERIES for one in found)
    for nearer, further in pairwise(found):
        assert further.low <= nearer.low < 1 < nearer.high <= further.high


def test_nine_tenths_of_the_published_values_lie_in_the_interval_of_their_distance():
    rows = [line.split(",") for line in extrapolation.VALIDATION.read_text().splitlines() if line[0] != "#"][1:]
    known = extrapolation.validations()
    near = [(float(row[-1]), known[1]) for row in rows if int(row[-2]) <= 2 * int(row[-3])]

    inside = sum(one.low <= ratio <= one.high for ratio, one in near)

    assert inside / len(near) == pytest.approx(0.9, abs=0.01)


def test_the_file_is_what_the_tool_writes_from_the_published_series(monkeypatch, shared):
    monkeypatch.syspath_prepend(str(TOOLS))
    sys.modules.pop("validate_extrapolation", None)
    import validate_extrapolation

    found = validate_extrapolation.text(shared / "reference" / "scaling_series.csv")

    assert found == extrapolation.VALIDATION.read_text(encoding="utf-8")


def test_a_series_is_cut_at_every_scale_that_the_model_would_be_offered_for():
    points = [(1, 1.0), (2, 2.0), (4, 4.0), (8, 3.0), (16, 16.0)]

    found = list(extrapolation.trials("a", "b", points))

    assert [(one.scales, one.target) for one in found] == [(3, 8), (3, 16)]  # the first four end with a fall


# that it decides nothing (docs/report.md#checks)


def test_without_its_measured_large_scales_c1_is_undetermined_however_good_the_forecast():
    speeds = [((n, 8), 100.0 * n * 8 * 0.99) for n in (1, 2, 4, 8, 25)]
    summaries = ladder([((1, 1), 100.0), *speeds])
    small = [one for one in summaries if one.case.nodes < 20]

    complete, *_ = synthetic.verdicts(tuple(summaries))
    without, *_ = synthetic.verdicts(tuple(small))
    (outlook,) = extrapolation.outlooks(small, [one.case for one in summaries])

    assert (complete.criterion, complete.outcome) == ("C1", "pass")
    assert outlook.forecasts[-1].case.nodes == 25
    assert outlook.forecasts[-1].efficiency.value > 0.8
    assert (without.criterion, without.outcome, without.measured) == ("C1", "undetermined", None)

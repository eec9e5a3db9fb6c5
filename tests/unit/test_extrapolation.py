"""The model for scales that were not measured, what it is refused for, and that it decides nothing."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import synthetic
from hypothesis import given
from hypothesis import strategies as st

from evalsuite.model import Fact
from evalsuite.results.compare.scaling import with_scaling
from evalsuite.results.judge import extrapolation
from evalsuite.results.measure import facts
from tools import validate_extrapolation

GPU = {"protocol": synthetic.FULL, "options": (), "device": "gpu", "batch_per_device": 128}


def ladder(speeds, **changes):
    """One PyTorch series: (scale, items/s) of each case, five equal runs."""
    cases = [(synthetic.case("pytorch", scale, **GPU), speed) for scale, speed in speeds]
    runs = [[synthetic.measured(case, k, speed) for k in range(5)] for case, speed in cases]
    return with_scaling([synthetic.summary(found, **changes) for found in runs])


def planned(*scales):
    return [synthetic.case("pytorch", scale, **GPU) for scale in scales]


LINEAR = [((1, 1), 100.0), ((1, 8), 800.0), ((2, 8), 1600.0)]
LONGER = [*LINEAR, ((4, 8), 3200.0)]
EIGHT = planned((8, 8))


@pytest.mark.parametrize(
    ("points", "devices", "rate"),
    [
        ([(1, 100.0), (8, 800.0), (16, 1600.0)], 128, 12_800),  # perfect scaling
        ([(1, 1 / 1.0), (2, 2 / 1.1), (4, 4 / 1.2)], 16, 16 / 1.4),
    ],
)
def test_the_time_of_an_item_grows_by_the_same_amount_with_every_doubling(points, devices, rate):
    assert extrapolation.predicted(points, devices) == pytest.approx(rate)


@given(
    st.lists(st.floats(0.5, 1.0), min_size=3, max_size=8).map(
        lambda shares: [(2**k, 2**k * s) for k, s in enumerate(shares)]
    )
)
def test_nothing_better_than_the_largest_measured_scale_is_ever_expected(points):
    last, rate = points[-1]

    assert extrapolation.predicted(points, 4 * last) <= 4 * rate * (1 + 1e-9)


def test_every_planned_scale_that_was_validated_gets_a_forecast_with_its_interval():
    (found,) = extrapolation.outlooks(ladder(LONGER), planned((1, 1), (4, 8), (8, 8), (16, 8)))

    near, far = found.forecasts
    assert (near.case.scale, near.distance, near.validation.doublings) == ("8x8", 2.0, 1)
    assert (far.case.scale, far.distance, far.validation.doublings) == ("16x8", 4.0, 2)
    assert near.efficiency.value == pytest.approx(1.0)
    assert near.efficiency.low == pytest.approx(near.validation.low)
    assert far.efficiency.low < near.efficiency.low < near.efficiency.value < near.efficiency.high


@pytest.mark.parametrize(
    ("speeds", "scales", "forecast", "refused"),
    [
        (LONGER, ((8, 8), (125, 8)), ["8x8"], [("125x8", "too_far")]),
        (LINEAR, ((4, 8), (8, 8)), ["4x8"], [("8x8", "too_few_for_far")]),  # to twice the largest and no further
        # beyond that the step between nodes must have been measured
        ([((1, n), 100.0 * n) for n in (1, 2, 4, 8)], ((2, 8), (4, 8)), ["2x8"], [("4x8", "no_crossing")]),
        (LINEAR[:2], ((4, 8),), [], [("4x8", "too_few")]),
        ([*LINEAR, ((4, 8), 1500.0)], ((8, 8),), [], [("8x8", "falls")]),
    ],
)
def test_what_was_not_validated_is_refused_with_its_reason(speeds, scales, forecast, refused):
    (found,) = extrapolation.outlooks(ladder(speeds), planned(*scales))

    assert [one.case.scale for one in found.forecasts] == forecast
    assert [(one.case.scale, one.reason) for one in found.refusals] == refused
    assert refused[0][1] != "too_far" or dict(found.refusals[0].values)["distance"] == "31.2"


def stating(one, batch):
    """The same summary, of runs that state their global batch."""
    stated = (*facts.of_case(one.case), Fact(key="global_batch", value=batch, source="log"))
    return replace(one, measurements=tuple(replace(run, facts=stated) for run in one.measurements))


def test_strong_scaling_is_refused_with_the_batches_that_say_so_and_a_batch_that_grows_is_continued():
    strong, weak = (
        extrapolation.outlooks([stating(one, batch or str(one.case.global_batch)) for one in ladder(LONGER)], EIGHT)
        for batch in ("256", None)
    )

    (refusal,) = strong[0].refusals
    assert (strong[0].forecasts, refusal.reason) == ((), "strong")
    assert dict(refusal.values) == {"batch": "256", "devices": "1", "larger": "256", "more": "32"}
    assert len(weak[0].forecasts) == 1


@pytest.mark.parametrize(
    ("changes", "scales"),
    [({}, ((1, 1), (2, 8))), *(({"origin": origin}, ((4, 8),)) for origin in ("cited", "digitised", "simulated"))],
)
def test_only_what_was_measured_and_planned_further_is_continued(changes, scales):
    assert extrapolation.outlooks(ladder(LINEAR, **changes), planned(*scales)) == ()


# how far off it is


def test_intervals_never_get_narrower_with_distance_and_hold_enough_series_and_nine_tenths_of_the_others():
    found = list(extrapolation.validations().values())

    assert [one.doublings for one in found] == list(range(1, len(found) + 1))
    assert all(one.series >= extrapolation.FEWEST_SERIES for one in found)
    assert all(one.covered >= extrapolation.COVERAGE for one in found)
    for nearer, further in pairwise(found):
        assert further.low <= nearer.low < 1 < nearer.high <= further.high


def test_a_source_has_one_vote_and_the_interval_is_widened_until_other_sources_lie_inside():
    few = {name: [1.0, 1.1] for name in "abcde"}
    once, often = (extrapolation.validation(1, ratios) for ratios in (few, {**few, "a": [1.0, 1.1] * 500}))
    assert (once.median_error, once.high) == (often.median_error, often.high)

    alike = {name: [0.9, 1 / 0.9] for name in "abcdef"}
    one_apart = {**alike, "f": [0.8, 0.8]}
    assert extrapolation.validation(1, alike).low == pytest.approx(0.9)
    assert extrapolation.validation(1, one_apart).low < 0.8


@pytest.mark.parametrize(
    "ratios",
    [
        {**{name: [0.99, 1.01] for name in "abcd"}, "e": [0.5, 0.5]},  # it would have to be five times as wide
        {"a": [1.0] * 40, "b": [1.0], "c": [1.0]},  # few sources
        {name: [1.0] for name in "abcde"},  # few series
    ],
)
def test_few_series_few_sources_and_one_far_apart_validate_nothing(ratios):
    assert extrapolation.validation(1, ratios) is None


def test_file_and_method_have_the_errors_that_the_published_series_give():
    found = validate_extrapolation.text(validate_extrapolation.SERIES)

    assert found == extrapolation.VALIDATION.read_text(encoding="utf-8")

    said = (Path(__file__).parents[2] / "docs" / "method.md").read_text(encoding="utf-8")

    for one in extrapolation.validations().values():
        interval = f"{one.low:.3f}–{one.high:.3f}"
        row = f"| {2**one.doublings}× | {one.series} | {one.sources} | {one.median_error * 100:.1f} % | {interval} |"
        assert f"up to {row[2:]}" in said


def published(points, batches=("64",)):
    points = tuple(points)
    nodes = {devices: max(1, devices // 8) for devices, _ in points}
    return extrapolation.PublishedSeries(name="a", source="b", batches=frozenset(batches), points=points, nodes=nodes)


def test_the_largest_scale_is_predicted_from_those_up_to_a_half_and_a_quarter_of_it():
    found = extrapolation.trials(published((2**k, 2.0**k) for k in range(7)))

    trials = [(one.doublings, one.scales, one.measured_to, one.target) for one in found]
    assert trials == [(1, 6, 32, 64), (2, 5, 16, 64)]


@pytest.mark.parametrize("batches", [("64", "32"), (None,)])
def test_a_series_of_several_batches_or_of_an_unknown_one_validates_nothing(batches):
    assert list(extrapolation.trials(published(((2**k, 2.0**k) for k in range(6)), batches))) == []


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

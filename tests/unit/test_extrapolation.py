"""The model for scales that were not measured, what it is refused for, and that it decides nothing."""

import sys
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
LONGER = [*LINEAR, ((4, 8), 3200.0)]


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
    (found,) = extrapolation.outlooks(ladder(LONGER), planned((1, 1), (4, 8), (8, 8), (16, 8)))

    near, far = found.forecasts
    assert (near.case.scale, near.distance, near.validation.doublings) == ("8x8", 2.0, 1)
    assert (far.case.scale, far.distance, far.validation.doublings) == ("16x8", 4.0, 2)
    assert near.efficiency.value == pytest.approx(1.0)
    assert near.efficiency.low == pytest.approx(near.validation.low)
    assert far.efficiency.low < near.efficiency.low < near.efficiency.value < near.efficiency.high


def test_a_planned_maximum_beyond_the_validated_distance_is_refused_with_the_distance():
    (found,) = extrapolation.outlooks(ladder(LONGER), planned((8, 8), (125, 8)))

    assert [forecast.case.scale for forecast in found.forecasts] == ["8x8"]
    (refusal,) = found.refusals
    assert (refusal.case.scale, refusal.reason, dict(refusal.values)["distance"]) == ("125x8", "too_far", "31.2")


def test_three_scales_are_continued_to_twice_the_largest_and_no_further():
    (found,) = extrapolation.outlooks(ladder(LINEAR), planned((4, 8), (8, 8)))

    assert [forecast.case.scale for forecast in found.forecasts] == ["4x8"]
    assert [(one.case.scale, one.reason) for one in found.refusals] == [("8x8", "too_few_for_far")]


def test_beyond_twice_the_largest_the_step_between_nodes_must_have_been_measured():
    inside = [((1, n), 100.0 * n) for n in (1, 2, 4, 8)]

    (found,) = extrapolation.outlooks(ladder(inside), planned((2, 8), (4, 8)))

    assert [forecast.case.scale for forecast in found.forecasts] == ["2x8"]
    assert [(one.case.scale, one.reason) for one in found.refusals] == [("4x8", "no_crossing")]


def stating(summaries, batch_of):
    """The same summaries, of runs that state their global batch."""
    return [
        replace(
            one,
            measurements=tuple(
                replace(
                    run,
                    facts=(
                        *facts.of_case(one.case),
                        Fact(key="global_batch", value=batch_of(one.case), source="log"),
                    ),
                )
                for run in one.measurements
            ),
        )
        for one in summaries
    ]


def test_strong_scaling_is_refused_with_the_batches_that_say_so():
    summaries = stating(ladder(LONGER), lambda case: "256")

    (found,) = extrapolation.outlooks(summaries, planned((8, 8)))

    (refusal,) = found.refusals
    assert (found.forecasts, refusal.reason) == ((), "strong")
    assert dict(refusal.values) == {"batch": "256", "devices": "1", "larger": "256", "more": "32"}


def test_a_global_batch_that_grows_with_the_devices_is_continued():
    summaries = stating(ladder(LONGER), lambda case: str(case.global_batch))

    (found,) = extrapolation.outlooks(summaries, planned((8, 8)))

    assert len(found.forecasts) == 1


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


def test_nine_tenths_of_the_votes_lie_in_an_interval_that_was_made_without_them():
    assert all(one.covered >= extrapolation.COVERAGE for one in extrapolation.validations().values())


def test_a_source_has_one_vote_however_many_series_it_prints():
    few = {name: [1.0, 1.1] for name in "abcde"}
    many = {**few, "a": [1.0, 1.1] * 500}

    assert extrapolation.validation(1, few).median_error == extrapolation.validation(1, many).median_error
    assert extrapolation.validation(1, few).high == extrapolation.validation(1, many).high


def test_the_interval_is_widened_until_sources_that_it_was_not_made_from_lie_inside():
    alike = {name: [0.9, 1 / 0.9] for name in "abcdef"}
    one_apart = {**alike, "f": [0.8, 0.8]}

    assert extrapolation.validation(1, alike).low == pytest.approx(0.9)
    assert extrapolation.validation(1, one_apart).low < 0.8


def test_an_interval_that_would_have_to_be_five_times_as_wide_is_not_offered():
    ratios = {**{name: [0.99, 1.01] for name in "abcd"}, "e": [0.5, 0.5]}

    assert extrapolation.validation(1, ratios) is None


def test_few_series_or_few_sources_validate_nothing():
    assert extrapolation.validation(1, {"a": [1.0] * 40, "b": [1.0], "c": [1.0]}) is None
    assert extrapolation.validation(1, {name: [1.0] for name in "abcde"}) is None


def test_the_file_is_what_the_tool_writes_from_the_published_series(monkeypatch):
    monkeypatch.syspath_prepend(str(TOOLS))
    sys.modules.pop("validate_extrapolation", None)
    import validate_extrapolation

    found = validate_extrapolation.text(validate_extrapolation.SERIES)

    assert found == extrapolation.VALIDATION.read_text(encoding="utf-8")


def test_the_method_prints_the_errors_and_intervals_that_the_file_gives():
    said = (Path(__file__).parents[2] / "docs" / "method.md").read_text(encoding="utf-8")

    for one in extrapolation.validations().values():
        interval = f"{one.low:.3f}–{one.high:.3f}"
        row = f"| {2**one.doublings}× | {one.series} | {one.sources} | {one.median_error * 100:.1f} % | {interval} |"
        assert f"up to {row[2:]}" in said


def published(points, batches=("64",)):
    points = tuple(points)
    return extrapolation.PublishedSeries(
        name="a",
        source="b",
        batches=frozenset(batches),
        points=points,
        nodes={devices: max(1, devices // 8) for devices, _ in points},
    )


def test_the_largest_scale_is_predicted_from_those_up_to_a_half_and_a_quarter_of_it():
    series = published((2**k, 2.0**k) for k in range(7))

    found = list(extrapolation.trials(series))

    assert [(one.doublings, one.scales, one.measured_to, one.target) for one in found] == [
        (1, 6, 32, 64),
        (2, 5, 16, 64),
    ]


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

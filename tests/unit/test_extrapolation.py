"""The model for scales that were not measured, what it is refused for, and that it decides nothing."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
import synthetic
from hypothesis import given
from hypothesis import strategies as st

from evalsuite.core.model import Fact
from evalsuite.results.compare.scaling import with_scaling
from evalsuite.results.judge import extrapolation
from evalsuite.results.measure import facts
from tests import sources
from tools import validate_extrapolation

GPU = {"protocol": synthetic.FULL, "options": (), "device": "gpu", "batch_per_device": 128}


def ladder(speeds, **changes):
    """One PyTorch series: (scale, items/s) of each case, five equal runs."""
    cases = [(synthetic.case("pytorch", scale, **GPU), speed) for scale, speed in speeds]
    runs = [[synthetic.measured(case, k, speed) for k in range(5)] for case, speed in cases]
    return with_scaling([synthetic.summary(run, **changes) for run in runs])


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


def test_a_planned_scale_at_a_validated_distance_gets_a_forecast_with_the_interval_of_its_own_series():
    jumping = [*LONGER[:-1], ((4, 8), 2700.0)]
    (smooth,), (rough,) = (extrapolation.outlooks(ladder(each), planned((4, 8), (8, 8))) for each in (LONGER, jumping))

    (near,), (wide,) = smooth.forecasts, rough.forecasts
    assert (near.case.scale, near.distance, near.validation.doublings) == ("8x8", 2.0, 1)
    assert near.efficiency.value == pytest.approx(1.0)
    assert near.efficiency.high == pytest.approx(1 / near.efficiency.low)
    assert near.efficiency.high == pytest.approx(math.exp(near.validation.width * extrapolation.LEAST_DOUBT))
    assert wide.items_per_s.high / wide.items_per_s.value > 1.2 > near.items_per_s.high / near.items_per_s.value


@pytest.mark.parametrize(
    ("speeds", "scales", "forecast", "refused"), sources.cases("extrapolation.toml")["not_validated"]
)
def test_what_was_not_validated_is_refused_with_its_reason(speeds, scales, forecast, refused):
    (outlook,) = extrapolation.outlooks(ladder(speeds), planned(*scales))

    assert [forecast.case.scale for forecast in outlook.forecasts] == list(forecast)
    assert [(refusal.case.scale, refusal.reason) for refusal in outlook.refusals] == list(refused)
    assert refused[0][1] != "too_far" or dict(outlook.refusals[0].values)["distance"] == "31.2"


def stating(one, batch):
    """The same summary, of runs that state their global batch."""
    stated = (*facts.of_case(one.case), Fact(key="global_batch", value=batch, source="log"))
    return replace(one, measurements=tuple(replace(run, facts=stated) for run in one.measurements))


def test_strong_scaling_is_refused_with_the_batches_that_say_so_and_a_batch_that_grows_is_continued():
    strong, weak = (
        extrapolation.outlooks([stating(rung, batch or str(rung.case.global_batch)) for rung in ladder(LONGER)], EIGHT)
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


def errors(own=0.0, **ratios):
    return {source: [(ratio, own) for ratio in found] for source, found in ratios.items()}


TEN = {name: [0.99, 1.01] for name in "abcdefghij"}


def test_ninety_per_cent_hold_out_of_sample_where_sources_are_left_out():
    (near,) = extrapolation.validations().values()

    assert near.sources >= extrapolation.FEWEST_SOURCES
    assert 0.85 <= near.inside <= 0.95
    assert 0.85 <= near.covered <= 0.95
    assert near.median_error < 0.05


def test_a_source_has_one_vote_and_the_interval_is_widened_until_other_sources_lie_inside():
    once, often = (extrapolation.validation(1, errors(**{**TEN, "a": [0.99, 1.01] * k})) for k in (1, 500))
    apart, two_apart = (
        extrapolation.validation(1, errors(**{**TEN, **dict.fromkeys(of, [0.8] * 2)})) for of in ["a", "ab"]
    )

    assert (once.median_error, once.high) == (often.median_error, often.high)
    assert once.high == pytest.approx(1 / 0.99)
    assert apart.high < 1.02 < 1.25 <= two_apart.high + 1e-9
    assert (once.covered, apart.covered, two_apart.covered) == pytest.approx((1.0, 0.9, 1.0))


def test_an_error_counts_in_the_doubts_of_its_series_and_a_further_distance_is_no_narrower():
    calm, rough = (extrapolation.validation(1, errors(own, **TEN)) for own in (0.0, 0.07))

    assert calm.width == pytest.approx(rough.width * 0.1 / 0.03)
    assert calm.high == pytest.approx(rough.high)
    assert extrapolation.validation(2, errors(0.07, **TEN), calm).width == calm.width


@pytest.mark.parametrize(
    "found",
    [
        {name: [0.4, 0.4] for name in "abcdefghij"},  # more than twice as much
        {name: TEN[name] * 40 for name in "abcdefghi"},  # nine sources
    ],
)
def test_nine_sources_or_an_interval_of_twice_as_much_validate_nothing(found):
    assert extrapolation.validation(1, errors(**found)) is None


def test_file_and_method_have_the_errors_that_the_published_series_give():
    text = validate_extrapolation.text(validate_extrapolation.SERIES)

    assert text == extrapolation.VALIDATION.read_text(encoding="utf-8")

    said = (Path(__file__).parents[2] / "docs" / "method.md").read_text(encoding="utf-8")

    for one in extrapolation.validations().values():
        shares = f"{one.inside * 100:.1f} % | {one.covered * 100:.1f} %"
        interval = f"{one.low:.3f}–{one.high:.3f} | {shares}"
        row = f"| {2**one.doublings}× | {one.series} | {one.sources} | {one.median_error * 100:.1f} % | {interval} |"
        assert f"up to {row[2:]}" in said


def published(points, batches=("64",)):
    points = tuple(points)
    nodes = {devices: max(1, devices // 8) for devices, _ in points}
    return validate_extrapolation.PublishedSeries(
        name="a", source="b", batches=frozenset(batches), points=points, nodes=nodes
    )


def test_the_largest_scale_is_predicted_from_those_up_to_a_half_and_a_quarter_of_it():
    found = validate_extrapolation.trials(published((2**k, 2.0**k) for k in range(7)))

    trials = [(each.doublings, each.scales, each.measured_to, each.target) for each in found]
    assert trials == [(1, 6, 32, 64), (2, 5, 16, 64)]


@pytest.mark.parametrize("batches", [("64", "32"), (None,)])
def test_a_series_of_several_batches_or_of_an_unknown_one_validates_nothing(batches):
    assert list(validate_extrapolation.trials(published(((2**k, 2.0**k) for k in range(6)), batches))) == []


# that it decides nothing (docs/report.md#checks)


def test_without_its_measured_large_scales_c1_is_undetermined_however_good_the_forecast():
    speeds = [((n, 8), 100.0 * n * 8 * 0.99) for n in (1, 2, 4, 8, 16, 25)]
    summaries = ladder([((1, 1), 100.0), *speeds])
    small = [summary for summary in summaries if summary.case.nodes < 20]

    complete, *_ = synthetic.verdicts(tuple(summaries))
    without, *_ = synthetic.verdicts(tuple(small))
    (outlook,) = extrapolation.outlooks(small, [summary.case for summary in summaries])

    assert (complete.criterion, complete.outcome) == ("C1", "pass")
    assert outlook.forecasts[-1].case.nodes == 25
    assert outlook.forecasts[-1].efficiency.value > 0.8
    assert (without.criterion, without.outcome, without.measured) == ("C1", "undetermined", None)

"""The model for scales that were not measured, what it is refused for, and that it decides nothing."""

import math
from pathlib import Path

import pytest
import synthetic

from evalsuite.results.compare.scaling import with_scaling
from evalsuite.results.judge import extrapolation
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


@pytest.mark.parametrize(
    ("points", "devices", "rate"),
    [
        ([(1, 100.0), (8, 800.0), (16, 1600.0)], 128, 12_800),  # perfect scaling
        ([(1, 1 / 1.0), (2, 2 / 1.1), (4, 4 / 1.2)], 16, 16 / 1.4),
        ([(1, 1.0), (2, 2.2), (4, 4.4)], 16, 17.6),  # nothing better than the largest
    ],
)
def test_the_time_of_an_item_grows_by_the_same_amount_with_every_doubling(points, devices, rate):
    assert extrapolation.predicted(points, devices) == pytest.approx(rate)


def test_a_planned_scale_at_a_validated_distance_gets_a_forecast_with_the_interval_of_its_own_series():
    jumping = [*LONGER[:-1], ((4, 8), 2700.0)]
    (smooth,), (rough,) = (extrapolation.outlooks(ladder(each), planned((4, 8), (8, 8))) for each in (LONGER, jumping))

    (near,), (wide,) = smooth.forecasts, rough.forecasts
    assert (near.case.scale, near.distance) == ("8x8", 2.0)
    assert near.efficiency.value == pytest.approx(1.0)
    assert near.efficiency.high == pytest.approx(1 / near.efficiency.low)
    assert near.efficiency.high == pytest.approx(math.exp(extrapolation.WIDTH * extrapolation.LEAST_DOUBT))
    assert wide.efficiency.high > extrapolation.HARDLY_REACHED > near.efficiency.high
    assert wide.items_per_s.high / wide.items_per_s.value > 1.2 > near.items_per_s.high / near.items_per_s.value


@pytest.mark.parametrize(
    ("speeds", "scales", "forecast", "refused"), sources.cases("extrapolation.toml")["not_validated"]
)
def test_what_was_not_validated_is_refused_with_its_reason(speeds, scales, forecast, refused):
    (outlook,) = extrapolation.outlooks(ladder(speeds), planned(*scales))

    assert [forecast.case.scale for forecast in outlook.forecasts] == list(forecast)
    assert [(refusal.case.scale, refusal.reason) for refusal in outlook.refusals] == list(refused)
    assert refused[0][1] != "too_far" or dict(outlook.refusals[0].values)["distance"] == "31.2"


@pytest.mark.parametrize(
    ("changes", "scales"),
    [({}, ((1, 1), (2, 8))), *(({"origin": origin}, ((4, 8),)) for origin in ("cited", "digitised", "simulated"))],
)
def test_only_what_was_measured_and_planned_further_is_continued(changes, scales):
    assert extrapolation.outlooks(ladder(LINEAR, **changes), planned(*scales)) == ()


# how far off it is


TEN = {name: [0.99, 1.01] for name in "abcdefghij"}


def test_a_source_has_one_vote_and_the_interval_is_widened_until_other_sources_lie_inside():
    def validation(**ratios):
        found = {source: [(ratio, 0.03) for ratio in each] for source, each in {**TEN, **ratios}.items()}
        return validate_extrapolation.validation(found)

    once, often = (validation(a=[0.99, 1.01] * k) for k in (1, 500))
    apart, two_apart = (validation(**dict.fromkeys(of, [0.8] * 2)) for of in ["a", "ab"])

    assert (once.median_error, once.high) == (often.median_error, often.high)
    assert once.high == pytest.approx(1 / 0.99)
    assert apart.high < 1.02 < 1.25 <= two_apart.high + 1e-9
    assert (once.covered, apart.covered, two_apart.covered) == pytest.approx((1.0, 0.9, 1.0))


def test_engine_and_method_have_the_width_and_errors_that_the_published_series_give():
    one = validate_extrapolation.validation(validate_extrapolation.errors())

    assert pytest.approx(one.width, abs=5e-4) == extrapolation.WIDTH
    said = (Path(__file__).parents[2] / "docs" / "numbers.md").read_text(encoding="utf-8")
    shares = f"{one.inside * 100:.1f} % | {one.covered * 100:.1f} %"
    interval = f"{1 / one.high:.3f}–{one.high:.3f} | {shares}"
    assert f"| up to 2× | {one.series} | {one.sources} | {one.median_error * 100:.1f} % | {interval} |" in said
    assert validate_extrapolation.validation({"nine sources": [(1.0, 0.03)]}) is None


@pytest.mark.parametrize(("to", "known"), [(64, True), (48, False)])  # without a scale of a half of it: nothing
def test_the_largest_scale_is_predicted_from_those_up_to_a_half_of_it(to, known):
    points = [(devices, float(devices)) for devices in (1, 8, 16, 32, to)]

    found = validate_extrapolation.error(points, {devices: -(-devices // 8) for devices, _ in points})

    assert found == (pytest.approx((1.0, 0.03)) if known else None)


# that it decides nothing (docs/architecture.md#checks)


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

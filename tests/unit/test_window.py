"""The window: which steps are measured and what they make as a number (docs/report.md#definitions)."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsuite.logs.steps.throughput import throughput
from evalsuite.logs.steps.window import span
from evalsuite.model import ARRIVALS, RATES, STAMPS, TIMES, Protocol, Step

PROTOCOL = Protocol(warmup_steps=20, measured_steps=100)
BATCH = 64.0


def steps(count, *, every=1, seconds=0.5, **fields):
    """*count* reports of *every* steps that take *seconds* each."""
    return [
        Step(
            index=every * (number + 1),
            steps=every,
            items=BATCH * every,
            seconds=seconds * every,
            line=number + 1,
            **fields,
        )
        for number in range(count)
    ]


def clocked(found, field, seconds, *, begin=1000.25):
    return [step._replace(**{field: begin + seconds * step.index}) for step in found]


def measured(found, **options):
    return throughput(found, unit="images/s", protocol=options.pop("protocol", PROTOCOL), **options)


def test_twenty_steps_are_thrown_away_and_the_next_hundred_are_measured():
    slow_start = [step._replace(seconds=9.0) if step.index <= 20 else step for step in steps(200)]

    result, complete = measured(slow_start)

    assert complete
    assert (result.window.first_step, result.window.last_step, result.window.steps) == (21, 120, 100)
    assert result.items_per_s == pytest.approx(BATCH / 0.5)
    assert (result.line_first, result.line_last) == (21, 120)


def test_a_log_that_prints_every_hundredth_step_loses_its_first_report():
    result, complete = measured(steps(6, every=100))

    assert complete
    assert (result.window.first_step, result.window.last_step) == (101, 600)


def test_reports_that_straddle_the_end_of_warm_up_are_thrown_away():
    result, _ = measured(steps(10, every=30))

    assert (result.window.first_step, result.window.last_step) == (31, 150)


def test_steps_thrown_away_by_the_script_itself_are_not_thrown_away_again():
    result, complete = measured(steps(10, every=10), warmed_up=True)

    assert complete
    assert (result.window.first_step, result.window.last_step) == (1, 100)


def test_a_short_log_gives_what_it_has_and_says_so():
    result, complete = measured(steps(39))

    assert not complete
    assert (result.window.first_step, result.window.last_step) == (20, 39)


def test_a_single_report_is_still_a_figure_but_no_complete_window():
    result, complete = measured(steps(1))

    assert not complete
    assert result.items_per_s == pytest.approx(BATCH / 0.5)


def test_no_steps_make_no_number():
    assert measured([]) == (None, False)


def test_stamps_with_fractions_of_a_second_come_before_arrival_and_step_times():
    found = clocked(clocked(steps(130), "stamp_s", 0.4), "arrival_s", 0.41)

    result, _ = measured(found)

    assert result.method == STAMPS
    assert result.items_per_s == pytest.approx(BATCH / 0.4)
    assert result.clock_items_per_s == pytest.approx(BATCH / 0.41)
    assert result.printed_items_per_s == pytest.approx(BATCH / 0.5)


def test_stamps_of_whole_seconds_are_too_coarse_to_be_the_clock():
    found = clocked(clocked(steps(130), "stamp_s", 1.0, begin=1000.0), "arrival_s", 0.5)

    result, _ = measured(found)

    assert result.method == ARRIVALS


def test_clocks_that_differ_by_more_than_two_percent_are_a_finding():
    agree, _ = measured(clocked(steps(130), "arrival_s", 0.509))
    differ, _ = measured(clocked(steps(130), "arrival_s", 0.515))

    assert [finding.code for finding in agree.findings] == []
    assert [finding.code for finding in differ.findings] == ["clock_disagrees"]


def test_lines_that_arrive_in_blocks_are_not_a_clock():
    blocks = [step._replace(arrival_s=10.0 * math.ceil(step.index / 20)) for step in steps(130)]

    result, _ = measured(blocks)

    assert result.method == TIMES
    assert result.clock_items_per_s is None
    assert [finding.code for finding in result.findings] == ["arrivals_bursty"]


def test_rates_alone_give_their_harmonic_mean_and_the_arithmetic_mean_stands_beside_it():
    found = [Step(index=i, items_per_s=100.0 if i % 2 else 300.0) for i in range(1, 131)]

    result, _ = measured(found)

    assert result.method == RATES
    assert result.items_per_s == pytest.approx(150.0)
    assert result.arithmetic_items_per_s == pytest.approx(200.0)


def test_evaluation_in_the_window_counts_neither_as_items_nor_as_time():
    found = clocked(steps(130), "stamp_s", 0.5)
    found = [s._replace(stamp_s=s.stamp_s + 60, after_pause=s.index == 50) if s.index >= 50 else s for s in found]

    result, _ = measured(found)

    assert result.items_per_s == pytest.approx(BATCH / 0.5)


def rated(seconds, items, *, pause=None):
    """Steps that take *seconds* for *items* each, by their stamps and by the rate that the script prints.

    *pause*: the number of a step behind an evaluation.
    """
    found, at = [], 1000.25
    for index, (took, held) in enumerate(zip(seconds, items, strict=True), 1):
        at += took
        found.append(Step(index=index, items=BATCH, items_per_s=held / took, stamp_s=at, after_pause=index == pause))
    return found


def test_a_batch_that_was_not_full_at_the_end_of_an_epoch_is_not_measured():
    # dllogger_pytorch/rn50_a100_8gpu_fp32_bs256: 63 steps, the last with 210 of 256 images and in 5.4 s
    result, _ = measured(rated([0.5] * 62 + [9.0], [BATCH] * 62 + [0.82 * BATCH]))

    assert result.items_per_s == pytest.approx(BATCH / 0.5)
    assert result.printed_items_per_s == pytest.approx(BATCH / 0.5)
    assert result.window.last_step == 62
    assert [finding.code for finding in result.findings] == ["partial_batch"]


def test_a_batch_that_was_not_full_far_behind_the_window_is_not_spoken_of():
    result, complete = measured(rated([0.5] * 150 + [9.0], [BATCH] * 150 + [0.82 * BATCH]))

    assert complete
    assert result.findings == ()


def test_a_step_that_is_only_slow_is_measured():
    result, _ = measured(rated([0.5] * 62 + [9.0], [BATCH] * 63))

    assert result.window.last_step == 63
    assert result.items_per_s == pytest.approx(43 * BATCH / (42 * 0.5 + 9.0))


def test_a_batch_that_was_not_full_before_an_evaluation_is_left_out_with_it():
    seconds = [0.5] * 62 + [9.0] + [60.0] + [0.5] * 66
    items = [BATCH] * 62 + [0.82 * BATCH] + [120 * BATCH] + [BATCH] * 66

    result, complete = measured(rated(seconds, items, pause=64))

    assert complete
    assert result.items_per_s == pytest.approx(BATCH / 0.5)
    assert result.window.last_step == 121


def test_a_report_thrown_away_with_the_warm_up_does_not_scatter_the_rates():
    slow_start = [Step(index=20 * i, steps=20, items_per_s=5.0 if i == 1 else 100.0) for i in range(1, 8)]

    result, _ = measured(slow_start)

    assert result.findings == ()


def test_an_epoch_that_took_no_time_is_not_averaged_with_the_others():
    # dllogger_pytorch/ncf_8xH100_fp16: 6.779e7 in the first epoch, 7.861e9 in the second
    found = [Step(index=1, items_per_s=6.779e7), Step(index=2, items_per_s=7.861e9)]

    result, _ = measured(found, epochs=True)

    assert result.items_per_s == pytest.approx(6.779e7)
    assert [finding.code for finding in result.findings] == ["rates_scatter"]


def test_times_without_a_batch_size_make_no_number():
    result, _ = measured([step._replace(items=None) for step in steps(130)])

    assert result is None


def test_a_throughput_that_falls_within_the_window_is_a_finding():
    found = [step._replace(seconds=0.5 + step.index / 400) for step in steps(130)]

    result, _ = measured(found)

    assert "D10" in [finding.code for finding in result.findings]


def test_the_window_knows_when_it_began_and_ended_on_the_clock_of_the_run():
    result, _ = measured(clocked(steps(130), "arrival_s", 0.5, begin=0.0))

    assert (result.window.begin_s, result.window.end_s) == (10.0, 60.0)


rates = st.lists(st.floats(min_value=1.0, max_value=1e6), min_size=1, max_size=200)


@given(rates, st.floats(min_value=0.001, max_value=1000.0))
def test_scaling_every_rate_scales_the_throughput(values, factor):
    def value(scale):
        found = [Step(index=i, items_per_s=scale * rate) for i, rate in enumerate(values, 1)]
        return measured(found)[0].items_per_s

    assert value(factor) == pytest.approx(factor * value(1.0))


@given(rates)
def test_the_value_lies_between_the_slowest_and_the_fastest_report(values):
    found = [Step(index=i, items_per_s=rate) for i, rate in enumerate(values, 1)]

    result = measured(found)[0]

    assert min(values) * (1 - 1e-9) <= result.items_per_s <= max(values) * (1 + 1e-9)
    assert result.items_per_s <= result.arithmetic_items_per_s * (1 + 1e-9)


@given(
    st.lists(st.integers(min_value=1, max_value=150), min_size=1, max_size=80),
    st.integers(min_value=0, max_value=50),
    st.integers(min_value=1, max_value=200),
)
def test_a_window_never_holds_steps_outside_the_log_and_a_complete_one_obeys_the_protocol(widths, warmup, wanted):
    index, found = 0, []
    for width in widths:
        index += width
        found.append(Step(index=index, steps=width, items_per_s=1.0))
    protocol = Protocol(warmup_steps=warmup, measured_steps=wanted)

    chosen = span(found, protocol)

    assert set(chosen.reports) <= set(found)
    if chosen.complete:
        assert sum(step.steps for step in chosen.reports) >= wanted
        assert chosen.reports[0].index - chosen.reports[0].steps >= warmup

from dataclasses import replace

import pytest

from evalsuite.findings import ShortWindow, TooShortWindow
from evalsuite.model import Machine, Unmeasured
from evalsuite.results.compare import fairness
from evalsuite.results.compare.scaling import with_scaling
from evalsuite.results.measure.summary import summaries, summary
from tests.toys import CASE, measured

FAST = replace(CASE, framework="fastnet")


def case_of(values, case=CASE, **changes):
    return summary(case, [measured(case, repeat, value, **changes) for repeat, value in enumerate(values)])


def codes(found):
    return [finding.code for finding in found.findings]


def test_the_value_of_a_case_is_the_median_of_its_valid_repeats():
    found = case_of([100.0, 104.0, 96.0, 101.0, 99.0])

    assert found.items_per_s.value == 100.0
    assert (found.items_per_s.low, found.items_per_s.high) == (96.0, 104.0)
    assert found.items_per_s.coverage == 0.9375
    assert not found.partial


def test_a_failed_repeat_is_kept_and_does_not_enter_the_median():
    found = case_of([100.0, None, 102.0])

    assert (found.n, len(found.measurements)) == (2, 3)
    assert found.items_per_s.value == 101.0


def test_a_case_with_only_failures_has_no_value():
    found = case_of([None, None])

    assert isinstance(found, Unmeasured)
    assert len(found.measurements) == 2


def test_fewer_than_five_repeats_are_partial():
    found = case_of([100.0, 101.0, 102.0])

    assert found.partial
    assert "D05" in codes(found)


def test_a_short_window_is_partial_even_with_five_repeats():
    short = ShortWindow(skipped_steps=20, measured_steps=30)

    found = case_of([100.0, 101.0, 102.0, 99.0, 98.0], findings=(short,))

    assert found.partial
    assert (found.items_per_s.value, found.n) == (100.0, 5)


def test_a_window_that_is_excluded_gives_no_value():
    short = TooShortWindow(skipped_steps=20, measured_steps=5)

    found = case_of([100.0], findings=(short,))

    assert isinstance(found, Unmeasured)
    assert [run.value for run in found.measurements] == [100.0]  # kept, and counted nowhere


@pytest.mark.parametrize(("spread", "code"), [(0.01, None), (0.08, "D08"), (0.3, "D08_unstable")])
def test_noisy_repeats_are_flagged(spread, code):
    found = case_of([100 * (1 - spread), 100.0, 100 * (1 + spread), 100.0, 100.0])

    assert (code in codes(found)) if code else not {"D08", "D08_unstable"} & set(codes(found))


@pytest.mark.parametrize(("values", "flagged"), [([100, 100.5, 101, 99.5, 80], True), ([100, 100.5, 80], False)])
def test_a_run_far_from_the_others_is_flagged_where_there_are_enough_of_them(values, flagged):
    assert ("D09" in codes(case_of(values))) is flagged


def test_speedup_is_taken_against_one_device_of_the_same_series():
    rows = with_scaling(summaries([measured(CASE, 0, 100.0), measured(CASE.at_scale(1, 8), 0, 640.0)]))

    assert rows[0].speedup.value == 1.0
    assert rows[1].speedup.value == pytest.approx(6.4)
    assert rows[1].efficiency.value == pytest.approx(0.8)
    assert rows[1].base == CASE


def test_without_a_run_on_one_device_the_smallest_scale_is_the_base_and_said_so():
    rows = with_scaling(summaries([measured(CASE.at_scale(1, 8), 0, 800.0), measured(CASE.at_scale(2, 8), 0, 1500.0)]))

    assert rows[1].base.total_devices == 8
    assert rows[1].speedup.value == pytest.approx(1.875)
    assert "D14" in codes(rows[0])


def test_efficiency_above_one_is_kept_and_flagged():
    rows = with_scaling(summaries([measured(CASE, 0, 100.0), measured(CASE.at_scale(1, 2), 0, 210.0)]))

    assert rows[1].efficiency.value == pytest.approx(1.05)
    assert "D11" in codes(rows[1])


def test_an_absurd_efficiency_asks_to_check_the_base():
    rows = with_scaling(summaries([measured(CASE, 0, 100.0), measured(CASE.at_scale(1, 2), 0, 300.0)]))

    assert "D12" in codes(rows[1])


def test_a_job_that_gets_slower_with_more_devices_is_flagged():
    rows = with_scaling(summaries([measured(CASE, 0, 100.0), measured(CASE.at_scale(1, 2), 0, 90.0)]))

    assert "D13" in codes(rows[1])


def test_another_version_is_another_series():
    rows = with_scaling(
        summaries([measured(CASE, 0, 100.0), measured(CASE.at_scale(1, 2), 0, 190.0, framework_version="2.0")])
    )

    assert rows[1].base.total_devices == 2


def test_two_frameworks_compare_when_nothing_else_differs():
    ratio = fairness.relative(
        case_of([200.0, 201.0, 199.0, 202.0, 198.0], FAST), case_of([100.0, 101.0, 99.0, 102.0, 98.0])
    )

    assert ratio.ratio.value == pytest.approx(2.0)
    assert ratio.significant is True


def test_three_repeats_each_cannot_tell():
    ratio = fairness.relative(case_of([200.0] * 3, FAST), case_of([100.0] * 3))

    assert ratio.significant is None


@pytest.mark.parametrize(
    ("change", "word"),
    [({"batch_per_device": 64}, "batch_per_device"), ({"precision": "amp"}, "precision"), ({"xla": True}, "xla")],
)
def test_unlike_cases_are_never_ranked(change, word):
    with pytest.raises(fairness.ComparisonError, match=word):
        fairness.relative(case_of([200.0], replace(FAST, **change)), case_of([100.0]))


def test_other_machines_are_never_ranked():
    with pytest.raises(fairness.ComparisonError, match="environment"):
        fairness.relative(case_of([200.0], FAST, environment=Machine(name="another machine")), case_of([100.0]))

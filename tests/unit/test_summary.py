from dataclasses import replace

import pytest

from evalsuite.core.findings import BusyMachine, ShortWindow, SteepDrift, TooShortWindow
from evalsuite.core.model import Unmeasured, Utilisation
from evalsuite.results.compare import decisions
from evalsuite.results.compare.scaling import with_scaling
from evalsuite.results.measure.summary import summaries, summary
from tests.toys import CASE, measured

FAST = replace(CASE, framework="fastnet")


def case_of(values, case=CASE, **changes):
    return summary(case, [measured(case, repeat, value, **changes) for repeat, value in enumerate(values)])


def codes(found):
    return [finding.code for finding in found.findings]


FIVE = [100.0, 104.0, 96.0, 101.0, 99.0]
SHORT, TOO_SHORT = (rule(skipped_steps=20, measured_steps=30) for rule in (ShortWindow, TooShortWindow))


@pytest.mark.parametrize(
    ("values", "findings", "value", "n", "partial"),
    [
        (FIVE, (), 100.0, 5, False),
        ([100.0, None, 102.0], (), 101.0, 2, True),  # a failed repeat is kept and does not enter the median
        (FIVE, (SHORT,), 100.0, 5, True),
    ],
)
def test_the_value_of_a_case_is_the_median_of_its_valid_repeats_of_which_few_or_short_ones_are_partial(
    values, findings, value, n, partial
):
    case = case_of(values, findings=findings)

    assert (case.items_per_s.value, case.n, len(case.measurements)) == (value, n, len(values))
    assert case.partial is partial
    assert ("D05" in codes(case)) is (n < 5)
    if n == 5:
        assert (case.items_per_s.low, case.items_per_s.high, case.items_per_s.coverage) == (96.0, 104.0, 0.9375)


@pytest.mark.parametrize(("values", "findings"), [([None, None], ()), ([100.0], (TOO_SHORT,))])
def test_failures_and_windows_that_are_excluded_give_no_value_and_are_kept(values, findings):
    case = case_of(values, findings=findings)

    assert isinstance(case, Unmeasured)
    assert [run.value for run in case.measurements] == values


BUSY = BusyMachine(others=0.4)


def beside(values, busy, case=CASE, found=(BUSY,)):
    """A case of which others disturbed the runs *busy*."""
    runs = (measured(case, k, value, round=k, findings=found * (k in busy)) for k, value in enumerate(values))
    return summary(case, list(runs))


@pytest.mark.parametrize(
    ("busy", "value", "n", "disturbed"),
    [((), 99.0, 5, False), ((4,), 99.5, 4, False), ((0, 1, 4), 98.5, 2, False), ((0, 1, 2, 4), 99.0, 5, True)],
)
def test_the_value_comes_from_the_runs_that_had_the_machine_for_themselves(busy, value, n, disturbed):
    found = beside([101.0, 99.0, 100.0, 97.0, 60.0], busy)

    assert (found.items_per_s.value, found.n, found.disturbed) == (value, n, disturbed)
    assert sum(run.counts or run.set_aside for run in found.measurements) == 5
    assert beside([45.0, 101.0], (0,)).items_per_s.value == 101.0  # one run was planned, and made again
    cpu = Utilisation(resource="cpu", unit="%", mean=90.0, p5=80.0, p95=100.0, samples=9, coverage=1.0)
    unseen = beside([101.0, 99.0, 60.0], ()).measurements  # too few readings: nobody knows who was quiet
    made = [replace(run, utilisation=(cpu,) * (k == 2), findings=(BUSY,) * (k == 2)) for k, run in enumerate(unseen)]
    assert summary(CASE, made).n == 3


@pytest.mark.parametrize("busy", [(), (1,), (0, 1, 2, 3, 4)])
def test_the_rounds_say_who_is_ahead_also_where_others_disturbed_them(busy):
    """What others take they take of both; a value of such runs is marked, and no lead is quoted."""
    taken = [1.0, 0.6, 0.9, 0.7, 0.8]
    first, second = ([speed * share for share in taken] for speed in (100.0, 90.0))
    second[2] *= 1.01

    ranking = decisions.rank([beside(first, busy), beside(second, busy, FAST)])

    assert ranking.known == "ahead"
    assert [entry.summary.disturbed for entry in ranking.ranked] == [len(busy) == 5] * 2


def test_a_base_exists_if_it_was_run_and_nothing_is_put_in_its_place():
    two, four = CASE.at_scale(1, 2), CASE.at_scale(1, 4)
    larger = [case_of([speed] * 5, each) for speed, each in ((150.0, two), (280.0, four))]

    disturbed = with_scaling([beside([100.0] * 5, range(5)), *larger])
    disputed = with_scaling([beside([100.0] * 5, range(5), found=(BUSY, SteepDrift(change=0.5))), *larger])

    assert [row.speedup.value for row in disturbed] == [1.0, 1.5, 2.8]
    assert [row.speedup for row in disputed] == [None] * 3
    assert "D11" not in {code for row in (*disturbed, *disputed) for code in codes(row)}


@pytest.mark.parametrize(("spread", "code"), [(0.01, None), (0.08, "D08"), (0.3, "D08")])
def test_noisy_repeats_are_flagged(spread, code):
    case = case_of([100 * (1 - spread), 100.0, 100 * (1 + spread), 100.0, 100.0])

    assert (code in codes(case)) if code else not {"D08"} & set(codes(case))


def test_speedup_is_taken_against_one_device_of_the_same_series_or_the_smallest_scale():
    rows = with_scaling(summaries([measured(CASE, 0, 100.0), measured(CASE.at_scale(1, 8), 0, 640.0)]))

    assert rows[0].speedup.value == 1.0
    assert rows[1].speedup.value == pytest.approx(6.4)
    assert rows[1].efficiency.value == pytest.approx(0.8)
    assert rows[1].base == CASE

    rows = with_scaling(summaries([measured(CASE.at_scale(1, 8), 0, 800.0), measured(CASE.at_scale(2, 8), 0, 1500.0)]))
    assert rows[1].base.total_devices == 8
    assert rows[1].speedup.value == pytest.approx(1.875)


@pytest.mark.parametrize(
    ("rate", "efficiency", "code"), [(190.0, 0.95, None), (210.0, 1.05, "D11"), (300.0, 1.5, "D11"), (4.0, 0.02, "D11")]
)
def test_efficiency_above_one_and_an_absurd_one_are_kept_and_flagged(rate, efficiency, code):
    runs = [measured(CASE, 0, 100.0), measured(CASE.at_scale(1, 2), 0, rate)]
    rows = with_scaling(summaries(runs))
    other = with_scaling(summaries([runs[0], replace(runs[1], framework_version="2.0")]))

    assert rows[1].efficiency.value == pytest.approx(efficiency)
    assert {"D11"} & set(codes(rows[1])) >= ({code} if code else set())
    assert code or not {"D11"} & set(codes(rows[1]))
    assert other[1].base.total_devices == 2  # another version is another series

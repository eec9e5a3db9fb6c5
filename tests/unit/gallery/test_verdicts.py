"""Ways to pass a criterion by luck, each made happen, and what is said of it now."""

from dataclasses import replace

import pytest

from evalsuite.findings import ClocksFarApart, RunTakenAway, ShortWindow
from evalsuite.model import Machine, Utilisation
from evalsuite.report.sections.verdict import cards
from evalsuite.report.text import words
from evalsuite.results.compare.scaling import with_scaling
from evalsuite.results.judge import criteria
from evalsuite.results.judge.verdicts import verdicts
from evalsuite.results.measure.summary import summaries
from tests.toys import CASE, measured

SPOKEN = words.read()
BASE, SCALE = CASE, CASE.at_scale(20, 8)
SLOWER = Machine(name="slower")
CLOCKS = ClocksFarApart(difference=0.3)
WINDOW = ShortWindow(skipped_steps=20, measured_steps=50)


def runs(case, value, repeats=5, spread=0.001, **changes):
    return [measured(case, r, value * (1 + spread * (r - repeats // 2)), **changes) for r in range(repeats)]


def failed(case, exit_code):
    return [measured(case, r, None, throughput=None, exit_code=exit_code) for r in range(5)]


def c1(*of, planned=()):
    rows = with_scaling(summaries([run for each in of for run in each]))
    return next(one for one in verdicts(rows, criteria.read(), planned) if one.criterion == "C1")


def said(verdict):
    return cards._card(verdict, SPOKEN).reason.plain("en")


def test_sound_evidence_passes_and_fails():
    assert c1(runs(BASE, 100.0), runs(SCALE, 14_000.0)).outcome == "pass"
    assert c1(runs(BASE, 100.0), runs(SCALE, 12_000.0)).outcome == "fail"


@pytest.mark.parametrize(
    ("base", "scale", "reason", "told"),
    [
        (runs(BASE, 100.0, repeats=1), runs(SCALE, 14_000.0), "partial", "base or a case in scope has fewer than 5"),
        (runs(BASE, 100.0, findings=(WINDOW,)), runs(SCALE, 14_000.0), "partial", "window shorter"),
        (runs(BASE, 85.0), runs(SCALE, 14_200.0), "suspicious", "D11 at 20×8"),
        (runs(BASE, 62.0), runs(SCALE, 14_000.0), "suspicious", "D12 at 20×8"),
        (runs(BASE, 100.0, spread=0.12), runs(SCALE, 15_900.0), "suspicious", "D08_unstable at 1×1"),
        (runs(BASE, 100.0, origin="cited"), runs(SCALE, 14_000.0, origin="imported"), "not_measured", "cited"),
        (runs(BASE, 100.0, environment=None), runs(SCALE, 14_000.0, environment=None), "machine_unknown", "record"),
        (runs(BASE, 100.0, environment=None), runs(SCALE, 14_000.0), "machine_unknown", "record"),
        (
            runs(BASE, 100.0, environment=SLOWER),
            runs(SCALE, 14_000.0),
            "several_machines",
            "2 different machines",
        ),
        (
            [*runs(BASE, 100.0, repeats=1), *runs(BASE, 100.0, environment=SLOWER)[1:]],
            runs(SCALE, 14_000.0),
            "several_machines",
            "2 different machines",
        ),
        (runs(BASE, 100.0, framework_version="0.9"), runs(SCALE, 14_000.0), "unlike", "framework_version"),
        (runs(BASE, 100.0, findings=(CLOCKS,)), runs(SCALE, 14_000.0), "doubtful", "At 1×1 the script's own rate"),
        (runs(BASE, 100.0, spread=0.03), runs(SCALE, 12_832.0), "spans", "More repeats would decide"),
    ],
)
def test_a_verdict_rests_on_its_base_as_much_as_on_its_scale(base, scale, reason, told):
    found = c1(base, scale)

    assert (found.outcome, found.reason) == ("undetermined", reason)
    assert told in said(found)


def test_base_and_scale_timed_by_two_methods_decide_nothing():
    other = [replace(r, throughput=replace(r.throughput, method="step times")) for r in runs(BASE, 100.0)]

    found = c1(other, runs(SCALE, 14_000.0))

    assert (found.outcome, found.reason) == ("undetermined", "several_methods")


@pytest.mark.parametrize(
    "larger", [[], runs(CASE.at_scale(40, 8), 28_000.0, repeats=2), failed(SCALE.at_scale(40, 8), 137)]
)
def test_a_larger_planned_scale_is_not_left_out_because_it_went_badly(larger):
    planned = (BASE, SCALE, CASE.at_scale(40, 8))

    found = c1(runs(BASE, 100.0), runs(SCALE, 14_000.0), larger, planned=planned)

    assert found.outcome == "undetermined"
    assert found.reason == ("partial" if larger and larger[0].value else "missing")


def test_a_planned_scale_that_the_framework_failed_by_itself_fails_the_criterion():
    found = c1(runs(BASE, 100.0), runs(SCALE, 14_000.0), failed(CASE.at_scale(40, 8), 1))

    assert (found.outcome, found.reason) == ("fail", "framework_failed")
    assert "At 40×8" in said(found)


def test_a_scale_below_the_threshold_fails_even_where_another_is_missing():
    found = c1(runs(BASE, 100.0), runs(SCALE, 9_000.0), planned=(BASE, SCALE, CASE.at_scale(40, 8)))

    assert (found.outcome, found.reason, found.case.nodes) == ("fail", "not_met", 20)


def test_the_large_scale_of_one_framework_does_not_decide_for_all():
    other = replace(CASE, framework="othernet")

    found = c1(runs(BASE, 100.0), runs(SCALE, 14_000.0), runs(other, 90.0), runs(other.at_scale(2, 8), 1_300.0))

    assert (found.outcome, found.reason) == ("undetermined", "no_large_scale")
    assert [(cell.framework, cell.outcome) for cell in found.cells] == [
        ("toynet", "pass"),
        ("othernet", "undetermined"),
    ]


def test_each_framework_model_and_precision_is_a_cell_of_its_own():
    amp = replace(CASE, precision="amp")

    found = c1(runs(BASE, 100.0), runs(SCALE, 14_000.0), runs(amp, 200.0), runs(amp.at_scale(20, 8), 16_000.0))

    assert [(cell.precision, cell.outcome) for cell in found.cells] == [("fp32", "pass"), ("amp", "fail")]
    assert (found.outcome, found.case.precision) == ("fail", "amp")


def test_of_many_scales_at_the_threshold_none_fails_by_chance_alone():
    """With eight scales one is 2.5 % likely to lie below by chance each: Holm asks more of the worst."""
    scales = [runs(CASE.at_scale(20 + k, 8), 0.80 * 100.0 * (20 + k) * 8, spread=0.01) for k in range(8)]
    low = runs(CASE.at_scale(40, 8), 0.79 * 100.0 * 320, spread=0.01)

    found = c1(runs(BASE, 100.0, spread=0.01), *scales, low)

    assert (found.outcome, found.reason) == ("undetermined", "spans")


def test_the_card_lists_the_cells_where_there_are_several():
    amp = replace(CASE, precision="amp")
    found = c1(runs(BASE, 100.0), runs(SCALE, 14_000.0), runs(amp, 200.0), runs(amp.at_scale(20, 8), 16_000.0))

    card = cards._card(found, SPOKEN)

    assert [(row.cell.outcome, row.value.text) for row in card.cells] == [("pass", "87.5%"), ("fail", "50.0%")]


# who is ahead

OTHER, THIRD = replace(CASE, framework="othernet"), replace(CASE, framework="thirdnet")


def c3(*of):
    rows = with_scaling(summaries([run for each in of for run in each]))
    return next(one for one in verdicts(rows, criteria.read()) if one.criterion == "C3")


def test_the_fastest_is_ahead_of_every_framework_and_not_of_the_second_alone():
    found = c3(runs(CASE, 103.0), runs(OTHER, 100.0), runs(THIRD, 102.9, repeats=5, spread=0.02))

    assert found.reason == "no_difference"
    assert "toynet, thirdnet" in said(found).lower()


def test_a_framework_is_ahead_of_frameworks_and_not_of_its_own_other_recipe():
    own = replace(CASE, recipe="official")

    assert c3(runs(CASE, 110.0), runs(own, 100.0)).reason == "nothing_to_compare"
    assert c3(runs(CASE, 110.0), runs(own, 109.9), runs(OTHER, 90.0)).reason == "faster"


def test_less_than_one_per_cent_is_no_lead_however_little_the_runs_scatter():
    assert c3(runs(CASE, 100.9, spread=1e-5), runs(OTHER, 100.0, spread=1e-5)).reason == "no_difference"
    assert c3(runs(CASE, 101.1, spread=1e-5), runs(OTHER, 100.0, spread=1e-5)).reason == "faster"


def test_one_overlapping_run_keeps_a_framework_in_the_winners_group():
    lucky = [*runs(OTHER, 90.0, repeats=4), measured(OTHER, 4, 99.95)]

    assert c3(runs(CASE, 100.0), lucky).reason == "no_difference"


@pytest.mark.parametrize(("repeats", "chance"), [(3, "10.0%"), (4, "2.9%")])
def test_with_three_or_four_runs_an_order_is_consistent_and_says_how_likely_chance_makes_it(repeats, chance):
    found = c3(runs(CASE, 120.0, repeats=repeats), runs(OTHER, 100.0, repeats=repeats))

    assert found.reason == "consistent"
    assert chance in said(found)


def test_how_often_equals_would_be_left_out_is_said_with_whoever_is_ahead_and_with_a_group():
    assert "one of them would wrongly be called slower in 0.6% of cases" in said(
        c3(runs(CASE, 120.0), runs(OTHER, 100.0))
    )
    assert "would wrongly be left out of the group in at most 0.6% of cases" in said(
        c3(runs(CASE, 100.0), runs(OTHER, 100.0))
    )


def test_two_runs_put_nothing_in_order():
    assert c3(runs(CASE, 120.0, repeats=2), runs(OTHER, 100.0, repeats=2)).reason == "cannot_tell"


@pytest.mark.parametrize("repeats", [3, 5])
def test_a_short_window_puts_nothing_in_order(repeats):
    short = {"repeats": repeats, "findings": (WINDOW,)}

    assert c3(runs(CASE, 120.0, **short), runs(OTHER, 100.0, **short)).reason in ("cannot_tell", "short_window")


def test_every_block_has_its_standing():
    amp = [replace(one, precision="amp") for one in (CASE, OTHER)]

    found = c3(runs(CASE, 110.0), runs(OTHER, 100.0), runs(amp[0], 200.0), runs(amp[1], 220.0))

    assert [(cell.precision, cell.framework, cell.reason) for cell in found.cells] == [
        ("fp32", "toynet", "faster"),
        ("amp", "othernet", "faster"),
    ]


# intervals that promise what they hold


@pytest.mark.parametrize(("repeats", "coverage"), [(3, None), (4, None), (5, 0.964), (7, 0.955), (9, 0.955)])
def test_a_ratio_of_few_runs_has_a_range_and_no_interval(repeats, coverage):
    *_, scale = with_scaling(summaries([*runs(BASE, 100.0, repeats), *runs(SCALE, 14_000.0, repeats)]))

    assert scale.efficiency.low < 0.875 < scale.efficiency.high
    assert scale.efficiency.coverage == coverage
    assert scale.efficiency.is_range == (coverage is None)


# what is called an outlier


def flagged(values, others=()):
    of = [measured(CASE, r, value) for r, value in enumerate(values)]
    for k, runs_of in enumerate(others, 1):
        of += [measured(CASE.at_scale(1, 2 * k), r, value) for r, value in enumerate(runs_of)]
    return [finding.items_per_s for finding in summaries(of)[0].findings if finding.code == "D09"]


@pytest.mark.parametrize(
    ("values", "others", "called"),
    [
        ((100.0, 100.1, 99.9, 100.0, 101.5), (), []),  # 15 scaled MADs, and less than 2 % of the median
        ((100.0, 100.1, 99.9, 100.05, 97.0), ((200.0, 190.0, 210.0, 195.0, 204.0),), []),  # its block scatters by 4 %
        ((100.0, 101.0, 99.0, 100.5, 94.0), (), []),  # four other runs say too little of their scatter
        ((100.0, 101.0, 99.0, 100.5, 60.0), (), [60.0]),
        ((100.0, 101.0, 99.0, 100.5, 94.0), ((200.0, 201.0, 199.0, 200.5, 200.2),) * 3, [94.0]),
    ],
)
def test_an_outlier_is_far_off_by_three_measures(values, others, called):
    assert flagged(values, others) == called


# mean utilisation


def gpu(mean, samples=200, coverage=1.0, resource="gpu", unit="%", capacity=None):
    return Utilisation(
        resource=resource,
        unit=unit,
        mean=mean,
        p5=mean,
        p95=mean,
        samples=samples,
        coverage=coverage,
        capacity=capacity,
    )


def c2(*of, planned=()):
    rows = with_scaling(summaries([run for each in of for run in each]))
    return {one.criterion: one for one in verdicts(rows, criteria.read(), planned) if one.criterion.startswith("C2")}


def test_mean_utilisation_of_sound_samples_passes_and_fails():
    assert c2(runs(SCALE, 14_000.0, utilisation=(gpu(90.0),)))["C2a"].outcome == "pass"
    assert c2(runs(SCALE, 14_000.0, utilisation=(gpu(70.0),)))["C2a"].outcome == "fail"


@pytest.mark.parametrize(
    ("used", "reason"),
    [
        ((gpu(100.0, samples=3),), "thin"),
        ((gpu(100.0, coverage=0.05),), "thin"),  # also where most of the planned devices were never read
        ((gpu(90.0, resource="cpu"),), "gpu_unread"),
    ],
)
def test_mean_utilisation_of_few_samples_or_devices_passes_nothing(used, reason):
    small = runs(BASE, 100.0, utilisation=(gpu(95.0),))

    found = c2(small, runs(SCALE, 14_000.0, utilisation=used))["C2a"]

    assert (found.outcome, found.reason) == ("undetermined", reason)


def test_mean_utilisation_of_small_scales_says_nothing_of_large_ones():
    found = c2(runs(BASE, 100.0, utilisation=(gpu(95.0),)))["C2a"]

    assert (found.outcome, found.reason) == ("undetermined", "no_large_scale")


def test_mean_utilisation_of_runs_that_were_chosen_passes_nothing():
    (found,) = summaries(runs(SCALE, 14_000.0, utilisation=(gpu(90.0),)))
    taken = replace(found, findings=(RunTakenAway(attempts=2, where=SCALE.id),))

    verdict = next(one for one in verdicts([taken], criteria.read()) if one.criterion == "C2a")

    assert (verdict.outcome, verdict.reason) == ("undetermined", "taken_away")


def test_mean_utilisation_is_judged_for_each_framework_model_and_precision():
    other = replace(SCALE, framework="othernet")
    low, high = runs(SCALE, 14_000.0, utilisation=(gpu(70.0),)), runs(other, 14_000.0, utilisation=(gpu(90.0),))

    found = c2(low, high, planned=(SCALE, other, replace(other, precision="amp")))["C2a"]

    assert found.outcome == "fail"
    assert [(cell.framework, cell.precision, cell.outcome) for cell in found.cells] == [
        (SCALE.framework, SCALE.precision, "fail"),
        ("othernet", SCALE.precision, "pass"),
        ("othernet", "amp", "undetermined"),
    ]


def test_mean_utilisation_forgets_no_planned_scale():
    planned = (SCALE, CASE.at_scale(40, 8))

    found = c2(runs(SCALE, 14_000.0, utilisation=(gpu(90.0),)), planned=planned)["C2a"]

    assert (found.outcome, found.reason) == ("undetermined", "missing")


def test_the_mean_of_all_resources_names_those_that_have_a_capacity():
    disk = gpu(1e8, resource="disk_read", unit="bytes/s")

    found = c2(runs(SCALE, 14_000.0, utilisation=(gpu(90.0), gpu(80.0, resource="cpu"), disk)))["C2b"]

    assert (found.outcome, found.measured.value) == ("pass", pytest.approx(0.85))
    assert "as the mean of GPU, CPU." in said(found)


def test_the_mean_of_all_resources_is_dropped_where_the_gpus_alone_have_a_capacity():
    assert list(c2(runs(SCALE, 14_000.0, utilisation=(gpu(90.0),)))) == ["C2a"]

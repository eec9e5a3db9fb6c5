"""Ways to pass a criterion by luck, each made happen, and what is said of it now."""

from dataclasses import replace

import pytest

from evalsuite.findings import ClocksFarApart, RunTakenAway, ShortWindow
from evalsuite.model import Machine, Utilisation
from evalsuite.report.sections.verdict import cards
from evalsuite.report.text import words
from evalsuite.results.compare import winners
from evalsuite.results.compare.scaling import with_scaling
from evalsuite.results.judge import criteria
from evalsuite.results.judge.verdicts import verdicts
from evalsuite.results.measure.summary import summaries
from tests import sources
from tests.toys import CASE, measured

SPOKEN = words.read()
BASE, SCALE, LARGER = CASE, CASE.at_scale(20, 8), CASE.at_scale(40, 8)
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


OTHER_METHOD = [replace(r, throughput=replace(r.throughput, method="step times")) for r in runs(BASE, 100.0)]


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
        (runs(BASE, 100.0, environment=SLOWER), runs(SCALE, 14_000.0), "several_machines", "2 different machines"),
        (
            [*runs(BASE, 100.0, repeats=1), *runs(BASE, 100.0, environment=SLOWER)[1:]],
            *(runs(SCALE, 14_000.0), "several_machines", "2 different machines"),
        ),
        (OTHER_METHOD, runs(SCALE, 14_000.0), "several_methods", "method"),
        (runs(CASE.at_scale(2, 8), 1500.0), runs(SCALE, 14_000.0), "no_base", "one device"),
        (runs(BASE, 100.0, framework_version="0.9"), runs(SCALE, 14_000.0), "unlike", "framework_version"),
        (runs(BASE, 100.0, findings=(CLOCKS,)), runs(SCALE, 14_000.0), "doubtful", "At 1×1 the value is in doubt"),
        (runs(BASE, 100.0, spread=0.03), runs(SCALE, 12_832.0), "spans", "More repeats would decide"),
    ],
)
def test_a_verdict_rests_on_its_base_as_much_as_on_its_scale(base, scale, reason, told):
    found = c1(base, scale)

    assert (found.outcome, found.reason) == ("undetermined", reason)
    assert told in said(found)


@pytest.mark.parametrize(
    ("value", "larger", "outcome", "reason"),
    [
        (14_000.0, [], "undetermined", "missing"),
        (14_000.0, runs(LARGER, 28_000.0, repeats=2), "undetermined", "partial"),
        (14_000.0, failed(LARGER, 137), "undetermined", "missing"),
        (14_000.0, failed(LARGER, 1), "fail", "framework_failed"),  # by itself
        (9_000.0, [], "fail", "not_met"),  # whatever the larger one would give
    ],
)
def test_a_larger_planned_scale_is_not_left_out_because_it_went_badly(value, larger, outcome, reason):
    found = c1(runs(BASE, 100.0), runs(SCALE, value), larger, planned=(BASE, SCALE, LARGER))

    assert (found.outcome, found.reason) == (outcome, reason)
    assert ("At 40×8" in said(found)) == (reason == "framework_failed")
    assert reason != "not_met" or found.case.nodes == 20


def test_the_large_scale_of_one_framework_does_not_decide_for_all():
    other = replace(CASE, framework="othernet")

    found = c1(runs(BASE, 100.0), runs(SCALE, 14_000.0), runs(other, 90.0), runs(other.at_scale(2, 8), 1_300.0))

    assert (found.outcome, found.reason) == ("undetermined", "no_large_scale")
    expected = [("toynet", "pass"), ("othernet", "undetermined")]
    assert [(cell.framework, cell.outcome) for cell in found.cells] == expected


def test_each_framework_model_and_precision_is_a_cell_of_its_own_which_the_card_lists():
    amp = replace(CASE, precision="amp")

    found = c1(runs(BASE, 100.0), runs(SCALE, 14_000.0), runs(amp, 200.0), runs(amp.at_scale(20, 8), 16_000.0))

    assert [(cell.precision, cell.outcome) for cell in found.cells] == [("fp32", "pass"), ("amp", "fail")]
    assert (found.outcome, found.case.precision) == ("fail", "amp")
    card = cards._card(found, SPOKEN)
    assert [(row.cell.outcome, row.value.text) for row in card.cells] == [("pass", "87.5%"), ("fail", "50.0%")]


def test_of_many_scales_at_the_threshold_none_fails_by_chance_alone():
    """With eight scales one is 2.5 % likely to lie below by chance each: Holm asks more of the worst."""
    scales = [runs(CASE.at_scale(20 + k, 8), 0.80 * 100.0 * (20 + k) * 8, spread=0.01) for k in range(8)]
    low = runs(CASE.at_scale(40, 8), 0.79 * 100.0 * 320, spread=0.01)

    found = c1(runs(BASE, 100.0, spread=0.01), *scales, low)

    assert (found.outcome, found.reason) == ("undetermined", "spans")


# who is ahead

OTHER, THIRD = replace(CASE, framework="othernet"), replace(CASE, framework="thirdnet")


def c3(*of):
    rows = with_scaling(summaries([run for each in of for run in each]))
    return next(one for one in verdicts(rows, criteria.read()) if one.criterion == "C3")


OWN = replace(CASE, recipe="official")
SHORT = {"findings": (WINDOW,)}
LEADS = {
    "the fastest is ahead of every framework and not of the second alone": (
        *("no_difference", "toynet, thirdnet"),
        *(runs(CASE, 103.0), runs(OTHER, 100.0), runs(THIRD, 102.9, repeats=5, spread=0.02)),
    ),
    "a framework is not ahead of its own other recipe": ("nothing_to_compare", "", runs(CASE, 110.0), runs(OWN, 100.0)),
    "it is ahead of frameworks": ("faster", "", runs(CASE, 110.0), runs(OWN, 109.9), runs(OTHER, 90.0)),
    "less than one per cent is no lead however little the runs scatter": (
        *("tie", "", runs(CASE, 100.9, spread=1e-5), runs(OTHER, 100.0, spread=1e-5)),
    ),
    "more than one per cent is": ("faster", "", runs(CASE, 101.1, spread=1e-5), runs(OTHER, 100.0, spread=1e-5)),
    "runs that scatter as much as the lead keep a framework in the winners' group": (
        *("no_difference", "", runs(CASE, 100.0)),
        [measured(OTHER, k, value) for k, value in enumerate((90.0, 104.0, 92.0, 99.0, 97.0))],
    ),
    "of a framework of which a run failed those left over are not ranked": (
        *("nothing_to_compare", "", runs(CASE, 100.0), [*runs(OTHER, 110.0), measured(OTHER, 5, None)]),
    ),
    "two runs put nothing in order": ("cannot_tell", "", runs(CASE, 120.0, repeats=2), runs(OTHER, 100.0, repeats=2)),
    "three of a short window": ("cannot_tell", "", runs(CASE, 120.0, 3, **SHORT), runs(OTHER, 100.0, 3, **SHORT)),
    "five of a short window": (
        *("short_window", "shorter than the full protocol", runs(CASE, 120.0, **SHORT), runs(OTHER, 100.0, **SHORT)),
    ),
}


@pytest.mark.parametrize(("reason", "told", "of"), [(*lead[:2], lead[2:]) for lead in LEADS.values()], ids=LEADS)
def test_who_is_ahead_is_ahead_of_every_framework_by_more_than_chance(reason, told, of):
    found = c3(*of)

    assert (found.reason, found.within_noise) == (reason, reason not in ("faster", "nothing_to_compare"))
    assert told in said(found).lower()


@pytest.mark.parametrize(("repeats", "chance"), [(3, "10.0%"), (4, "2.9%")])
def test_with_three_or_four_runs_an_order_is_consistent_and_says_how_likely_chance_makes_it(repeats, chance):
    found = c3(runs(CASE, 120.0, repeats=repeats), runs(OTHER, 100.0, repeats=repeats))

    assert found.reason == "consistent"
    assert chance in said(found)


def test_how_often_equals_would_be_left_out_is_said_with_whoever_is_ahead_and_with_a_group():
    rate = f"in at most {winners.false_exclusion(2, 5):.1%} of cases"

    assert f"one of them would wrongly be called slower {rate}" in said(c3(runs(CASE, 120.0), runs(OTHER, 100.0)))
    assert f"would wrongly be left out of the group {rate}" in said(c3(runs(CASE, 100.0), runs(OTHER, 100.0)))


def test_every_block_has_its_standing():
    amp = [replace(one, precision="amp") for one in (CASE, OTHER)]

    found = c3(runs(CASE, 110.0), runs(OTHER, 100.0), runs(amp[0], 200.0), runs(amp[1], 220.0))

    expected = [("fp32", "toynet", "faster"), ("amp", "othernet", "faster")]
    assert [(cell.precision, cell.framework, cell.reason) for cell in found.cells] == expected


# intervals that promise what they hold


@pytest.mark.parametrize(("repeats", "coverage"), [(3, None), (4, None), (5, 0.964), (7, 0.955), (9, 0.955)])
def test_a_ratio_of_few_runs_has_a_range_and_no_interval(repeats, coverage):
    *_, scale = with_scaling(summaries([*runs(BASE, 100.0, repeats), *runs(SCALE, 14_000.0, repeats)]))

    assert scale.efficiency.low < 0.875 < scale.efficiency.high
    assert scale.efficiency.coverage == coverage
    assert scale.efficiency.is_range == (coverage is None)


# what is called an outlier


@pytest.mark.parametrize(("values", "others", "called"), sources.cases("verdicts.toml")["outliers"])
def test_an_outlier_is_far_off_by_three_measures(values, others, called):
    of = [measured(CASE, r, value) for r, value in enumerate(values)]
    for k, runs_of in enumerate(others, 1):
        of += [measured(CASE.at_scale(1, 2 * k), r, value) for r, value in enumerate(runs_of)]

    found = summaries(of)[0].findings
    assert [finding.items_per_s for finding in found if finding.code == "D09"] == list(called)


# mean utilisation


def gpu(mean, samples=200, coverage=1.0, resource="gpu", unit="%", capacity=None):
    facts = {"resource": resource, "unit": unit, "samples": samples, "coverage": coverage, "capacity": capacity}
    return Utilisation(mean=mean, p5=mean, p95=mean, **facts)


def c2(*of, planned=()):
    rows = with_scaling(summaries([run for each in of for run in each]))
    return {one.criterion: one for one in verdicts(rows, criteria.read(), planned) if one.criterion.startswith("C2")}


SMALL = runs(BASE, 100.0, utilisation=(gpu(95.0),))


def large(*used):
    return runs(SCALE, 14_000.0, utilisation=used)


@pytest.mark.parametrize(
    ("of", "planned", "outcome", "reason"),
    [
        ((large(gpu(90.0)),), (), "pass", "met"),
        ((large(gpu(70.0)),), (), "fail", "not_met"),
        ((SMALL, large(gpu(100.0, samples=3))), (), "undetermined", "thin"),
        ((SMALL, large(gpu(100.0, coverage=0.05))), (), "undetermined", "thin"),  # also where most were never read
        ((SMALL, large(gpu(90.0, resource="cpu"))), (), "undetermined", "gpu_unread"),
        ((runs(BASE, 100.0, utilisation=(gpu(95.0, resource="cpu"),)),), (), "undetermined", "no_gpu"),
        ((SMALL,), (), "undetermined", "no_large_scale"),
        ((large(gpu(90.0)),), (SCALE, LARGER), "undetermined", "missing"),
    ],
)
def test_mean_utilisation_is_judged_by_sound_samples_of_all_planned_large_scales(of, planned, outcome, reason):
    found = c2(*of, planned=planned)["C2a"]

    assert (found.outcome, found.reason) == (outcome, reason)
    assert (found.measured is None) == (reason in ("no_gpu", "no_large_scale", "gpu_unread"))


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


def test_the_mean_of_all_resources_names_those_that_have_a_capacity_beside_the_gpus():
    disk = gpu(1e8, resource="disk_read", unit="bytes/s")
    found = c2(runs(SCALE, 14_000.0, utilisation=(gpu(90.0), gpu(80.0, resource="cpu"), disk)))["C2b"]
    assert (found.outcome, found.measured.value) == ("pass", pytest.approx(0.85))
    assert "as the mean of GPU, CPU." in said(found)

    assert list(c2(runs(SCALE, 14_000.0, utilisation=(gpu(90.0),)))) == ["C2a"]

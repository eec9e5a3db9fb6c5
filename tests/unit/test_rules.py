from dataclasses import replace

import pytest
import synthetic

from evalsuite.core import paths
from evalsuite.core.documents import Citation, CitedFigure
from evalsuite.core.findings import BaseUnlike
from evalsuite.core.model import Fact, LogLine, Utilisation
from evalsuite.results.compare import published_rates
from evalsuite.results.compare.scaling import with_scaling
from evalsuite.results.measure import measurement
from evalsuite.results.measure.summary import summaries
from evalsuite.results.rules import data_rules, machine, printed_beside
from evalsuite.runs.samples import Header, Samples
from tests.bad_files import AGENT


def test_a_reading_above_its_capacity_is_left_out_and_named():
    link = {"unit": "bytes/s", "p5": 0.0, "p95": 2e9, "samples": 9, "coverage": 1.0}
    used = [
        Utilisation(**link, resource="network_receive", mean=1.26e9, capacity=1.25e9),  # within 2 %
        Utilisation(**link, resource="network_send", mean=1.30e9, capacity=1.25e9),
    ]
    run = synthetic.measured(synthetic.case(protocol=synthetic.FULL), 0, 38.0, resources=used)

    (measurement,) = data_rules.check_measurements([run])

    assert [use.resource for use in measurement.utilisation] == ["network_receive"]
    assert [(f.code, f.resources) for f in measurement.findings] == [("D18", ("network_send",))]
    assert measurement.value == 38.0


@pytest.mark.parametrize(
    ("figure", "values", "denied"),
    [
        ("step_time_stated_s", [8 / 38, 8 / 38, 8 / 28, 0.0], {2: "figure_denies"}),
        ("step_time_stated_s", [8 / 19, 8 / 19, 8 / 19, 0.0], {}),  # all count in another way
        ("tflops_stated_per_device", [3.8, 3.8, 2.8, 0.0], {2: "figure_denies"}),
        ("tflops_stated_per_device", [3.8, 3.0, 0.0, 0.0], {1: "figure_denies"}),  # its rate was raised by a quarter
        ("tflops_stated_per_device", [3.8, 2.85, 0.0, 0.0], {}),  # the other counts what it computes again
        ("tflops_printed", [3.8, 3.0, 0.0, 0.0], {1: "figure_denies"}),  # likewise, in logs of one dialect
        ("accuracy_stated_percent", [76.1, 75.9, 0.1, 72.0], {2: "learnt_less"}),
    ],
)
def test_what_a_source_prints_beside_a_rate_must_agree_with_it(figure, values, denied):
    cited = [replace(synthetic.measured(synthetic.case(name), 0, 38.0), origin="cited") for name in "abcd"]
    runs = [
        replace(run, figures=((figure, value),) if value else (), dialect="torchtitan")
        for run, value in zip(cited, values, strict=False)
    ]

    assert {place: found.name for place, found in printed_beside.denied(runs)} == denied


@pytest.mark.parametrize(
    ("figure", "values", "denied"),
    [
        ("step_time_stated_s", [8 / 30, 16 / 30], ["figure_denies"] * 2),
        ("tflops_stated_per_device", [0.72, 0.36], ["printed_impossible"] * 2),  # 24.6 GFLOP each
        ("tflops_stated_per_device", [0.467, 0.467 / 2], []),  # a multiplication and its addition as one
    ],
)
def test_a_framework_alone_in_printing_a_figure_excuses_it_by_no_other_scale(figure, values, denied):
    cases = (synthetic.case("a", options=()), synthetic.case("a", (1, 2), options=()), synthetic.case("b"))
    runs = [synthetic.measured(case, 0, 38.0) for case in cases]
    told = [replace(run, figures=((figure, value),)) for run, value in zip(runs, values, strict=False)]

    assert [found.name for _, found in printed_beside.denied([*told, runs[-1]])] == denied


def of_two_scales(*facts, origin="measured"):
    """Repeats of one device, of which *facts* are stated, and of eight."""
    sizes = [(synthetic.case(scale=(1, n)), rate) for n, rate in ((1, 36.0), (8, 273.0))]
    runs = [synthetic.measured(case, k, rate + k / 9) for case, rate in sizes for k in range(5)]
    runs[:5] = [replace(run, facts=(*run.facts, *facts)) for run in runs[:5]]
    return with_scaling(summaries([replace(run, origin=origin) for run in runs]))


@pytest.mark.parametrize(("speedup", "told"), [("7.98", ["7.98"]), ("7.6", []), ("1.90", ["1.90"])])
def test_a_speedup_beside_single_runs_is_that_of_their_medians(speedup, told):
    rows = of_two_scales(origin="cited")
    said = CitedFigure(printed="38", kind="run", citations=(Citation(row="t.csv:9", speedup=speedup),))

    assert [each.written for each in printed_beside.cited_speedups(rows, {rows[1].case.id: [said]})] == told


def test_a_base_that_another_fact_slows_is_named_beside_its_speedup():
    slow = Fact(key="watched", value="TORCH_DISTRIBUTED_DEBUG=DETAIL", source="environment")

    for rows, wanted in ((of_two_scales(slow), [[], ["watched"]]), (of_two_scales(), [[], []])):
        assert [[each.fact for each in row.findings if isinstance(each, BaseUnlike)] for row in rows] == wanted


@pytest.mark.parametrize(("hosts", "apart"), [("aab", 0), ("abb", 0), ("bbb", 2), ("a", 0)])
def test_who_never_ran_on_a_host_of_the_others_is_named(hosts, apart):
    on = [(synthetic.case(of), k, host) for of, at in (("x", "aaa"), ("y", hosts)) for k, host in enumerate(at)]
    runs = [replace(synthetic.measured(case, k, 38.0), hosts=(host,)) for case, k, host in on]

    assert len([*machine.other_hosts(summaries(runs))]) == apart


@pytest.mark.parametrize(
    ("each", "text", "found"),
    [
        ([0.42] * 100, "Time  0.420000 ( 0.42)", ["0.420000"]),
        ([0.42] * 100, "Time  0.420 ( 0.42)", []),  # a clock of milliseconds
        ([19047.0] * 99 + [1.0] * 30, "tps: 19,047.0", []),
        ([0.42 + k / 1e6 for k in range(100)], "Time  0.420000", []),
        ([8 * 19047.12] * 100, "step 9 tps: 19,047.12", ["19,047.12"]),
    ],
)
def test_what_each_step_prints_as_no_clock_does_is_named(each, text, found):
    run = synthetic.measured(synthetic.case(scale=(1, 8)), 0, 38.0)
    run = replace(run, printed_each=tuple(each), lines=(LogLine(number=1, text=text),))

    assert [said.text for said in printed_beside.constant(run)] == found


@pytest.mark.parametrize(("sampled", "denied"), [((0.0, 20.0, 52.5), []), ((0.0, 30.0, 57.0), [57.0]), ((), [])])
def test_samples_of_more_cpu_time_than_the_agent_counted_are_not_of_this_run(sampled, denied):
    samples = Samples(header=Header(hz=0.1), tables={"tree.cpu_s": {"": sampled}, "at_s": {"": sampled}})

    assert [each.sampled_s for each in measurement._readings_lost({"a": AGENT}, {"a": samples})] == denied


def test_a_run_in_order_is_returned_as_it_came():
    runs = [synthetic.measured(synthetic.case(protocol=synthetic.FULL), repeat, 38.0 + repeat) for repeat in range(5)]
    assert data_rules.check_measurements(runs) == runs


def test_every_published_figure_names_its_place_and_those_with_a_known_error_are_no_yardstick():
    known = published_rates.of_reference("published")
    ids = [row["id"] for row in paths.read_rows(published_rates.FILE) if row["device"]]

    assert all(each.items_per_s > 0 and each.source for each in known)
    assert len(set(ids)) == len(known) > 900
    assert set(ids).isdisjoint({"nvdle-0781", "nvdle-0782"})  # the second is a value of another column, printed twice

from dataclasses import replace

import pytest
import synthetic

from evalsuite.core import paths
from evalsuite.core.model import Utilisation
from evalsuite.results.compare import published_rates
from evalsuite.results.rules import data_rules, printed_beside


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
        ("accuracy_stated_percent", [76.1, 75.9, 0.1, 72.0], {2: "learnt_less"}),
    ],
)
def test_what_a_source_prints_beside_a_rate_must_agree_with_it(figure, values, denied):
    cited = [replace(synthetic.measured(synthetic.case(name), 0, 38.0), origin="cited") for name in "abcd"]
    runs = [
        replace(run, figures=((figure, value),) if value else ()) for run, value in zip(cited, values, strict=False)
    ]

    assert {place: found.name for place, found in printed_beside.denied(runs)} == denied


def test_a_run_in_order_is_returned_as_it_came():
    runs = [synthetic.measured(synthetic.case(protocol=synthetic.FULL), repeat, 38.0 + repeat) for repeat in range(5)]
    assert data_rules.check_measurements(runs) == runs


def test_every_published_figure_names_its_place_and_those_with_a_known_error_are_no_yardstick():
    known = published_rates.of_reference("published")
    ids = [row["id"] for row in paths.read_rows(published_rates.FILE) if row["device"]]

    assert all(each.items_per_s > 0 and each.source for each in known)
    assert len(set(ids)) == len(known) > 900
    assert set(ids).isdisjoint({"nvdle-0781", "nvdle-0782"})  # the second is a value of another column, printed twice

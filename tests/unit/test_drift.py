"""The machine's own speed over a campaign, and the order in which runs are made."""

from dataclasses import replace

import pytest

from evalsuite.findings import MachineDrifts
from evalsuite.launch.checks import drift_probe
from evalsuite.model import Measurement, Run
from evalsuite.plan import plan, spec
from evalsuite.results.rules import drift
from tests.toys import CASE


def measured(round_, probe_s, campaign="one", scale=(1, 1)):
    run = Run(case=CASE.at_scale(*scale), repeat=round_)
    return Measurement(run=run, status="ok", campaign=campaign, round=round_, probe_s=probe_s)


def test_a_steady_machine_another_campaign_and_runs_without_a_probe_say_nothing():
    assert list(drift.findings([measured(0, 0.300), measured(1, 0.310), measured(2, 0.304)])) == []
    assert list(drift.findings([measured(0, 0.30), measured(0, 0.60, campaign="other")])) == []
    assert list(drift.findings([measured(0, None), measured(1, 0.3), measured(2, None, campaign=None)])) == []


def test_a_machine_that_slows_down_is_told_with_its_size():
    (found,) = drift.findings([measured(0, 0.30), measured(1, 0.30), measured(2, 0.36)])

    assert isinstance(found, MachineDrifts)
    assert (found.least_s, found.most_s, found.blocks) == (0.30, 0.36, 3)
    assert found.change == pytest.approx(0.2)


def test_the_probe_takes_some_time_and_not_much():
    assert 0.001 < drift_probe.measure_seconds() < 60


def blocks_of(wanted):
    cases = [
        replace(CASE, framework=name, devices_per_node=devices) for devices in (1, 2) for name in ("a", "b", "c", "d")
    ]
    runs = list(plan.in_blocks(cases, wanted))
    assert sorted(run.id for run in runs) == sorted(f"{case.id}/r{r}" for case in cases for r in range(wanted.repeats))
    return [
        [(run.repeat, run.case.scale) for run in runs[start : start + 4]]
        + [tuple(run.case.framework for run in runs[start : start + 4])]
        for start in range(0, len(runs), 4)
    ]


def test_each_block_holds_every_framework_of_a_scale_once():
    for *places, names in blocks_of(spec.Spec(repeats=3)):
        assert len(set(places)) == 1
        assert sorted(names) == ["a", "b", "c", "d"]


def test_the_order_differs_from_block_to_block_and_is_the_same_for_the_same_seed():
    first, again, other = ([block[-1] for block in blocks_of(spec.Spec(repeats=3, seed=seed))] for seed in (1, 1, 2))

    assert first == again != other
    assert len(set(first)) > 1

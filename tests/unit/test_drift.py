"""The machine's own speed over a campaign, and the order in which runs are made."""

from dataclasses import replace

import pytest
import synthetic
from test_answers import case

from evalsuite.core.findings import BusyMachine, MachineDrifts
from evalsuite.core.model import Measurement, Run
from evalsuite.machine import cores
from evalsuite.plan import plan, spec
from evalsuite.results.rules.data_rules import machine_drifts
from tests.toys import CASE


def measured(round_, probe_s, campaign="one", scale=(1, 1)):
    run = Run(case=CASE.at_scale(*scale), repeat=round_)
    return Measurement(run=run, status="ok", campaign=campaign, round=round_, probe_s=probe_s)


def test_a_machine_that_slows_down_is_told_with_its_size_and_a_steady_one_or_another_campaign_says_nothing():
    assert list(machine_drifts([measured(0, 0.300), measured(1, 0.310), measured(2, 0.304)])) == []
    assert list(machine_drifts([measured(0, 0.30), measured(0, 0.60, campaign="other")])) == []
    assert list(machine_drifts([measured(0, None), measured(1, 0.3), measured(2, None, campaign=None)])) == []

    (finding,) = machine_drifts([measured(0, 0.30), measured(1, 0.30), measured(2, 0.36)])

    assert isinstance(finding, MachineDrifts)
    assert (finding.least_s, finding.most_s, finding.blocks) == (0.30, 0.36, 3)
    assert finding.change == pytest.approx(0.2)


def test_the_probe_takes_some_time_and_not_much():
    assert 0.001 < cores.measure_seconds() < 60


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


def test_each_block_holds_every_framework_once_in_an_order_of_its_own_that_a_seed_gives_again():
    for *places, names in blocks_of(spec.Spec(repeats=3)):
        assert len(set(places)) == 1
        assert sorted(names) == ["a", "b", "c", "d"]

    first, again, other = ([block[-1] for block in blocks_of(spec.Spec(repeats=3, seed=seed))] for seed in (1, 1, 2))

    assert first == again != other
    assert len(set(first)) > 1


# what is found without the runs that other programs disturbed, beside what is found with all


def summary(framework, speeds, busy=()):
    of = case(framework, (1, 2))
    runs = [synthetic.measured(of, k, speed) for k, speed in enumerate(speeds)]
    return synthetic.summary(
        replace(run, findings=(BusyMachine(others=0.4, where=f"{of.id}/r{k}"),)) if k in busy else run
        for k, run in enumerate(runs)
    )

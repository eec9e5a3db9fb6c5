"""The machine's own speed over a campaign, and the order in which runs are made."""

from dataclasses import replace

import pytest
import synthetic
from test_answers import case

from evalsuite.core.findings import BusyMachine, ProbeMoved, SteepDrift, StepsUnfinished, TimedBeside
from evalsuite.core.model import Measurement, Run, Throughput, Utilisation, Window
from evalsuite.machine import cores
from evalsuite.plan import plan, spec
from evalsuite.results.measure import summary as summing
from evalsuite.results.rules import machine
from tests.toys import CASE


def measured(round_, probe_s, campaign="one", scale=(1, 1)):
    run = Run(case=CASE.at_scale(*scale), repeat=round_)
    return Measurement(run=run, status="ok", campaign=campaign, round=round_, probe_s=probe_s)


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


STEEP = SteepDrift(change=0.5)


def timed(repeat, *found, cpu_s=100.0, devices=2, bytes_s=1e6, probe_s=None, step_s=1.0):
    """A run of 100 steps on CPUs, each of which takes a second of wall time unless it says otherwise."""
    case = replace(CASE, device="cpu", devices_per_node=devices)
    window = Window(first_step=1, last_step=100, steps=100, begin_s=0.0, end_s=100.0 * step_s)
    loopback = Utilisation(
        **dict.fromkeys(("mean", "p5", "p95"), bytes_s / step_s),
        **{"resource": "loopback", "unit": "bytes/s", "samples": 100, "coverage": 1.0},
    )
    return Measurement(
        run=Run(case=case, repeat=repeat),
        status="ok",
        throughput=Throughput(items_per_s=1.0 / step_s, unit="images/s", method="arrival times", window=window),
        utilisation=(loopback,),
        figures=(("window_cpu_s", cpu_s * devices),),
        findings=found,
        campaign="one",
        probe_s=probe_s,
    )


BESIDE = BusyMachine(others=0.3)


@pytest.mark.parametrize(
    ("run", "others", "grounds"),
    [
        (timed(0, STEEP, BESIDE, cpu_s=110.0, step_s=2.0), [timed(1), timed(2)], "clock"),
        (timed(0, STEEP, probe_s=0.5), [timed(1, probe_s=0.3), timed(2, probe_s=0.3)], "clock"),
        (timed(0, STEEP, BESIDE), [timed(1, devices=1)], "clock"),  # of another scale
        (timed(0, STEEP, BESIDE), [timed(1, STEEP)], "disputed"),  # nothing undoubted to hold it against
        (timed(0, STEEP, BESIDE), [], "disputed"),
        (timed(0, STEEP), [timed(1), timed(2)], "disputed"),  # a quiet machine
        (timed(0, STEEP, BESIDE, cpu_s=50.0), [timed(1), timed(2)], "disputed"),  # work left out
        (timed(0, STEEP, BESIDE, bytes_s=0.9e6), [timed(1), timed(2)], "disputed"),  # an exchange left out
        (timed(0, STEEP, BESIDE, StepsUnfinished(tail_s=9.0, window_s=9.0)), [timed(1)], "disputed"),
    ],
)
def test_what_only_times_tell_is_the_machines_where_a_disturbed_run_did_the_same_work(run, others, grounds):
    found = machine.with_causes([run, *others])[0]

    assert (found.grounds, any(isinstance(each, TimedBeside) for each in found.findings)) == (
        grounds,
        grounds == "clock" or StepsUnfinished in map(type, run.findings),
    )
    assert found.disturbed is (BESIDE in run.findings or any(isinstance(each, ProbeMoved) for each in found.findings))


@pytest.mark.parametrize(
    ("disputed", "busy", "runs", "grounds", "disturbed"),
    [(1, 0, 3, "clock", False), (2, 1, 3, "disputed", False), (1, 1, 2, "clock", False), (0, 2, 3, "clock", True)],
)
def test_a_case_rests_on_most_of_its_runs_and_is_disturbed_where_two_quiet_ones_lack(
    disputed, busy, runs, grounds, disturbed
):
    made = [timed(k, *[STEEP] * (k < disputed), *[BESIDE] * (k < busy)) for k in range(runs)]

    found = summing.summary(made[0].run.case, made)

    assert (found.grounds, found.disturbed) == (grounds, disturbed)

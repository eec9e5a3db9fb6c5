"""One verdict over several starts: a played cluster of 20 hosts with eight stand-in devices each (tests/README.md)."""

import contextlib
import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from evalsuite.commands.launching.adaptive_repeats import missing_runs
from evalsuite.core.documents import Gpu, HostEnvironment
from evalsuite.core.model import Run
from evalsuite.launch import campaign, runner
from evalsuite.logs.catalogue import Places
from evalsuite.machine import cores
from evalsuite.plan.spec import Spec
from evalsuite.report.sections.verdict import cards
from evalsuite.report.text import words
from evalsuite.results.evaluation import evaluate
from evalsuite.runs.planned import Planned
from evalsuite.runs.store import Store
from tests import runfolders
from tests.toys import CASE, COMMAND, LAUNCHER, toynet

STEP_S, STEPS, REPEATS = 0.2, 120, 5
EFFICIENCY, BUSY = {"upper": 0.86, "lower": 0.71}, {"upper": 88.0, "lower": 75.0}
LEVELS = (1.0, 1.004, 0.997)  # of the machine, in each start
ONE, TWENTY = (replace(CASE, device="gpu").at_scale(nodes, devices) for nodes, devices in ((1, 1), (20, 8)))
GPUS = tuple(Gpu(index=k, uuid=f"GPU-{k}", name="A100", memory_total_bytes=80 * 2**30) for k in range(8))
HOST = HostEnvironment(
    host="", cpu_model="EPYC", cpu_count=64, memory_total_bytes=512 * 2**30, gpus=GPUS, driver="550.54"
)


class Killed(Exception):
    pass


def samples(seconds, busy, devices):
    """Twice a second: GPUs, CPU, memory and a network of 25 Gbit/s."""
    gpus = [{"index": k, "of_job": k < devices, "memory_total_bytes": 80 * 2**30} for k in range(8)]
    head = {"header": True, "hz": 2.0, "cpu_count": 64.0, "memory_total_bytes": 512 * 2**30, "gpus": gpus}
    lines = [{**head, "interfaces": {"eth0": {"speed_mbit_s": 25_000}}}]
    for tick in range(int(2 * seconds) + 1):
        of_job = busy if devices > 1 else 99.0  # alone it waits for nobody
        used = [{"index": k, "utilisation_percent": of_job if k < devices else 0.0} for k in range(8)]
        moved = dict.fromkeys(("received_bytes", "sent_bytes"), tick * 25e9 / 8 / 2 * busy / 100)
        about = {"cpu_percent": busy, "memory_used_bytes": busy / 100 * 512 * 2**30, "interfaces": {"eth0": moved}}
        tree = {"cpu_s": tick * 28.0, "memory_bytes": 2**30}
        lines.append({"at_s": tick / 2, **about, "tree": tree, "gpus": used})
    return "".join(f"{json.dumps(line)}\n" for line in lines)


@pytest.fixture
def lab(tmp_path, monkeypatch):
    store, levels = Store(tmp_path / "runs"), iter(LEVELS)

    def start(*cases, killed_after=None):
        """One start of `compare`: what it plans is run, until it is killed."""
        of = [replace(case, framework=name) for case in cases for name in EFFICIENCY]
        planned, level, made = Planned(profile="full", repeats=REPEATS, cases=tuple(of), skips=()), next(levels), []

        def launch(run, recipe, folder, launcher, *, place, **_):
            if len(made) == killed_after:
                raise Killed
            made.append(run)
            case, share = run.case, EFFICIENCY[run.case.framework] if run.case.nodes > 1 else 1.0
            seconds = STEP_S / share / level * (1 + 0.002 * (run.repeat % 5 - 2))
            read = samples(seconds * STEPS + 4, BUSY[case.framework], case.devices_per_node)
            printed = (runfolders.steps(STEPS, seconds),)
            hosts = {
                f"n{k:02d}": runfolders.Host(printed=() if k else printed, samples=read, environment=HOST)
                for k in range(case.nodes)
            }
            return runfolders.fill(folder, hosts, run.repeat, replace(COMMAND, campaign=place))

        monkeypatch.setattr(runner, "launch", launch)
        store.write_plan(planned)
        started = campaign.begin(planned, store)
        runs = [Run(case=case, repeat=repeat) for repeat in range(REPEATS) for case in of]
        plan = SimpleNamespace(runs=runs, spec=Spec(repeats=5, quiet_rounds=0))
        adapters = {name: toynet(name) for name in EFFICIENCY}
        with contextlib.suppress(Killed):
            list(campaign.launch_all(missing_runs(plan, store, Places()), store, adapters, LAUNCHER, started))
        return made

    monkeypatch.setattr(cores, "measure_seconds", lambda: 0.3)
    start.store = store
    return start


def outcomes(store):
    found = {verdict.criterion: verdict for verdict in evaluate(store).verdicts}
    cells = {name: {cell.framework: cell for cell in verdict.cells} for name, verdict in found.items()}
    return found, {name: {who: cell.outcome for who, cell in each.items()} for name, each in cells.items()}, cells


DECIDED = {name: {"upper": "pass", "lower": "fail"} for name in ("C1", "C2a", "C2b")}


def test_a_subset_first_a_scale_that_is_killed_and_resumed_decide_as_one_start_would(lab):
    first, second, third = lab(ONE), lab(ONE, TWENTY, killed_after=7), lab(ONE, TWENTY)

    assert [len(first), len(second), len(third)] == [10, 7, 2 + 5]
    assert [run.case.scale for run in second[:3]] == [run.case.scale for run in third[:3]] == ["1x1", "1x1", "20x8"]
    assert {run.repeat for run in (*second, *third) if run.case.nodes == 1} == {5, 6}
    found, said, cells = outcomes(lab.store)
    assert said == DECIDED
    upper, lower = cells["C1"]["upper"], cells["C1"]["lower"]
    assert (upper.measured.value, lower.measured.value) == pytest.approx((0.86, 0.71), abs=0.01)
    assert upper.reason == "met" and upper.measured.low < 0.86 < upper.measured.high
    spoken = cards._reason(upper, words.read()).plain("en")
    assert "3 starts" in spoken and "which differ by 0." in spoken
    assert [found[name].measured.value for name in ("C2a", "C2b")] == pytest.approx([0.75, 0.75], abs=0.002)
    assert "As the mean of GPU, CPU, memory, network." in cards._reason(found["C2b"], words.read()).plain("en")


def test_one_job_per_scale_measures_the_base_in_each_and_decides(lab):
    _, second = lab(ONE), lab(TWENTY)

    assert [run.case.scale for run in second][:3] == ["1x1", "1x1", "20x8"] and len(second) == 12
    assert outcomes(lab.store)[1] == DECIDED

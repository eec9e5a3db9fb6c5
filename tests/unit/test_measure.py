import json
from dataclasses import replace

import pytest

from evalsuite.documents import Gpu, HostEnvironment, UsedRecipe
from evalsuite.findings import BusyMachine, UnreadableSamples
from evalsuite.launch import runner
from evalsuite.model import Run, Throughput, Utilisation, Window
from evalsuite.results.measure import machines, measurement
from evalsuite.runs.endings import Outcome
from evalsuite.runs.store import Store
from tests import runfolders
from tests.toys import CASE, COMMAND


def share(resource, mean, samples=20):
    return Utilisation(resource=resource, unit="%", mean=mean, p5=mean, p95=mean, samples=samples, coverage=1.0)


@pytest.mark.parametrize(
    ("used", "flagged"),
    [
        ((share("cpu", 98.0), share("job_cpu", 95.0)), False),
        ((share("cpu", 98.0), share("job_cpu", 60.0)), True),
        ((share("cpu", 98.0),), False),  # no reading of the job
    ],
)
def test_other_programs_on_the_machine_are_flagged(used, flagged):
    assert bool(measurement._busy_machine(used, {}, None)) is flagged


@pytest.mark.parametrize("others", [0, 40])
def test_other_programs_are_seen_around_a_window_of_two_samples(others, tmp_path):
    header = {"header": True, "hz": 2.0, "cpu_count": 4.0}
    lines = [
        {"at_s": at / 2, "cpu_percent": 50 + others, "tree": {"cpu_s": at, "memory_bytes": 1, "processes": 1}}
        for at in range(10)
    ]
    samples = "".join(f"{json.dumps(line)}\n" for line in (header, *lines))
    host = runfolders.Host(printed=[runfolders.steps(120, 0.01)], samples=samples)

    found = measurement.measurement(runfolders.finished(tmp_path, host))

    assert [type(one) for one in found.findings if one.code == "busy_machine"] == [BusyMachine] * bool(others)


def test_samples_that_cannot_be_unpacked_take_the_utilisation_and_leave_the_throughput(tmp_path):
    folder = runfolders.finished(tmp_path)
    folder.packed_samples_path("n0").write_bytes(b"no columns")

    found = measurement.measurement(folder)

    assert found.status == "ok" and found.value and not found.utilisation
    assert [one.severity for one in found.findings if isinstance(one, UnreadableSamples)] == ["flag"]
    assert measurement.timeline(folder, found.throughput.window) is None


@pytest.mark.parametrize(("steps", "severity"), [(100, None), (30, "note"), (19, "exclude")])
def test_a_short_window_is_noted_and_a_very_short_one_excluded(steps, severity):
    found = measurement._short(CASE, Window(first_step=21, last_step=20 + steps, steps=steps))

    assert [finding.severity for finding in found] == ([severity] if severity else [])


def test_the_environment_is_named_by_hardware_and_not_by_host():
    host = HostEnvironment(
        host="a", cpu_model="EPYC", cpu_count_usable=2.0, gpus=(Gpu(name="H200"), Gpu(name="H200")), driver="550"
    )

    key = machines.recorded({"a": host, "b": replace(host, host="b")})

    assert str(key) == "2 x H200, EPYC (2 cores), driver 550"


@pytest.mark.parametrize(
    ("printed", "recipe", "unit"),
    [
        ("images/s", UsedRecipe(unit="sequences/s"), "sequences/s"),
        ("tokens/s", UsedRecipe(unit="sequences/s"), "tokens/s"),
        ("images/s", UsedRecipe(unit="tokens/s"), "images/s"),
        ("samples/s", UsedRecipe(), "samples/s"),
        ("samples/s", UsedRecipe(unit="images/s"), "images/s"),
        ("sequences/s", UsedRecipe(unit="images/s"), "sequences/s"),  # what a recipe counts that says nothing
    ],
)
def test_a_recipe_names_what_its_batches_hold_and_never_turns_tokens_into_sequences(printed, recipe, unit):
    measured = Throughput(items_per_s=12.0, unit=printed, method="arrivals", window=None)

    found = measurement._in_unit_of(recipe, measured)

    assert (found.unit, found.items_per_s) == (unit, 12.0)


def test_a_half_written_outcome_is_a_failed_run_and_one_over_its_time_says_the_limit(tmp_path):
    with Store(tmp_path).claim(Run(case=CASE, repeat=0)) as folder:
        (folder.path / "outcome.json").write_text('{"status": "comp')
    found = measurement.measurement(folder)
    assert (found.status, found.value) == ("failed", None) and "half-written" in found.reason

    with Store(tmp_path / "late").claim(Run(case=CASE, repeat=0)) as folder:
        (folder.path / "log.n1.txt").write_text("waiting for the other worker\nSIGTERM caught at 03:27:54\n")
        folder.write_command(COMMAND)
        folder.write_outcome(Outcome(status="timed_out", reason="the time limit of 300 s was reached"))

    found = measurement.measurement(folder)

    assert (found.status, found.reason) == ("timed_out", "the time limit of 300 s was reached")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("srun: error: n2: task 1: Exited with exit code 1\nsrun: launch/slurm: Terminating\n", "srun: error: n2"),
        ("waiting\nevalsuite sample: no room\nsrun: error: n1: task 0: Exited\n", "evalsuite sample: no room"),
        ("mpirun was unable to find the host\nplease check\n", "mpirun was unable to find the host"),
        ("", ""),
    ],
)
def test_the_engine_is_quoted_with_the_line_that_says_why(said, reason, tmp_path):
    (tmp_path / "engine.txt").write_text(said)

    assert runner._engine_said(tmp_path / "engine.txt").startswith(reason)
    assert bool(reason) == bool(runner._engine_said(tmp_path / "engine.txt"))

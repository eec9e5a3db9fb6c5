"""Scripts that stop to speak, found by the silence of their logs, with real processes; waits are shortened."""

import json

import psutil
import pytest

from evalsuite import cli
from evalsuite.launch import campaign, runner
from evalsuite.results.evaluation import evaluate
from evalsuite.runs.store import Store
from tests import sources

ADAPTER = sources.text("hangs_adapter.py.in")
SCRIPT = sources.text("hangs_script.py.in")


@pytest.mark.parametrize(
    ("steps", "status", "why", "value"), [(12, "failed", "silent", False), (30, "completed", "hung", True)]
)
def test_a_script_that_falls_silent_is_ended_long_before_its_time_limit(
    steps, status, why, value, tmp_path, monkeypatch
):
    monkeypatch.setattr(campaign, "SILENT_S", 4.0)  # longer than a busy machine keeps a script waiting
    monkeypatch.setattr(campaign, "MIDWAY_S", 5.0)
    monkeypatch.setattr(campaign, "MIDWAY_TIMES", 1)
    monkeypatch.setattr(runner, "ENOUGH_POLL_S", 0.3)
    (tmp_path / "silent.py").write_text(ADAPTER.format(script=SCRIPT.format(steps=steps, folder=tmp_path)))
    axes = ["--frameworks", "silent", "--models", "toy", "--scales", "1x1", "--repeats", "1", "--steps", "5+25"]
    where = ["--adapters", str(tmp_path / "silent.py"), "--environment", "current", "--device", "cpu"]

    cli.main(["run", *axes, *where, "--runs", str(tmp_path / "runs")])

    [file] = (tmp_path / "runs").glob("*/r0/outcome.json")
    outcome = json.loads(file.read_text())
    assert (outcome["status"], outcome["enough"]) == (status, why)
    assert outcome["duration_s"] < 60
    assert not [one for one in psutil.process_iter(["cmdline"]) if f"silent in {tmp_path}" in str(one.info["cmdline"])]
    [summary] = evaluate(Store(tmp_path / "runs")).summaries
    assert (summary.measurements[0].value is not None) == value

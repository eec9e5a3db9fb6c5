"""Scripts that mean no good, or do none: what they cannot do to a run."""

import json
import subprocess
import sys

import pytest

from evalsuite.core.messages import from_json
from tests import sources

FLOOD = "import sys\nline = b'x' * 99_999 + b'\\n'\nwhile True: sys.stdout.buffer.write(line)"
AT_MOST_5_MB = """import sys
from evalsuite import cli
from evalsuite.agent.order import Order
Order.__init__.__kwdefaults__["most_log_bytes"] = 5_000_000
sys.exit(cli.main(sys.argv[1:]))"""
STEPS = "[print(f'Epoch: [0][{step:4d}/120]\\tTime 0.0100 (0.0100)\\tLoss 6.7e+00', flush=True) for step in range(120)]"
ADAPTER = sources.text("hostile_scripts_adapter.py.in")
IN_THE_RUN_FOLDER, TO_THE_RUN_FOLDER = (
    sources.table("hostile_scripts.toml")[name] for name in ("in_the_run_folder", "to_the_run_folder")
)


def evalsuite(*words, **options):
    return subprocess.run(
        [sys.executable, "-m", "evalsuite", *map(str, words)], capture_output=True, text=True, timeout=400, **options
    )


def run_of(script, folder, *more, repeats=1):
    """The outcome of the last run of *script*."""
    folder.mkdir(exist_ok=True)
    (folder / "hostile.py").write_text(ADAPTER.format(script=script))
    axes = [
        f"--{each}"
        for each in ("frameworks=hostile", "models=toy", "scales=1x1", "batch-sizes=32", f"repeats={repeats}")
    ]
    where = ["--steps=2+3", "--environment=current", "--device=cpu", f"--runs={folder / 'runs'}"]
    where.append(f"--adapters={folder / 'hostile.py'}")
    ended = evalsuite("run", *axes, *where, *more)

    assert "Traceback" not in ended.stderr, ended.stderr
    (outcome,) = (folder / "runs").glob(f"*/r{repeats - 1}/outcome.json")
    return ended, json.loads(outcome.read_text())


def test_a_flood_ends_the_run_with_that_reason_and_the_log_stays_small(tmp_path):
    words = ("sample", "-o", tmp_path / "out", "--for-run", "all", "--", sys.executable, "-c", FLOOD)

    ended = subprocess.run([sys.executable, "-c", AT_MOST_5_MB, *words], capture_output=True, text=True, timeout=400)

    (log,) = (tmp_path / "out").glob("log.*.txt")
    (agent,) = (tmp_path / "out").glob("agent.*.json")
    assert ended.returncode == 153
    assert "printed more than 5 MB, and the run was ended" in ended.stderr
    assert "Traceback" not in ended.stderr and ended.stderr.count("\n") == 1
    assert log.stat().st_size < 6_000_000
    assert "printed more than 5 MB" in json.loads(agent.read_text())["error"]


def test_a_script_that_keeps_to_itself_is_completed(tmp_path):
    _, outcome = run_of(STEPS, tmp_path)

    assert (outcome["status"], outcome["reason"]) == ("completed", "")


@pytest.mark.parametrize("what", IN_THE_RUN_FOLDER)
def test_a_script_that_writes_into_its_own_run_folder_has_failed(what, tmp_path):
    _, outcome = run_of(f"{STEPS}; {IN_THE_RUN_FOLDER[what]}", tmp_path)

    assert outcome["status"] == "failed"
    assert "changed while the run went on, and not by evalsuite" in from_json(outcome["reason"])


@pytest.mark.parametrize("what", TO_THE_RUN_FOLDER)
def test_a_script_that_takes_its_run_folder_away_has_failed_and_the_next_run_begins(what, tmp_path):
    _, outcome = run_of(f"{STEPS}; {TO_THE_RUN_FOLDER[what]}", tmp_path, "--quiet-rounds=0", repeats=2)

    assert outcome["status"] == "failed"
    assert "its folder is gone" in from_json(outcome["reason"])

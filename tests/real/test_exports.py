"""Run histories made by the newest releases of the trackers themselves, each in an environment of its own: those of
`tests/exports/`, and those that `report --to` writes, which are read back."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from evalsuite.cli import main
from tests.sources import NIGHTLY

ROOT = Path(__file__).resolve().parents[2]
MAKE = ROOT / "tests" / "exports" / "make.py"
UV = Path(sys.executable).with_name("uv")
SKINNY = ["mlflow-skinny", "sqlalchemy", "alembic"]  # all of MLflow that is asked for, in a tenth of its size
BOARD = ["tensorboard", "tensorboardX"]
LIBRARIES = {"wandb": ["wandb"], "mlflow": SKINNY, "trackio": ["trackio"], "tensorboard": BOARD}
RECORDED = ROOT / "data" / "recorded-llm.zip"


def environment(place, *packages):
    python = place / "bin" / "python"
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, place], check=True)
    subprocess.run([UV, "pip", "install", "--quiet", "--python", python, *packages], check=True)
    return python


@pytest.mark.skipif(not NIGHTLY, reason="installs each library anew")
def test_ten_exports_that_the_libraries_write_today_are_read(tmp_path, capsys):
    """Two runs each of W&B offline, MLflow's folder and its database, Trackio and TensorBoard's event files."""
    for name, packages in LIBRARIES.items():
        python = environment(tmp_path / name, *packages)
        subprocess.run([python, MAKE, tmp_path / "made", name], check=True, capture_output=True)

    assert main(["parse", str(tmp_path / "made"), "--json"]) in (0, 4)
    rows = [row for row in json.loads(capsys.readouterr().out) if row["dialect"] == "history_tokens"]
    assert Counter(round(row["throughput"], -3) for row in rows) == {81_000: 5, 82_000: 5}
    told = Counter((row["total_devices"], row["batch_size_per_device"]) for row in rows)
    assert told == {(8, 4): 8, (None, None): 2}  # an event file has no settings


@pytest.mark.skipif(not NIGHTLY, reason="installs each library anew")
@pytest.mark.parametrize("name", ["tensorboard", "wandb-offline", "mlflow", "trackio"])
def test_what_report_writes_for_a_tracker_is_read_back_with_the_same_numbers(name, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    python = environment(tmp_path / "env", "-e", ROOT, *LIBRARIES[name.removesuffix("-offline")])
    words = ["report", "--runs", RECORDED, "--lang", "en", "--to", name, "histories"]
    subprocess.run([python, "-m", "evalsuite", *words], check=True, capture_output=True)
    summary = json.loads((tmp_path / "report" / "summary.json").read_text())
    told = [run["value"] for row in summary["summaries"] for run in row["runs"]]

    assert main(["parse", "histories", "--steps", "3+20", "--json"]) in (0, 4)
    rows = [row for row in json.loads(capsys.readouterr().out) if row["dialect"]]
    assert {row["unit"] for row in rows} == {"tokens/s"}
    assert sorted(row["throughput"] for row in rows) == pytest.approx(sorted(told), rel=5e-4)
    assert main(["import", "histories", "--json"]) in (0, 4)  # all that a case needs stands in them
    made = [row for row in json.loads(capsys.readouterr().out) if row["run"]]
    assert len(made) == len(told)

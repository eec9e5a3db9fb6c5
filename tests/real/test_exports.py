"""Run histories made again by the newest releases of the trackers themselves, in an environment of their own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from evalsuite.cli import main
from tests.sources import NIGHTLY

MAKE = Path(__file__).resolve().parents[1] / "exports" / "make.py"
UV = Path(sys.executable).with_name("uv")
LIBRARIES = {"wandb": ["wandb"], "mlflow": ["mlflow-skinny", "sqlalchemy", "alembic"], "trackio": ["trackio"]}


@pytest.mark.skipif(not NIGHTLY, reason="installs each library anew")
@pytest.mark.parametrize("name", LIBRARIES)
def test_what_the_library_writes_today_is_read(name, tmp_path, capsys):
    python = tmp_path / "env" / "bin" / "python"
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, tmp_path / "env"], check=True)
    subprocess.run([UV, "pip", "install", "--quiet", "--python", python, *LIBRARIES[name]], check=True)
    subprocess.run([python, MAKE, tmp_path / "made", name], check=True, capture_output=True)

    assert main(["parse", str(tmp_path / "made"), "--json"]) in (0, 4)
    rows = [row for row in json.loads(capsys.readouterr().out) if row["dialect"] == "history_tokens"]
    assert sorted({round(row["throughput"], -3) for row in rows}) == [81_000, 82_000]
    assert {(row["total_devices"], row["batch_size_per_device"]) for row in rows} == {(8, 4)}

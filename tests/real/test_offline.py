"""A machine without a network and with nothing installed: the report comes from the recorded runs and says so."""

import json
import os
import subprocess
import sys

import pytest

from evalsuite.launch.provision import virtualenvs


@pytest.fixture(scope="module")
def offline(tmp_path_factory):
    """`compare` where no framework can be installed: its process, and the folder of its report."""
    folder = tmp_path_factory.mktemp("offline")
    nothing = {
        "EVALSUITE_CACHE": str(folder / "cache"),
        "UV_CACHE_DIR": str(folder / "uv"),
        "UV_OFFLINE": "1",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_FIND_LINKS": "",
    }
    line = [sys.executable, "-m", "evalsuite", "compare", "--frameworks", "pytorch,mxnet", "--device", "cpu"]
    line += ["--runs", str(folder / "runs"), "--out", str(folder / "report")]
    done = subprocess.run(line, env={**os.environ, **nothing}, capture_output=True, text=True, timeout=400)
    return done, folder


def test_nothing_was_measured_and_the_terminal_says_why_each_framework_is_skipped(offline):
    done, folder = offline

    assert done.returncode == 3
    said = ("torch==2.13.0", "mxnet==1.9.1", "nothing was run", "runs recorded elsewhere")
    assert [each for each in said if each not in done.stderr] == []
    assert list((folder / "cache" / "environments").glob(f"*/{virtualenvs.RECORD}")) == []


def test_the_report_is_made_of_the_recorded_runs_and_marked(offline):
    _, folder = offline

    facts = json.loads((folder / "report" / "summary.json").read_text())

    assert facts["recorded_elsewhere"] is True
    assert {summary["case"]["framework"] for summary in facts["summaries"]} == {"pytorch", "mxnet"}
    assert {skip["case"]["framework"] for skip in facts["skips"]} == {"pytorch", "mxnet"}

"""A machine without a network and with nothing installed: nothing is measured, and why is said."""

import os
import subprocess
import sys

from evalsuite.launch.provision import virtualenvs


def test_nothing_is_measured_and_the_terminal_says_why_each_framework_is_skipped(tmp_path):
    nothing = {
        "EVALSUITE_CACHE": str(tmp_path / "cache"),
        "UV_CACHE_DIR": str(tmp_path / "uv"),
        "UV_OFFLINE": "1",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_FIND_LINKS": "",
    }
    line = [sys.executable, "-m", "evalsuite", "compare", "--frameworks", "pytorch,mxnet", "--device", "cpu"]
    line += ["--runs", str(tmp_path / "runs"), "--out", str(tmp_path / "report")]
    done = subprocess.run(line, env={**os.environ, **nothing}, capture_output=True, text=True, timeout=400)

    assert done.returncode == 3
    said = ("torch==2.13.0", "mxnet==1.9.1", "nothing was run", "make demo")
    assert [each for each in said if each not in done.stderr] == []
    assert list((tmp_path / "cache" / "environments").glob(f"*/{virtualenvs.RECORD}")) == []
    assert not (tmp_path / "report").exists()

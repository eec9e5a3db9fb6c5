"""The report of 1,000 runs, cold: wall time and peak memory. Yardsticks: pandas reading the same samples, and
the page's own libraries being imported.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import synthetic_runs

RUNS = 1000


def measured(argv: list[str], **environment: str) -> tuple[float, float]:
    """Wall seconds of *argv* and the peak memory in MiB of it and its children."""
    program = "import resource, subprocess, sys; code = subprocess.call(sys.argv[1:]); "
    program += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(code)"
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", program, *argv],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **environment},
        check=True,
    )
    return time.perf_counter() - began, int(done.stdout.split()[-1]) / 1024


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        synthetic_runs.write(root / "runs", RUNS)
        report = [sys.executable, "-m", "evalsuite", "report", "--runs", str(root / "runs"), "--out", str(root / "out")]
        samples = (
            f"import glob, pandas; [pandas.read_json(f, lines=True) for f in glob.glob('{root}/runs/*/r*/samples.*')]"
        )
        rows = [
            ("import pandas, matplotlib, jinja2", [sys.executable, "-c", "import pandas, matplotlib.figure, jinja2"]),
            ("pandas.read_json of the samples", [sys.executable, "-c", samples]),
            (f"evalsuite report, {RUNS} runs, cold", report),
            (f"evalsuite report, {RUNS} runs, again", report),
        ]
        print(f"report of {RUNS} synthetic runs on {os.cpu_count()} cores")
        for name, argv in rows:
            seconds, mebibytes = measured(argv, EVALSUITE_CACHE=str(root / "cache"))
            print(f"  {name:38} {seconds:7.2f} s   {mebibytes:7.0f} MiB")
        print(f"  report.html {(root / 'out' / 'report.html').stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()

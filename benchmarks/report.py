"""The report's goals beside what this machine measures: time and memory of 1,000 runs, size of 500 and 5,000 cases,
the filter in a browser.

Yardsticks: importing what draws and fills the page, and reading the same samples with the standard library. Wall time
depends on who else uses the machine; the CPU time beside it does so less. `python benchmarks/report.py --small` leaves
out the 5,000 cases, which take half a minute.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import synthetic_evaluations
import synthetic_runs

from evalsuite import paths, report
from evalsuite.report.page import assets

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import chromium

RUNS = 1000
GOAL_WALL_S, GOAL_MIB = 6.0, 400
GOAL_MB = {500: 3.0, 5000: 8.0}
GOAL_FILTER_MS, GOAL_SCRIPT_KB = 100, 90
CLICKS = 5
# From the click to the next frame, so that what the browser lays out and paints is counted.
FILTER_MS = """(async box => { const taken = []; for (let click = 0; click < %d; click++) {
  const began = performance.now(); box.click();
  await new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)));
  taken.push(performance.now() - began) } return taken })(document.querySelector('input[name=framework]'))"""
FIRST_PAINT_MS = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a command took, its children included."""

    wall_s: float
    cpu_s: float
    peak_mib: float


def as_installed() -> None:
    """Compiles the sources, as pip does when it installs them: a checkout may be told to keep no compiled files."""
    folders = [str(folder) for folder in (paths.PACKAGE, paths.ADAPTERS)]
    subprocess.run([sys.executable, "-m", "compileall", "-q", *folders], check=True)


def measured(argv: list[str], **environment: str) -> Cost:
    program = (
        "import json, resource, subprocess, sys; code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL); "
        "used = resource.getrusage(resource.RUSAGE_CHILDREN); "
        "print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss / 1024])); sys.exit(code)"
    )
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", program, *argv],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **environment},
        check=True,
    )
    wall_s = time.perf_counter() - began
    cpu_s, peak_mib = json.loads(done.stdout)
    return Cost(wall_s=wall_s, cpu_s=cpu_s, peak_mib=peak_mib)


def reports(root: Path) -> None:
    """1,000 run folders to the page, first with no figure drawn before, then with all of them."""
    synthetic_runs.write(root / "runs", RUNS)
    again = [sys.executable, "-m", "evalsuite", "report", "--runs", str(root / "runs"), "--out", str(root / "out")]
    samples = f"import glob, json; [json.loads(t) for f in glob.glob('{root}/runs/*/r*/samples.*') for t in open(f)]"
    rows = (
        ("import matplotlib, jinja2", [sys.executable, "-c", "import matplotlib.figure, jinja2"]),
        ("json.loads of the samples", [sys.executable, "-c", samples]),
        (f"evalsuite report, {RUNS} runs, cold", again),
        (f"evalsuite report, {RUNS} runs, again", again),
    )
    print(f"{RUNS} synthetic runs on {os.cpu_count()} cores; goal cold: {GOAL_WALL_S:g} s, {GOAL_MIB} MiB")
    yardstick = None
    for name, argv in rows:
        cost = measured(argv, EVALSUITE_CACHE=str(root / "cache"))
        yardstick = yardstick or cost.wall_s
        times = f"{cost.wall_s:7.2f} s wall {cost.cpu_s:7.2f} s CPU {cost.peak_mib:6.0f} MiB"
        print(f"  {name:36}{times}   {cost.wall_s / yardstick:5.1f} x the imports")
    first, second = _built(root / "out"), _built(root / "out", again, root)
    print(f"  built again byte for byte the same: {'yes' if first == second else 'NO'}")


def _built(out: Path, argv: list[str] | None = None, root: Path | None = None) -> bytes:
    if argv:
        measured(argv, EVALSUITE_CACHE=str(root / "cache"))
    return (out / "report.html").read_bytes()


def sizes(root: Path, numbers: list[int]) -> dict[int, Path]:
    """The page of evaluations with so many cases of five runs each."""
    pages = {}
    print("size of report.html, five runs a case")
    for number in numbers:
        evaluation = synthetic_evaluations.evaluation(number)
        began = time.process_time()
        page, *others = report.build(evaluation, root / str(number))
        parts = [path for path in others if path.suffix == ".html"]
        size = f"{page.stat().st_size / 1e6:5.2f} MB (goal {GOAL_MB[number]:g})"
        print(f"  {number:5} cases {size}, {len(parts)} parts, {time.process_time() - began:5.1f} s CPU")
        pages[number] = page
    return pages


def browser(root: Path, pages: dict[int, Path]) -> None:
    script = sum(len(assets.script(name).encode()) for name in ("boot.js", "report.js")) / 1e3
    print(f"in the browser; script {script:.0f} KB (goal {GOAL_SCRIPT_KB})")
    if not chromium.executable():
        print("  no Chromium is installed: the filter was not measured")
        return
    with chromium.browser(root / "profile") as tab:
        for number, page in pages.items():
            tab.visit(f"{page.as_uri()}#lang=en")
            taken = tab.evaluate(FILTER_MS % CLICKS)
            filtered = f"{statistics.median(taken):4.0f} ms (goal {GOAL_FILTER_MS}; worst {max(taken):.0f})"
            print(f"  {number:5} cases filtered in {filtered}, first paint {tab.evaluate(FIRST_PAINT_MS):4.0f} ms")


def main() -> None:
    numbers = [500] if "--small" in sys.argv[1:] else [500, 5000]
    as_installed()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        reports(root)
        os.environ["EVALSUITE_CACHE"] = str(root / "cache")
        browser(root, sizes(root, numbers))


if __name__ == "__main__":
    main()

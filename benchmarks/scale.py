"""What large evaluations cost: one run of 1,000 devices, reports of 1,000 and 10,000 runs, a page, many logs.

`python benchmarks/scale.py` prints the figures beside their goals, `--json` as JSON; `--only big_run,runs_1000` takes
some alone. The run of 1,000 devices is 125 hosts with 8 accelerators and 64 cores each, sampled twice a second for ten
minutes; the others are runs of a minute on one such host. The page is opened in a headless Chromium: the median of what
a click takes until the page is laid out again. Seconds are wall time, which whoever else uses the machine
lengthens; `cpu` beside them has the CPU seconds of all processes. Making the folders takes some minutes.
"""

import argparse
import json
import random
import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import planted_logs
import synthetic_runs
from harness import Cost, compile_sources, measure

from evalsuite import report
from evalsuite.core import paths
from evalsuite.core.model import Run
from evalsuite.runs.store import Store

sys.path[:0] = [str(paths.DATA.parent), str(paths.DATA.parent / "tests")]

import chromium  # noqa: E402
import synthetic  # noqa: E402

HOSTS, BIG_RUN_S = 125, 600.0
STEP_S = 4.0  # on one device; on 1,000 the 120 steps take nearly ten minutes
GOALS = {
    "big_run": {"disk_mb": 25.0, "cpu_s": 3.0, "peak_mib": 200.0},
    "runs_1000": {"cold_s": 6.0, "warm_s": 4.0},
    "page_1000": {"open_ms": 2000.0, "sheet_ms": 100.0, "language_ms": 300.0, "page_mb": 8.0},
    "imported_984": {"import_cpu_s": 64.0, "report_cpu_s": 60.0, "page_mb": 8.0},  # 192 s before, a third is asked
    "imported_10000": {"cold_cpu_s": 45.0, "after_one_cpu_s": 5.0, "peak_mib": 600.0},
    "runs_10000": {"cold_s": 60.0, "after_one_s": 25.0, "peak_mib": 1536.0},
}
READ = """
import sys
from pathlib import Path
from evalsuite.results.measure.measurement import measurement
from evalsuite.runs.store import RunFolder
found = measurement(RunFolder(Path(sys.argv[1])))
assert found.status == "ok" and len(found.utilisation) > 10, found
"""
CLICKS = """[...Array(9)].map(() => {{
  const began = performance.now();
  document.querySelector("{}").click();
  document.body.offsetHeight;
  return performance.now() - began;
}})"""
Figures = dict[str, float]


def big_run(root: Path) -> tuple[Figures, Figures]:
    """One run of 125 hosts: what it takes on the disk, and to read."""
    case = replace(synthetic_runs.BASE, nodes=HOSTS, devices_per_node=synthetic_runs.DEVICES)
    folder = synthetic_runs.write_run(
        Store(root), Run(case=case, repeat=0), random.Random(1), hosts=HOSTS, step_s=STEP_S, sampled_s=BIG_RUN_S
    )
    disk = sum(file.stat().st_size for file in folder.path.iterdir())
    cost = measure([sys.executable, "-c", READ, str(folder.path)])
    return {"disk_mb": disk / 1e6, "cpu_s": cost.cpu_s, "peak_mib": cost.peak_mib}, {"wall_s": cost.wall_s}


def runs_1000(root: Path) -> tuple[Figures, Figures]:
    """1,000 runs, first with nothing in the cache, then with all of it."""
    synthetic_runs.write(root / "runs", 1000)
    cold, warm = _report(root), _report(root)
    return {"cold_s": cold.wall_s, "warm_s": warm.wall_s}, {"cold": cold.cpu_s, "warm": warm.cpu_s}


def runs_10000(root: Path) -> tuple[Figures, Figures]:
    """10,000 runs, then one more."""
    synthetic_runs.write(root / "runs", 10_000)
    cold = _report(root)
    synthetic_runs.write_run(Store(root / "runs"), synthetic_runs.runs(10_001)[-1], random.Random(2))
    after = _report(root)
    figures = {"cold_s": cold.wall_s, "after_one_s": after.wall_s, "peak_mib": max(cold.peak_mib, after.peak_mib)}
    return figures, {"cold": cold.cpu_s, "after_one": after.cpu_s}


def page_1000(root: Path) -> tuple[Figures, Figures]:
    """A page of 980 cases in two languages: its size, its opening, another sheet of the board, a change of language."""
    page, *_ = report.build(synthetic.many(4900), root)
    with chromium.browser(root / "profile") as tab:
        tab.visit(page.as_uri())
        shown = {"cases": tab.evaluate("document.querySelectorAll('[id^=c-]').length")}
        opened_ms = tab.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
        clicked = {"sheet_ms": "input[name^=sheet]:not(:checked)", "language_ms": "input[name=lang]:not(:checked)"}
        taken = {name: statistics.median(tab.evaluate(CLICKS.format(box))) for name, box in clicked.items()}
    return {"open_ms": opened_ms, **taken, "page_mb": page.stat().st_size / 1e6}, shown


def imported_984(root: Path) -> tuple[Figures, Figures]:
    """4,856 logs of 984 cases, stamped to the step: their import and their report, in CPU seconds."""
    planted_logs.write(root)
    brought, written = _import(root, root), _report(root)
    page_mb = (root / "out" / "report.html").stat().st_size / 1e6
    figures = {"import_cpu_s": brought.cpu_s, "report_cpu_s": written.cpu_s, "page_mb": page_mb}
    return figures, {"import_wall_s": brought.wall_s}


def imported_10000(root: Path) -> tuple[Figures, Figures]:
    """10,000 such logs, then one more, of another case."""
    assert planted_logs.write(root, planted_logs.MORE, 10_000) == 10_000
    brought, cold = _import(root, root), _report(root)
    planted_logs.write(root / "more", [("fp32", 96)], 1)
    _import(root / "more", root)
    after, made = _report(root), json.loads((root / "out" / "summary.json").read_text())
    assert sum(len(row["runs"]) for row in made["summaries"]) == 10_001
    figures = {"cold_cpu_s": cold.cpu_s, "after_one_cpu_s": after.cpu_s, "peak_mib": max(cold.peak_mib, after.peak_mib)}
    return figures, {"import": brought.cpu_s, "cold_wall_s": cold.wall_s, "after_one_wall_s": after.wall_s}


def _import(logs: Path, root: Path) -> Cost:
    said = ["--pattern", planted_logs.PATTERN, "--facts", str(logs / "facts.toml"), "--runs", str(root / "runs")]
    said += ["--set", "campaign=c", "--set", "machine=m"]
    return measure([sys.executable, "-m", "evalsuite", "import", str(logs / "logs"), *said])


MEASURED: dict[str, Callable[[Path], tuple[Figures, Figures]]] = {
    "big_run": big_run,
    "runs_1000": runs_1000,
    "page_1000": page_1000,
    "imported_984": imported_984,
    "imported_10000": imported_10000,
    "runs_10000": runs_10000,
}


def _report(root: Path) -> Cost:
    argv = [sys.executable, "-m", "evalsuite", "report", "--runs", str(root / "runs"), "--out", str(root / "out")]
    return measure(argv, EVALSUITE_CACHE=str(root / "cache"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--only", default=",".join(MEASURED), help="some of them, with commas between")
    arguments = parser.parse_args()
    found, cpu_s = {}, {}
    compile_sources()
    for name in arguments.only.split(","):
        with tempfile.TemporaryDirectory() as folder:
            found[name], cpu_s[name] = MEASURED[name](Path(folder))
        if not arguments.json:
            for figure, value in found[name].items():
                print(f"{name:12}{figure:14}{value:9.2f}   goal {GOALS[name][figure]:g}", flush=True)
            print(f"{'':12}beside them {', '.join(f'{one} {value:.2f}' for one, value in cpu_s[name].items())}")
    if arguments.json:
        print(json.dumps({**found, "cpu": cpu_s}))


if __name__ == "__main__":
    main()

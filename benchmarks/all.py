"""The figures of start-up, parse and scale beside those recorded; fails where one is 1.3 times as large.

    python benchmarks/all.py [--only startup,parse,scale] [--record] [--against CHECKOUT]

`--record` writes what was measured as the new record. `--against` runs those of an earlier checkout too, in turn
with these, and holds the figures against that checkout, which needs no record and no machine like the recorded one.
"""

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).resolve().parent
RECORD = HERE / "recorded.toml"
MOST = 1.3
PRINTED = {  # benchmark → the line that has its figure
    "startup": ("help_to_bare_python", r"evalsuite --help .* ([\d.]+)x"),
    "parse": ("parse_to_grep", r"fastest of each: ([\d.]+) times grep"),
}
BENCHMARKS = (*PRINTED, "scale")


def measured(name: str, checkout: Path) -> dict[str, float]:
    line = [sys.executable, f"benchmarks/{name}.py", *(() if name in PRINTED else ("--json",))]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    done = subprocess.run(line, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{checkout}/benchmarks/{name}.py ended with {done.returncode}: {done.stderr[-500:]}")
    if name in PRINTED:
        figure, pattern = PRINTED[name]
        found = re.search(pattern, done.stdout)
        assert found is not None, done.stdout
        return {figure: float(found[1])}
    groups = json.loads(done.stdout)
    return {f"{group}_{figure}": value for group in groups if group != "cpu" for figure, value in groups[group].items()}


def written(figures: dict[str, float]) -> str:
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True).stdout
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"
    head = f'recorded = {datetime.now(UTC):%Y-%m-%d}\ncommit = "{commit.strip()}"\nmachine = "{machine}"\n\n[figures]\n'
    return head + "".join(f"{name} = {value:.4g}\n" for name, value in sorted(figures.items()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(BENCHMARKS))
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT")
    arguments = parser.parse_args()
    before: dict[str, float] = tomllib.loads(RECORD.read_text())["figures"]
    now: dict[str, float] = {}
    if arguments.against:
        before = {}
    for name in arguments.only.split(","):
        now |= measured(name, HERE.parent)
        before |= measured(name, arguments.against.resolve()) if arguments.against else {}
    worse = []
    for figure, value in now.items():
        ratio = value / before[figure] if before.get(figure) else None
        worse += [figure] if ratio and ratio > MOST else []
        beside = f"{before[figure]:12.2f} {ratio:8.2f}x" if ratio else "no record"
        print(f"{figure:28}{value:12.2f} {beside}")
    if arguments.record:
        RECORD.write_text(written({**before, **now}))
    elif worse:
        print(f"more than {MOST} times the record: {', '.join(worse)}")
    return int(bool(worse) and not arguments.record)


if __name__ == "__main__":
    sys.exit(main())

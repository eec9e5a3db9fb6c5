"""How well logs are read without any dialect: each log once as its dialect reads it, once by the shape of its lines.

    python benchmarks/without_dialects.py [--logs DIR]

DIR is a corpus with its SOURCES.csv; without it, the logs of tests/logs. Prints a line for each log and the sums:
right (within 10 %), wrong, refused, and what cannot be compared (the dialect gives no steps/s).
"""

import argparse
import csv
import statistics
from collections import Counter
from pathlib import Path

from evalsuite.logs.reading import Reading, read_file

WITHIN = 0.1
GIVEN = ({}, {"devices": 8}, {"devices": 8, "batch_per_device": 32})
ALIKE = "images samples sequences examples sentences", "words tokens", "frames timesteps"
COUNTS = [{f"{item}/s" for item in items.split()} for items in ALIKE]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=Path)
    sums: Counter[str] = Counter()
    for path, given in _logs(parser.parse_args().logs):
        read = [(read_file(path, **known), known) for known in ([given] if given else GIVEN)]
        known = next(((one, known) for one, known in read if one.status in ("ok", "partial") and _value(one)), None)
        if known is None:
            continue
        by_shape = read_file(path, dialects={}, **known[1])
        verdict = _judge(known[0], by_shape)
        sums[verdict] += 1
        print(f"{verdict:10} {path.name:44} {_value(known[0])} {known[0].unit}; {_value(by_shape)} {by_shape.unit}")
    print(dict(sums))


def _logs(folder: Path | None) -> list[tuple[Path, dict[str, int]]]:
    if folder is None:
        return [(path, {}) for path in sorted(Path("tests/logs").glob("*.log"))]
    columns = {"devices": "total_gpus", "batch_per_device": "batch_size_per_gpu"}
    with open(folder / "SOURCES.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    given = [{name: int(row[of]) for name, of in columns.items() if (row.get(of) or "").isdigit()} for row in rows]
    return [(folder / row["file"], known) for row, known in zip(rows, given, strict=True)]


def _judge(known: Reading, found: Reading) -> str:
    if not (value := _value(found)):
        return "refused"
    pair = {known.unit, found.unit}
    alike = len(pair) == 1 or any(pair <= units for units in COUNTS)
    if not alike and found.unit != "steps/s":  # sequences for tokens: by their steps
        value = _steps_per_s(found) or 0.0
    wanted = _value(known) if alike else _steps_per_s(known)
    if wanted is None:
        return "unlike"
    return "right" if abs(value / wanted - 1) < WITHIN else "wrong"


def _value(read: Reading) -> float | None:
    return read.throughput and read.throughput.items_per_s


def _steps_per_s(read: Reading) -> float | None:
    if (read.dialect or "").startswith("mlperf"):
        return None  # its steps are blocks and epochs
    window = read.throughput and read.throughput.window
    steps = [step for step in read.steps if window and window.first_step <= step.index <= window.last_step]
    items = [step.items / step.steps for step in read.steps if step.items and step.steps]
    if items:
        return (_value(read) or 0.0) / statistics.median(items)
    if steps and all(step.seconds for step in steps):
        return sum(step.steps for step in steps) / sum(step.seconds or 0.0 for step in steps)
    return None


if __name__ == "__main__":
    main()

"""Writes data/extrapolation.csv: how far the extrapolation is off on published scaling series.

    python tools/validate_extrapolation.py SERIES.csv [--out FILE]

SERIES.csv has the columns series_id, source_repo_or_doc, total_gpus and throughput: published figures, a series being
one framework, model, precision and batch size per device. Each series is cut behind its third, fourth, … scale, the
larger ones are predicted, and a row says what was published ÷ predicted.
"""

import argparse
import csv
import io
from collections.abc import Mapping
from pathlib import Path

from evalsuite.results.extrapolation import VALIDATION, Trial, trials

COLUMNS = ("series", "source", "scales", "measured_to", "target", "published_to_predicted")
HEADER = (
    "# Written by tools/validate_extrapolation.py from published scaling series; `source` is who prints the series.",
    "# A row: evalsuite/results/extrapolation.py was given the first `scales` scales, to `measured_to` devices;",
    "# at `target` devices the published throughput is so many times the predicted one.",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("series", type=Path)
    parser.add_argument("--out", type=Path, default=VALIDATION)
    arguments = parser.parse_args()
    arguments.out.write_text(text(arguments.series), encoding="utf-8")


def text(series: Path) -> str:
    """The whole file."""
    into = io.StringIO()
    into.write("\n".join(HEADER) + "\n")
    rows = csv.writer(into, lineterminator="\n")
    rows.writerow(COLUMNS)
    for name, (source, points) in sorted(_series(series).items()):
        rows.writerows(_row(trial) for trial in trials(name, source, sorted(points.items())))
    return into.getvalue()


def _series(path: Path) -> Mapping[str, tuple[str, dict[int, float]]]:
    """Series → (who prints it, devices → throughput)."""
    found: dict[str, tuple[str, dict[int, float]]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            _, points = found.setdefault(row["series_id"], (row["source_repo_or_doc"], {}))
            points[int(row["total_gpus"])] = float(row["throughput"])
    return found


def _row(trial: Trial) -> tuple:
    ratio = f"{trial.published_to_predicted:.4f}"
    return (trial.series, trial.source, trial.scales, trial.measured_to, trial.target, ratio)


if __name__ == "__main__":
    main()

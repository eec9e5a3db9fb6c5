"""Writes data/extrapolation.csv: the error of the extrapolation on published scaling series.

python tools/validate_extrapolation.py [--series FILE] [--out FILE]

A series is of one framework, model, precision and machine. Where the batch per device is stated and constant, the
largest scale is predicted from those up to a half of it, a quarter, … A row has published ÷ predicted.
"""

import argparse
import csv
import io
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from evalsuite.core import paths
from evalsuite.results.judge.extrapolation import (
    VALIDATION,
    Points,
    count_doublings,
    lacking,
    lacking_for,
    own_error,
    predicted,
    validations,
)

SERIES = paths.DATA / "scaling_series.csv"
COLUMNS = ("series", "source", "doublings", "scales", "measured_to", "target", "published_to_predicted", "own_error")
HEADER = (
    "# Written by tools/validate_extrapolation.py from data/scaling_series.csv; `source` is who prints the series.",
    "# A row: results/judge/extrapolation.py was given the first `scales` scales, to `measured_to` devices: these",
    "# are all up to target / 2^doublings. At `target` devices, the largest scale of the series, the published",
    "# throughput is so many times the predicted one. own_error: by how much, in logarithms, the largest of the given",
    "# scales lies from what those before it predict.",
)


@dataclass(frozen=True, kw_only=True)
class PublishedSeries:
    name: str
    source: str
    batches: frozenset[str | None]  # per device; None where unknown
    points: tuple[tuple[int, float], ...]  # (devices, throughput) by devices
    nodes: Mapping[int, int]  # devices → nodes

    @property
    def is_weak(self) -> bool:
        return len(self.batches) == 1 and None not in self.batches


@dataclass(frozen=True, kw_only=True)
class Trial:
    series: str
    source: str
    doublings: int
    scales: int  # how many were given to the model
    measured_to: int  # devices of the largest of them
    target: int
    published_to_predicted: float
    own_error: float  # of the scales that were given


def trials(series: PublishedSeries) -> Iterable[Trial]:
    if not series.is_weak:
        return
    target, published = series.points[-1]
    for doublings in range(1, count_doublings(target) + 1):
        points = [point for point in series.points if point[0] * 2**doublings <= target]
        nodes = {series.nodes[devices] for devices, _ in points}
        if not offered(points, nodes, series.nodes[target], doublings):
            continue
        if count_doublings(target / points[-1][0]) == doublings:
            yield Trial(
                series=series.name,
                source=series.source,
                doublings=doublings,
                scales=len(points),
                measured_to=points[-1][0],
                target=target,
                published_to_predicted=published / predicted(points, target),
                own_error=own_error(points),
            )


def offered(points: Points, nodes: Collection[int], to_nodes: int, doublings: int) -> bool:
    """Whether the model is used at this distance on these scales (docs/report.md#extrapolation), on so many *nodes*."""
    return lacking(points) is None and lacking_for(points, nodes, to_nodes, doublings) is None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--series", type=Path, default=SERIES)
    parser.add_argument("--out", type=Path, default=VALIDATION)
    arguments = parser.parse_args()
    arguments.out.write_text(text(arguments.series), encoding="utf-8")
    for band in validations(arguments.out).values():
        print(
            f"up to {2**band.doublings}x: {band.series} series of {band.sources} sources, median error "
            f"{band.median_error:.1%}, interval {band.low:.3f} to {band.high:.3f} at the median doubt, out of sample "
            f"{band.inside:.1%} inside, {band.covered:.1%} with one vote a source"
        )


def text(series: Path) -> str:
    into = io.StringIO()
    into.write("\n".join(HEADER) + "\n")
    rows = csv.writer(into, lineterminator="\n")
    rows.writerow(COLUMNS)
    for points in published(series):
        rows.writerows(_row(trial) for trial in trials(points))
    return into.getvalue()


def published(path: Path) -> Iterable[PublishedSeries]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    for name, members in groupby(sorted(rows, key=lambda row: row["series"]), key=lambda row: row["series"]):
        scales = sorted(members, key=lambda row: int(row["devices"]))
        yield PublishedSeries(
            name=name,
            source=scales[0]["source"],
            batches=frozenset(row["batch_per_device"] or None for row in scales),
            points=tuple((int(row["devices"]), float(row["throughput"])) for row in scales),
            nodes={int(row["devices"]): int(row["nodes"]) for row in scales},
        )


def _row(trial: Trial) -> tuple[str | int, ...]:
    numbers = f"{trial.published_to_predicted:.4f}", f"{trial.own_error:.4f}"
    return (trial.series, trial.source, trial.doublings, trial.scales, trial.measured_to, trial.target, *numbers)


if __name__ == "__main__":
    main()

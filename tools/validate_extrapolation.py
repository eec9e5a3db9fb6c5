"""Prints how far off the extrapolation is on published scaling series, and the width of its interval.

python tools/validate_extrapolation.py [--series FILE]

A series is of one framework, model, precision and machine. Where the batch per device is stated and constant, the
largest scale N is predicted from those up to N/2. The interval is conformal (Vovk, Gammerman, Shafer, 2005) over
sources, of one vote each: an error counts in doubts of its series.
"""

import argparse
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalsuite.core import paths
from evalsuite.core.model import by_key
from evalsuite.results.judge.extrapolation import COVERAGE, FARTHEST, Points, doubt, lacking, predicted

SERIES = paths.DATA / "scaling_series.csv"
FEWEST_SOURCES = 10  # of published series: with fewer, nine tenths of them is all of them

Votes = Mapping[str, Sequence[float]]
"""Source → a number of each of its series. All of them together are one vote of the source."""
Errors = Mapping[str, Sequence[tuple[float, float]]]
"""Source → (published ÷ predicted, the doubt of the scales given) of each series."""


@dataclass(frozen=True, kw_only=True)
class Validation:
    series: int
    sources: int
    median_error: float  # of |published ÷ predicted - 1|, one vote a source
    width: float  # of log(published ÷ predicted), in doubts of the series
    high: float  # of published ÷ predicted at the median doubt; the interval reaches as far down
    inside: float  # share of the series inside the interval that the other sources give, 0..1
    covered: float  # the same with one vote a source


def error(points: Points, nodes: Mapping[int, int]) -> tuple[float, float] | None:
    """(published ÷ predicted, doubt) of the largest of *points*; None where the others carry no forecast of it."""
    target, published = points[-1]
    given = [(devices, rate) for devices, rate in points if devices * FARTHEST <= target]
    if lacking(given, {nodes[devices] for devices, _ in given}, nodes[target]) or given[-1][0] * FARTHEST < target:
        return None
    return published / predicted(given, target), doubt(given)


def errors(file: Path = SERIES) -> Errors:
    rows = by_key((row["series"], row) for row in paths.read_rows(file))
    found: dict[str, list[tuple[float, float]]] = {}
    for scales in rows.values():
        scales.sort(key=lambda row: int(row["devices"]))
        if len({row["batch_per_device"] for row in scales}) > 1 or not scales[0]["batch_per_device"]:
            continue
        points = [(int(row["devices"]), float(row["throughput"])) for row in scales]
        if far := error(points, {int(row["devices"]): int(row["nodes"]) for row in scales}):
            found.setdefault(scales[0]["source"], []).append(far)
    return found


def validation(found: Errors) -> Validation | None:
    """None where the sources are too few."""
    if len(found) < FEWEST_SOURCES:
        return None
    scores = {source: [abs(math.log(ratio)) / doubt for ratio, doubt in own] for source, own in found.items()}
    width = _width(scores)
    doubts = {source: [doubt for _, doubt in own] for source, own in found.items()}
    inside = {source: [score <= _width(_without(scores, source)) for score in own] for source, own in scores.items()}
    return Validation(
        series=sum(map(len, found.values())),
        sources=len(found),
        median_error=_percentile({of: [abs(ratio - 1) for ratio, _ in own] for of, own in found.items()}, 0.5),
        width=width,
        high=math.exp(width * _percentile(doubts, 0.5)),
        inside=statistics.fmean(share for shares in inside.values() for share in shares),
        covered=statistics.fmean(statistics.fmean(shares) for shares in inside.values()),
    )


def _width(scores: Votes) -> float:
    """What holds nine tenths of the votes, and nine tenths of each source's where it is made of the others."""
    others = {source: _percentile(_without(scores, source), COVERAGE) for source in scores}
    needed = {source: [score / others[source] for score in own] for source, own in scores.items()}
    return max(1.0, _percentile(needed, COVERAGE)) * _percentile(scores, COVERAGE)


def _without(scores: Votes, source: str) -> Votes:
    return {other: own for other, own in scores.items() if other != source}


def _percentile(values: Votes, share: float) -> float:
    votes = sorted((value, 1 / len(own) / len(values)) for own in values.values() for value in own)
    total = 0.0
    for value, vote in votes:
        total += vote
        if total >= share - 1e-9:
            return value
    return votes[-1][0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--series", type=Path, default=SERIES)
    print(validation(errors(parser.parse_args().series)))


if __name__ == "__main__":
    main()

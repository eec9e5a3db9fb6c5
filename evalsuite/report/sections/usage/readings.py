"""The same resource of several devices as one reading."""

import statistics
from collections.abc import Sequence

from evalsuite.model import Utilisation

ADDED_UP = ("bytes/s", "1/s", "bytes")  # over devices of one kind; a percentage or a temperature is averaged


def combine_means(used: Sequence[Utilisation]) -> float:
    means = [usage.mean for usage in used]
    return sum(means) if used[0].unit in ADDED_UP else statistics.fmean(means)


def combine_spreads(used: Sequence[Utilisation]) -> tuple[float, float]:
    low, high = [usage.p5 for usage in used], [usage.p95 for usage in used]
    return (sum(low), sum(high)) if used[0].unit in ADDED_UP else (min(low), max(high))

"""One figure for the same reading of several devices."""

import statistics
from collections.abc import Sequence

from evalsuite.model import Utilisation

ADDED_UP = ("bytes/s", "1/s", "bytes")  # over devices of one kind; a percentage or a temperature is averaged


def together(used: Sequence[Utilisation]) -> float:
    """One figure for several devices: the sum of rates and amounts, the mean of percentages."""
    means = [one.mean for one in used]
    return sum(means) if used[0].unit in ADDED_UP else statistics.fmean(means)

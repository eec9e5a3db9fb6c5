"""Whether the base of a speed-up holds: over several starts of an evaluation, and by the work of its steps."""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from statistics import fmean

from evalsuite.core.findings import LoaderBusy, LoaderWaits
from evalsuite.core.model import Summary, by_key
from evalsuite.results.measure.statistics import BOOTSTRAP_LEVEL, SIGNIFICANCE, t_limit
from evalsuite.results.measure.summary import work_of_step

# of 46 honest pairs of a base and a scale (data/recorded*): at most 0.98, and 1.07
MORE_WORK, LESS_BUSY = 1.05, 1.10
BUSY_ALONE = 0.9  # 47 honest bases on CPUs: 90.7 % and more

Starts = Mapping[str | None, Sequence[float]]  # start of the evaluation → logarithms of what its runs gave


def by_start(row: Summary) -> Starts:
    return by_key((run.campaign, math.log(run.value)) for run in row.measurements if run.counts and run.value)


def starts(rows: Iterable[Summary]) -> set[str | None]:
    return {start for row in rows for start in by_start(row)}


def over_starts(row: Summary, base: Summary, level: float = BOOTSTRAP_LEVEL) -> tuple[float, float] | None:
    """Ends of the logarithm of their ratio, by least squares with an effect of each start; None: they share none
    (two-way layout without interaction; Scheffé, The Analysis of Variance, ch. 4)."""
    ours, theirs = by_start(row), by_start(base)
    weights = {start: 1 / (1 / len(ours[start]) + 1 / len(theirs[start])) for start in ours if start in theirs}
    squares, freedom = _scatter((ours, theirs))
    freedom += len(weights) - 1
    if not weights or freedom < 1:
        return None
    leads = {start: fmean(ours[start]) - fmean(theirs[start]) for start in weights}
    whole = math.fsum(weights.values())
    lead = math.fsum(weights[start] * leads[start] for start in weights) / whole
    squares += math.fsum(weights[start] * (leads[start] - lead) ** 2 for start in weights)
    reach = t_limit(1 - level, freedom) * math.sqrt(squares / freedom / whole)
    return lead - reach, lead + reach


def _scatter(rows: Iterable[Starts]) -> tuple[float, int]:
    """(sum of squares within the starts of each, its degrees of freedom)."""
    cells = [cell for starts in rows for cell in starts.values()]
    squares = math.fsum((value - fmean(cell)) ** 2 for cell in cells for value in cell)
    return squares, sum(map(len, cells)) - len(cells)


def shift(needed: Sequence[Summary]) -> tuple[float, bool]:
    """(how far the base's starts lie apart, whether further than the runs scatter)."""
    squares, freedom = _scatter(map(by_start, needed))
    pairs = [*combinations(by_start(needed[0]).values(), 2)]
    gaps = [(abs(fmean(a) - fmean(b)), math.sqrt(1 / len(a) + 1 / len(b))) for a, b in pairs]
    if not gaps or freedom < 1:
        return 0.0, False
    limit = t_limit(SIGNIFICANCE / len(pairs), freedom) * math.sqrt(squares / freedom)
    return math.expm1(max(gap for gap, _ in gaps)), any(gap > limit * root for gap, root in gaps)


def excess(base: Summary, rows: Iterable[Summary]) -> float:
    """How much faster the base could be, by the work of a step there and at the other scales, which take as much or
    more and wait as long or longer; and one device alone has nobody to wait for but its loader. 1.0: no trace."""
    paces = {row.case: pace for row in rows if (pace := _pace(row))}
    others = [pace for case, pace in paces.items() if case != base.case]
    resource = "job_cpu" if base.case.device == "cpu" else "gpu"
    shares = [use.mean / 100 for use in base.utilisation if use.resource == resource]
    waits = any(isinstance(each, LoaderWaits | LoaderBusy) for run in base.measurements for each in run.findings)
    alone = min([1.0, *(share for share in shares if 0 < share < BUSY_ALONE and not waits)])
    more_work, less_busy = 1.0, 1 / alone
    if base.case in paces and others:
        work, busy = paces[base.case]
        more_work = work / min(work for work, _ in others)
        less_busy = max(less_busy, max(busy for _, busy in others) / busy)
    return (more_work if more_work > MORE_WORK else 1.0) * (less_busy if less_busy > LESS_BUSY else 1.0)


def _pace(row: Summary) -> tuple[float, float] | None:
    """(work of a step and device, work a second and device), medians over the runs; None where it was not read."""
    read = []
    for run in row.measurements:
        window = run.throughput.window if run.throughput and run.counts else None
        if window and window.length_s and (work := work_of_step(run)):
            read.append((work, work * window.steps / window.length_s))
    return (statistics.median(work for work, _ in read), statistics.median(busy for _, busy in read)) if read else None

"""The few statistics of the report, each with its source. Pure functions over lists of floats."""

import functools
import math
import statistics
from bisect import bisect
from collections.abc import Iterator, Sequence, Set
from itertools import pairwise
from typing import TYPE_CHECKING

from evalsuite.core import paths
from evalsuite.core.findings import FewRepeats, Reshaped
from evalsuite.core.model import Interval

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

BOOTSTRAP_DRAWS = 10_000  # docs/numbers.md
BOOTSTRAP_SEED = 20  # any fixed number: the same runs must give the same interval
BOOTSTRAP_LEVEL = 0.95  # of the quantiles; what they cover is simulated
COVERAGE = paths.DATA / "statistics" / "ratio_coverage.csv"
SIGNIFICANCE = 0.05
MOST_AT_ONCE = 1 << 20  # places drawn, of 8 bytes
FIRST_LOOK = 8  # values of a series, between which so many or more lie: those of most others differ there already
BLOCK = 32  # series
FINEST = 6  # digits: no log prints more of a step time
ONE_WORK = 0.05  # relative scatter of steps that do the same
SMOOTH, STEEPER = 0.5, 4.0  # correlation of ranks of steps and of the next; fall of that of two series, a step apart
MIN_RUNS_TO_TELL = FewRepeats.needed  # below this no ratio has an interval and nothing is called faster


def median_with_range(values: Sequence[float]) -> Interval:
    """The median of *values* with minimum and maximum; a single value has no interval. Coverage = 1 - 2 x 0.5^n (Hahn &
    Meeker, Statistical Intervals, §5.2; docs/numbers.md)."""
    ordered = sorted(values)
    if len(ordered) < 2:
        return Interval(value=ordered[0])
    return Interval(
        value=statistics.median(ordered), low=ordered[0], high=ordered[-1], coverage=1 - 2 * 0.5 ** len(ordered)
    )


def coefficient_of_variation(values: Sequence[float]) -> float | None:
    """Standard deviation (n - 1) ÷ mean, or None for fewer than two values."""
    return None if len(values) < 2 else statistics.stdev(values) / statistics.fmean(values)


def likest_before(series: Sequence[Sequence[float]]) -> Iterator[tuple[int, int, "NDArray[float64]"]]:
    """Of each but the first, all of one length: which before it is likest in order of size, and into how many groups it
    falls whose distance is more than they differ by anywhere (0: too few, or both smooth, as means since the start);
    and the correlation of the ranks, step by step, with each before it, exact where one may tell (0 of values that
    scatter widely, of few different ones, and where they are nearly as like a step later; equal ones in opposite
    orders)."""
    import numpy

    logs = numpy.log(series)
    logs = numpy.round(logs - numpy.median(logs, axis=1, keepdims=True), FINEST)
    sizes = numpy.sort(logs, axis=1)
    some, gaps = sizes[:, :: len(sizes[0]) // FIRST_LOOK].copy(), numpy.sort(numpy.diff(sizes), axis=1)
    unlike = ((gaps > 0).sum(axis=1) < Reshaped.groups) | (1.4826 * numpy.median(abs(logs), axis=1) > ONE_WORK)
    both = ((_ranks(of), _ranks(of[:, ::-1])[:, ::-1]) for of in (logs, numpy.diff(logs)))
    (steps, other_steps), (changes, other_changes) = both
    smooth = (steps[:, 1:] * steps[:, :-1]).sum(axis=1) > SMOOTH
    for begin in range(0, len(sizes), BLOCK):
        of, rows = slice(begin, begin + BLOCK), slice(begin + BLOCK)  # some at once, each with all before them
        nears = numpy.ptp(some[of, None] - some[rows], axis=2) < gaps[of, 1 - Reshaped.groups, None]
        nears &= ~(smooth[of, None] & smooth[rows])  # others fall into fewer
        can_tell = ~(unlike[of, None] | unlike[rows])
        alikes = (other_steps[of] @ steps[rows].T) * can_tell
        for place in range(max(1, begin), begin + len(nears)):
            near, alike = numpy.flatnonzero(nears[place - begin, :place]), alikes[place - begin, :place]
            groups = numpy.zeros(place if near.size else 1)
            if near.size:
                least = numpy.maximum(numpy.ptp(sizes[near] - sizes[place], axis=1, keepdims=True), 10.0**-FINEST)
                groups[near] = 1 + (gaps[place] > least).sum(axis=1)
            if alike.max() > Reshaped.together:
                known, own = changes[:place], other_changes[place]
                later = numpy.maximum(known[:, 1:] @ own[:-1], known[:, :-1] @ own[1:])
                alike = numpy.minimum(alike, known @ own)
                alike *= (1 - later > STEEPER * (1 - known @ own)) & can_tell[place - begin, :place]  # a common trend
            yield int(groups.argmax()), int(groups.max()), alike


def _ranks(series: "NDArray[float64]") -> "NDArray[float64]":
    """Of each, of length 1; equal values by their place."""
    ranks = series.argsort(axis=1, kind="stable").argsort(axis=1) - (series.shape[1] - 1) / 2
    scaled: NDArray[float64] = ranks / math.sqrt((ranks[0] ** 2).sum())
    return scaled


def chance_of_equals(values: Set[float], others: Set[float]) -> float:
    """At most how often two honest sets share so many values, beside those that are one or two steps apart. A step is
    the smallest that they print. By chance each of the five distances is as frequent (Chernoff's bound of the binomial
    tail: Hoeffding, JASA 58, 1963, theorem 1)."""
    step = min(later - earlier for earlier, later in pairwise(sorted(values | others)))
    ordered, reach, equal = sorted(others), 2.5 * step, len(values & others)
    within = sum(bisect(ordered, value + reach) - bisect(ordered, value - reach) for value in values)
    counts = ((equal, within / 5), (within - equal, within * 4 / 5))
    return (
        math.exp(-math.fsum(n * math.log(n / by_chance) for n, by_chance in counts if n)) if 5 * equal > within else 1.0
    )


@functools.cache
def t_limit(level: float, freedom: int) -> float:
    """The |t| that Student's t exceeds with probability *level* on both sides together, by bisection."""
    low, high = 0.0, 1e6
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _beyond_t(middle, freedom) > level else (low, middle)
    return high


def _beyond_t(t: float, freedom: int) -> float:
    """P(|T| > *t*) (Abramowitz & Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, square = math.sin(angle), math.cos(angle) ** 2
    odd = freedom % 2
    term = total = (sine * math.cos(angle) if freedom > 1 else 0.0) if odd else sine
    for each in range(2 + odd, freedom, 2):
        term *= square * (each - 1) / each
        total += term
    return 1 - (2 / math.pi * (angle + total) if odd else total)


def ratio_of_medians(
    values: Sequence[float], base: Sequence[float], divisor: float = 1.0, level: float = BOOTSTRAP_LEVEL
) -> Interval:
    """median(*values*) ÷ median(*base*) ÷ *divisor*, with a percentile bootstrap interval over the runs. 10,000 draws,
    fixed seed (docs/numbers.md; Efron & Tibshirani, An Introduction to the Bootstrap, ch. 13). Its coverage is the
    simulated one (docs/numbers.md). With fewer than five runs on either side low and high are the least and the
    greatest ratio of any two runs, without a coverage; one run on either side gives neither."""
    value = statistics.median(values) / statistics.median(base) / divisor
    fewest = min(len(values), len(base))
    if fewest < 2:
        return Interval(value=value)
    if fewest < MIN_RUNS_TO_TELL:
        return Interval(value=value, low=min(values) / max(base) / divisor, high=max(values) / min(base) / divisor)
    ratios, tail = _drawn_ratios(tuple(values), tuple(base)), (1 - level) / 2
    low, high = (_quantile(ratios, share, divisor) for share in (tail, 1 - tail))
    coverage = ratio_coverage(len(values), len(base)) if level == BOOTSTRAP_LEVEL else level
    return Interval(value=value, low=low, high=high, coverage=coverage)


def _quantile(ordered: "NDArray[float64]", share: float, divisor: float) -> float:
    """As `numpy.quantile` of their quotients, in a thousandth of its time."""
    at = len(ordered) * share + (1 - share) - 1
    one, other = (float(each) / divisor for each in ordered[int(at) : int(at) + 2])
    part = at - int(at)
    return other - (other - one) * (1 - part) if part >= 0.5 else one + (other - one) * part


@functools.lru_cache(maxsize=1)
def _drawn_ratios(values: tuple[float, ...], base: tuple[float, ...]) -> "NDArray[float64]":
    of_values, of_base = _middles(len(values), len(base))
    (ratios := _medians(values, of_values) / _medians(base, of_base)).sort()
    return ratios


@functools.cache
def ratio_coverage(n: int, m: int) -> float:
    """How often the interval of a ratio of *n* runs to *m* holds the true one, simulated (benchmarks/judgement.py)."""
    rows = paths.read_rows(COVERAGE)
    simulated = {(int(row["n"]), int(row["m"])): float(row["coverage"]) for row in rows}
    sizes = sorted({size for pair in simulated for size in pair})
    fewer, more = sorted(max(size for size in sizes if size <= runs) for runs in (n, m))
    return simulated[fewer, more]


@functools.cache
def _middles(*sizes: int) -> "tuple[NDArray[int64], ...]":
    """For each of *sizes* the places of the two middle values of BOOTSTRAP_DRAWS resamples: shape (2, draws)."""
    import numpy

    draws = numpy.random.default_rng(BOOTSTRAP_SEED)
    middles = []
    for size in sizes:
        places, rows = [(size - 1) // 2, size // 2], max(1, MOST_AT_ONCE // size)
        counts = [min(rows, BOOTSTRAP_DRAWS - begin) for begin in range(0, BOOTSTRAP_DRAWS, rows)]
        drawn = (numpy.partition(draws.integers(0, size, size=(n, size)), places, axis=1)[:, places] for n in counts)
        middles.append(numpy.concatenate([*drawn]).T)
    return tuple(middles)


def _medians(values: Sequence[float], middles: "NDArray[int64]") -> "NDArray[float64]":
    import numpy

    ordered = numpy.sort(numpy.asarray(values, dtype=float))
    lower, upper = middles
    medians: NDArray[float64] = (ordered[lower] + ordered[upper]) / 2
    return medians

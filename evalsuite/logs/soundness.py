"""What makes a window's value less sure: figures printed with few digits, one long stall, another speed behind it."""

import math
import statistics
from collections.abc import Iterator, Sequence

from evalsuite.findings import CoarseFigures, LongStall, RestDiffers
from evalsuite.model import Finding

FEWEST_FIGURES = 10  # of fewer nobody can tell digits that are not printed from zeros
FEWEST_REPORTS = 3  # of two nobody can tell which is the usual one
STALLED = 1.5  # times the usual: of so few reports one that is slower by less is noise
LEAST_DIGITS = 3  # that scripts print behind the point, where all figures are the same and zeros may end them
MOST_DIGITS = 6  # behind the point; more are no rounding by a script
UNLIKE = RestDiffers.limit  # what lies behind the window, against its value
ERRORS = 2.0
EXACT = 1e-6  # a printed decimal as a float is that near to it


def coarse(figures: Sequence[float]) -> Iterator[Finding]:
    """A flag where the digits that a script prints leave room for more than the limit.

    Figures that move over several of their last digits make up for it: the errors of rounding cancel out.
    """
    digit = last_digit(figures)
    if digit is None or max(figures) - min(figures) > 2 * digit:
        return
    share = digit / 2 / statistics.fmean(figures)
    if share > CoarseFigures.limit:
        yield CoarseFigures(share=share)


def last_digit(figures: Sequence[float]) -> float | None:
    """What the last printed digit of *figures* counts: 0.001 for 0.004 and 0.005; None where that cannot be told."""
    if len(figures) < FEWEST_FIGURES or min(figures) <= 0:
        return None
    for digits in range(MOST_DIGITS + 1):
        scaled = [figure * 10**digits for figure in figures]
        if all(math.isclose(each, round(each), abs_tol=EXACT * max(1.0, each)) for each in scaled):
            return 10.0 ** -(max(digits, LEAST_DIGITS) if len(set(figures)) == 1 else digits)
    return None


def stalled(parts: Sequence[tuple[int, float]]) -> Iterator[Finding]:
    """A flag where one report of the window took far longer than the others. *parts*: steps and seconds of each."""
    if len(parts) < FEWEST_REPORTS:
        return
    usual = statistics.median(seconds / steps for steps, seconds in parts)
    longest = max(seconds - usual * steps for steps, seconds in parts)
    share = longest / math.fsum(seconds for _, seconds in parts)
    told = len(parts) >= FEWEST_FIGURES or max(seconds / steps for steps, seconds in parts) > STALLED * usual
    if share > LongStall.limit and told:
        yield LongStall(share=share, seconds=longest)


def error(sample: Sequence[float]) -> float:
    """By what share the mean of a *sample* may be off by chance alone: so many standard errors; 0 of one figure."""
    if len(sample) < 2:
        return 0.0
    return ERRORS * statistics.stdev(sample) / math.sqrt(len(sample)) / statistics.fmean(sample)

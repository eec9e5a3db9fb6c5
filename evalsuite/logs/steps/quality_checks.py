"""What makes a window's value less sure: figures printed with few digits, one long stall, another speed behind it."""

import math
import statistics
from collections.abc import Iterator, Sequence

from evalsuite.findings import CoarseFigures, LongStall
from evalsuite.model import Finding

FEWEST_FIGURES = 10  # of fewer nobody can tell digits that are not printed from zeros
FEWEST_REPORTS = 3  # of two nobody can tell which is the usual one
STALLED = 1.5  # times the usual: of so few reports one that is slower by less is noise
LEAST_DIGITS = 3  # that scripts print behind the point, where all figures are the same and zeros may end them
MOST_DIGITS = 6  # behind the point; more are no rounding by a script
ERRORS = 2.0
HOPELESS = 0.25  # of a time that may be wrong by more nothing is said
EXACT = 1e-6  # a printed decimal as a float is that near to it


def coarse(figures: Sequence[float]) -> Iterator[Finding]:
    """A flag where the printed digits leave room for more than the limit. Figures that move over several last digits
    make up for it: the errors of rounding cancel out."""
    digit = last_digit(figures)
    if digit is None or max(figures) - min(figures) > 2 * digit:
        return
    share = digit / 2 / statistics.fmean(figures)
    if share > CoarseFigures.limit:
        yield CoarseFigures(share=share)


def last_digit(figures: Sequence[float]) -> float | None:
    """0.001 for 0.004 and 0.005; None where it cannot be told."""
    if len(figures) < FEWEST_FIGURES or min(figures) <= 0:
        return None
    for digits in range(MOST_DIGITS + 1):
        scaled = [figure * 10**digits for figure in figures]
        if all(math.isclose(each, round(each), abs_tol=EXACT * max(1.0, each)) for each in scaled):
            return 10.0 ** -(max(digits, LEAST_DIGITS) if len(set(figures)) == 1 else digits)
    return None


def rounded(seconds: Sequence[float], tick_s: float | None, *, alone: bool) -> CoarseFigures | None:
    """A flag where the window is few ticks of its clock.

    A value that does not rest on the *seconds* *alone* has them beside it, and one or two reports confirm nothing.
    """
    if not tick_s or not seconds or not (alone or len(seconds) < FEWEST_REPORTS):
        return None
    share = tick_s / math.fsum(seconds)
    return CoarseFigures(share=share) if share > CoarseFigures.limit else None


def stalled(parts: Sequence[tuple[int, float]]) -> Iterator[Finding]:
    """A flag where one report took far longer than the others. *parts*: steps and seconds of each."""
    if len(parts) < FEWEST_REPORTS:
        return
    usual = statistics.median([seconds / steps for steps, seconds in parts])
    longest = max([seconds - usual * steps for steps, seconds in parts])
    share = longest / math.fsum([seconds for _, seconds in parts])
    told = len(parts) >= FEWEST_FIGURES or max(seconds / steps for steps, seconds in parts) > STALLED * usual
    if share > LongStall.limit and told:
        yield LongStall(share=share, seconds=longest)


def stalled_within(parts: Sequence[tuple[int, float]], tick_s: float) -> Iterator[Finding]:
    """The same of the lines joined to reports. Their clock is too coarse for a median: the usual is the mean of the
    others."""
    if len(parts) < FEWEST_REPORTS:
        return
    steps, seconds = max(parts, key=lambda part: part[1])
    total = math.fsum(each for _, each in parts)
    usual = (total - seconds) / (sum(each for each, _ in parts) - steps) * steps
    longest = seconds - usual - tick_s
    if longest > LongStall.limit * total and seconds > STALLED * usual:
        yield LongStall(share=longest / total, seconds=longest)


def error(sample: Sequence[float]) -> float:
    """By what share the mean of a *sample* may be off by chance: two standard errors; 0 of one figure."""
    if len(sample) < 2:
        return 0.0
    return ERRORS * statistics.stdev(sample) / math.sqrt(len(sample)) / statistics.fmean(sample)

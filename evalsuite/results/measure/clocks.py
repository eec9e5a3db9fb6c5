"""Which clocks tell a throughput, and whether there are two of them."""

from evalsuite.logs.steps.window import ARRIVALS, RATES
from evalsuite.model import Throughput


def same_source(found: Throughput) -> bool:
    """Is the value itself that of the arrival clock, which then cannot confirm it?"""
    return found.method == ARRIVALS and found.clock_items_per_s is not None


def one_clock(found: Throughput) -> bool:
    """Is the arrival clock all there is, so that nothing confirms the value?"""
    return same_source(found) and found.printed_items_per_s is None


def by_rates(found: Throughput) -> bool:
    """Is the value the mean of the rates that the script prints, and no clock's?"""
    return found.method == RATES

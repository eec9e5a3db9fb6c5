"""How sure a throughput is: a grade with its reason, and what could be wrong where two figures contradict each other.

A clock and a printed rate that are far apart make no number: nobody can say from outside which of them is true.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evalsuite.findings import (
    BatchDoubted,
    ClockDisagrees,
    CoarseFigures,
    JobAssumedLauncher,
    JobAssumedOnePrints,
    OwnAssumed,
)
from evalsuite.logs.formatting import rate
from evalsuite.logs.steps.job import Facts
from evalsuite.model import ARRIVALS, RATES, STAMPS, TIMES, Certainty, Finding, Throughput

FAR = BatchDoubted.limit  # this many times apart, two figures do not measure the same thing
NEARLY = 0.1  # a whole factor is told from noise at this distance
MOST_STEPS_APART = 64  # larger whole factors are met by chance
_ASSUMED = (JobAssumedLauncher, JobAssumedOnePrints, OwnAssumed)
_FIGURE = {
    STAMPS: "the log's stamps",
    ARRIVALS: "the arrival of its lines",
    TIMES: "its step times",
    RATES: "its rates",
}


@dataclass(frozen=True, kw_only=True)
class Grade:
    """How sure a number is, and why."""

    certainty: Certainty
    reason: str


def grade(measured: Throughput, findings: Sequence[Finding]) -> Grade:
    """The grade of *measured*, which has a value; *findings*: what was found in the log beside its window."""
    if any(isinstance(finding, _ASSUMED) for finding in findings):
        return Grade(certainty="assumed scope", reason="the log does not say whose rate it prints")
    if measured.method not in (STAMPS, ARRIVALS, TIMES):
        return Grade(certainty="printed only", reason="no clock in the log confirms the figure that it prints")
    name = _FIGURE[measured.method]
    others = [finding for finding in measured.findings if isinstance(finding, ClockDisagrees)]
    if others:
        apart = max(abs(finding.difference) for finding in others)
        second = _FIGURE.get(others[0].other_method, others[0].other_method)
        return Grade(certainty="one clock", reason=f"{name}; {second} differ from it by {100 * apart:.1f} %")
    coarse = any(isinstance(finding, CoarseFigures) for finding in measured.findings)
    if measured.method != TIMES and measured.printed_items_per_s is not None and not coarse:
        reason = f"{name} and what the script prints agree to within {100 * ClockDisagrees.limit:.0f} %"
        return Grade(certainty="two clocks agree", reason=reason)
    return Grade(certainty="one clock", reason=f"{name} alone")


def doubt(measured: Throughput, facts: Facts, *, relayed: bool) -> str | None:
    """Both figures and what could explain their ratio, where *measured* contradicts itself; else None.

    *relayed*: its clock is that of a relay (kubectl, journald), which may pass lines on late.
    """
    far = [one for one in measured.findings if isinstance(one, ClockDisagrees) and _factor(one) >= FAR]
    if not far:
        return None
    worst = max(far, key=_factor)
    method, other = (_FIGURE.get(each, each) for each in (worst.method, worst.other_method))
    why = " or ".join(_explanations(worst, facts, relayed=relayed))
    return (
        f"{method} give {rate(worst.items_per_s)} {measured.unit}, {other} {rate(worst.other_items_per_s)}: "
        f"{_factor(worst):.3g} times apart, so neither is the throughput. Possible: {why}"
    )


def _factor(finding: ClockDisagrees) -> float:
    ratio = finding.other_items_per_s / finding.items_per_s
    return max(ratio, 1 / ratio)


def _explanations(worst: ClockDisagrees, facts: Facts, *, relayed: bool) -> list[str]:
    factor = _factor(worst)
    whole = round(factor)
    near = whole >= 2 and whole <= MOST_STEPS_APART and math.isclose(factor, whole, rel_tol=NEARLY)
    found = []
    if facts.devices and facts.devices > 1 and math.isclose(factor, facts.devices, rel_tol=NEARLY):
        found.append(
            f"the rate is that of one of {facts.devices} devices (--scope per_device), or of all (--scope global)"
        )
    if facts.items_per_step is not None:
        accumulation = f" (gradient accumulation of {whole}?)" if near else ""
        found.append(f"the batch is not what a step trains{accumulation} (--batch-per-device)")
    if relayed:
        found.append("the stamps are those of a relay, which passed lines on late or together")
    if not found and _clock_is_faster(worst):
        return ["the script counts only some of the steps that it trains"]
    return found or ["time passed between the reports in which nothing was trained"]


def _clock_is_faster(finding: ClockDisagrees) -> bool:
    """Was more trained in the time that a clock tells than the script itself says? No pause explains that."""
    clocked = finding.method in (STAMPS, ARRIVALS)
    return clocked == (finding.items_per_s > finding.other_items_per_s)

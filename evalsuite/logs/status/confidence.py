"""How sure a throughput is: a grade with its reason, and what could be wrong where two figures contradict each other.

A clock and a printed rate that are far apart make no number: nobody can say from outside which of them is true.
"""

import functools
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
from evalsuite.messages import Message
from evalsuite.model import ARRIVALS, RATES, STAMPS, TIMES, Certainty, Finding, Throughput

FAR = BatchDoubted.limit  # this many times apart, two figures do not measure the same thing
NEARLY = 0.1  # a whole factor is told from noise at this distance
MOST_STEPS_APART = 64  # larger whole factors are met by chance
_ASSUMED = (JobAssumedLauncher, JobAssumedOnePrints, OwnAssumed)
_FIGURE = {
    STAMPS: Message("logs.clock_stamps"),
    ARRIVALS: Message("logs.clock_arrivals"),
    TIMES: Message("logs.clock_times"),
    RATES: Message("logs.clock_rates"),
}


@dataclass(frozen=True, kw_only=True)
class Grade:
    """How sure a number is, and why."""

    certainty: Certainty
    reason: str


def grade(measured: Throughput, findings: Sequence[Finding]) -> Grade:
    """The grade of *measured*, which has a value; *findings*: what was found in the log beside its window."""
    if any(isinstance(finding, _ASSUMED) for finding in findings):
        return Grade(certainty="assumed scope", reason=Message("logs.sure_scope"))
    if measured.method not in (STAMPS, ARRIVALS, TIMES):
        return Grade(certainty="printed only", reason=Message("logs.sure_printed"))
    name = _FIGURE[measured.method]
    others = [finding for finding in measured.findings if isinstance(finding, ClockDisagrees)]
    if others:
        apart = max(abs(finding.difference) for finding in others)
        second = _FIGURE.get(others[0].other_method, others[0].other_method)
        return Grade(
            certainty="one clock", reason=Message("logs.sure_differ", clock=name, other=second, share=100 * apart)
        )
    coarse = any(isinstance(finding, CoarseFigures) for finding in measured.findings)
    if measured.method != TIMES and measured.printed_items_per_s is not None and not coarse:
        reason = Message("logs.sure_agree", clock=name, share=100 * ClockDisagrees.limit)
        return Grade(certainty="two clocks agree", reason=reason)
    return Grade(certainty="one clock", reason=Message("logs.sure_alone", clock=name))


def doubt(measured: Throughput, facts: Facts, *, relayed: bool) -> str | None:
    """Both figures and what could explain their ratio, where *measured* contradicts itself; else None.

    *relayed*: its clock is that of a relay (kubectl, journald), which may pass lines on late.
    """
    far = [one for one in measured.findings if isinstance(one, ClockDisagrees) and _factor(one) >= FAR]
    if not far:
        return None
    worst = max(far, key=_factor)
    method, other = (_FIGURE.get(each, each) for each in (worst.method, worst.other_method))
    why = functools.reduce(_either, _explanations(worst, facts, relayed=relayed))
    return Message(
        "logs.read_doubt",
        method=method,
        rate=rate(worst.items_per_s),
        unit=measured.unit,
        other=other,
        other_rate=rate(worst.other_items_per_s),
        factor=_factor(worst),
        why=why,
    )


def _either(first: str, second: str) -> Message:
    return Message("logs.either", first=first, second=second)


def _factor(finding: ClockDisagrees) -> float:
    ratio = finding.other_items_per_s / finding.items_per_s
    return max(ratio, 1 / ratio)


def _explanations(worst: ClockDisagrees, facts: Facts, *, relayed: bool) -> Sequence[str]:
    factor = _factor(worst)
    whole = round(factor)
    near = whole >= 2 and whole <= MOST_STEPS_APART and math.isclose(factor, whole, rel_tol=NEARLY)
    found = []
    if facts.devices and facts.devices > 1 and math.isclose(factor, facts.devices, rel_tol=NEARLY):
        found.append(Message("logs.doubt_scope", devices=facts.devices))
    if facts.items_per_step is not None:
        accumulation = Message("logs.doubt_accumulation", steps=whole) if near else ""
        found.append(Message("logs.doubt_batch", accumulation=accumulation))
    if relayed:
        found.append(Message("logs.doubt_relay"))
    if not found and _clock_is_faster(worst):
        return [Message("logs.doubt_part")]
    return found or [Message("logs.doubt_paused")]


def _clock_is_faster(finding: ClockDisagrees) -> bool:
    """Was more trained in the time that a clock tells than the script itself says? No pause explains that."""
    clocked = finding.method in (STAMPS, ARRIVALS)
    return clocked == (finding.items_per_s > finding.other_items_per_s)

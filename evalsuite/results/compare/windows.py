"""Whether who is ahead rests on the window: the same comparison over each half of the measured steps."""

import statistics
from collections.abc import Iterable, Iterator, Sequence

from evalsuite.findings import AheadInFirstHalf, AheadInSecondHalf
from evalsuite.model import Finding, Measurement, Summary
from evalsuite.results.compare import fairness, significance, winners

FEWEST_REPORTS = 10  # of a run; half of fewer is no speed
SPOKEN = ("decided", "consistent", "unknown")  # what puts one ahead of all others


def findings(summaries: Sequence[Summary]) -> Iterator[Finding]:
    """One for each comparison whose winner is another over one half of the window, by at least what tells two apart."""
    for members in fairness.groups(summaries, fairness.FRAMEWORKS):
        result = winners.rank(members)
        if result is not None and result.evidence in SPOKEN and len(result.group) == 1:
            yield from _otherwise(result.first, members)


def _otherwise(first: Summary, members: Iterable[Summary]) -> Iterator[Finding]:
    halves = {member.case.id: _halves(member) for member in members}
    if not all(halves.values()):
        return
    framework = {member.case.id: member.case.framework for member in members}
    for half, rule in enumerate((AheadInFirstHalf, AheadInSecondHalf)):
        values = {name: each[half] for name, each in halves.items() if each}
        ahead = max(values, key=lambda name: statistics.median(values[name]))
        gap = statistics.median(values[ahead]) / statistics.median(values[first.case.id]) - 1
        if framework[ahead] != first.case.framework and gap >= significance.LEAST_GAP:
            yield rule(other=framework[ahead], gap=gap, where=first.case.id)
            return


def _halves(summary: Summary) -> tuple[list[float], list[float]] | None:
    halves = [_of_run(run) for run in summary.measurements if run.counts]
    known = [each for each in halves if each is not None]
    return ([a for a, _ in known], [b for _, b in known]) if known and len(known) == len(halves) else None


def _of_run(run: Measurement) -> tuple[float, float] | None:
    times: tuple[float, ...] = run.throughput.step_time_s if run.throughput else ()
    if run.value is None or len(times) < FEWEST_REPORTS:
        return None
    middle = len(times) // 2
    whole, first, second = map(statistics.fmean, (times, times[:middle], times[middle:]))
    return (run.value * whole / first, run.value * whole / second) if first > 0 and second > 0 else None

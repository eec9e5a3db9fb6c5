"""The verdicts: each acceptance criterion passed, failed, or undetermined and why (docs/report.md#verdicts)."""

import statistics as standard
from collections.abc import Sequence
from dataclasses import replace

from evalsuite.model import Case, Interval, Summary, Unmeasured, Utilisation, Verdict
from evalsuite.results.criteria import Criteria, MeanUtilisation
from evalsuite.results.fairness import FRAMEWORKS, groups, relative
from evalsuite.results.linear_speedup import DECIDING_ORIGINS, linear_speedup
from evalsuite.results.summary import FULL_REPEATS, valid

READINGS = {
    "C2a": ("gpu",),
    "C2b": ("gpu", "cpu", "memory", "disk", "network"),
}


def verdicts(
    summaries: Sequence[Summary | Unmeasured], criteria: Criteria, planned: Sequence[Case] = ()
) -> tuple[Verdict, ...]:
    """C1, C2a, C2b and C3 over *summaries*, as far as they are asked for. What was not measured decides nothing.

    *planned*: every case that was asked for, so that one without a value is not forgotten.
    """
    deciding = [summary for summary in valid(summaries) if summary.origin in DECIDING_ORIGINS]
    found: list[Verdict] = []
    if criteria.linear_speedup:
        found.append(linear_speedup(summaries, criteria.linear_speedup, planned))
    if criteria.mean_utilisation:
        found += [mean_utilisation(name, deciding, criteria.mean_utilisation) for name in READINGS]
    if criteria.fastest:
        found.append(fastest(deciding))
    return tuple(found)


def mean_utilisation(name: str, summaries: Sequence[Summary], asked: MeanUtilisation) -> Verdict:
    """C2a or C2b: the mean utilisation of the reading's resources, of the case where it is lowest."""
    undecided = Verdict(criterion=name, outcome="undetermined", threshold=asked.threshold)
    if not summaries:
        return replace(undecided, reason="no_samples")
    shares = [{resource: _share(one.utilisation, resource) for resource in READINGS[name]} for one in summaries]
    lacking = sorted({resource for found in shares for resource, share in found.items() if share is None})
    if "gpu" in lacking:
        return replace(undecided, reason="no_gpu")
    if lacking:
        return replace(undecided, reason="no_capacity", values=(("resources", ", ".join(lacking)),))
    means = [standard.fmean(share for share in found.values() if share is not None) for found in shares]
    lowest, worst = min(zip(means, summaries, strict=True), key=lambda pair: pair[0])
    measured = Interval(value=lowest)
    undecided = replace(undecided, measured=measured, n=worst.n, case=worst.case)
    if any(summary.partial for summary in summaries):
        return replace(undecided, reason="partial", values=(("n", str(worst.n)),))
    return _decided(undecided, measured, asked.threshold)


def fastest(summaries: Sequence[Summary]) -> Verdict:
    """C3: at the largest scale that two frameworks share, the fastest against the best other one."""
    found = _comparable(summaries)
    if not found:
        return Verdict(criterion="C3", outcome="information", reason="nothing_to_compare")
    largest = max(found, key=lambda members: (members[0].case.total_devices, len(members)))
    first, second = sorted(largest, key=lambda summary: -summary.items_per_s.value)[:2]
    ratio = relative(first, second)
    untold = "cannot_tell" if min(first.n, second.n) < FULL_REPEATS else "short_window"
    reason = {True: "faster", False: "no_difference", None: untold}[ratio.significant]
    return Verdict(
        criterion="C3",
        outcome="information",
        measured=ratio.ratio,
        n=min(first.n, second.n),
        case=first.case,
        reason=reason,
        values=(
            ("first", first.case.framework),
            ("second", second.case.framework),
            ("scale", first.case.scale),
        ),
        within_noise=ratio.significant is not True,
    )


def _comparable(summaries: Sequence[Summary]) -> list[list[Summary]]:
    """The groups in which two frameworks at least may be compared."""
    found = groups(summaries, FRAMEWORKS)
    return [members for members in found if len({one.case.framework for one in members}) > 1]


def _decided(undecided: Verdict, measured: Interval, threshold: float) -> Verdict:
    passed = measured.value >= threshold
    low, high = measured.low, measured.high
    return replace(
        undecided,
        outcome="pass" if passed else "fail",
        reason="met" if passed else "not_met",
        within_noise=low is not None and high is not None and low < threshold <= high,
    )


def _share(used: Sequence[Utilisation], resource: str) -> float | None:
    """Mean utilisation of *resource* as a share of its capacity, 0..1; None if it or its capacity is unknown."""
    matching = [
        reading for reading in used if reading.resource == resource or reading.resource.startswith(f"{resource}_")
    ]
    if resource in ("gpu", "cpu", "memory"):
        matching = [reading for reading in used if reading.resource == resource]
    shares = [_of_capacity(reading) for reading in matching]
    known = [share for share in shares if share is not None]
    return standard.fmean(known) if known else None


def _of_capacity(reading: Utilisation) -> float | None:
    if reading.unit == "%":
        return reading.mean / 100
    return reading.mean / reading.capacity if reading.capacity else None

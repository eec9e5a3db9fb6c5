"""The verdicts: each acceptance criterion passed, failed, or undetermined and why (docs/report.md#verdicts)."""

import statistics as standard
from collections.abc import Sequence
from dataclasses import replace

from evalsuite.model import Case, Interval, Summary, Unmeasured, Utilisation, Verdict, VerdictCell
from evalsuite.results.criteria import Criteria, MeanUtilisation
from evalsuite.results.fairness import FRAMEWORKS, SCALES, Common, Purpose, group, groups, relative
from evalsuite.results.linear_speedup import DECIDING_ORIGINS, linear_speedup
from evalsuite.results.summary import FULL_REPEATS, valid
from evalsuite.results.winners import Standing, Word, standing

BLOCKS = Purpose(free=FRAMEWORKS.free | SCALES.free)
REASONS: dict[Word, str] = {
    "fastest": "faster",
    "group": "no_difference",
    "consistent": "consistent",
    "untold": "cannot_tell",
    "unknown_facts": "unknown_facts",
}
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
    """C3: who is ahead, at the largest scale that two frameworks share; a cell for each block of cases."""
    found = _standings(summaries)
    if not found:
        return Verdict(criterion="C3", outcome="information", reason="nothing_to_compare")
    cells = tuple(_ahead(one) for one in found)
    widest = max(range(len(found)), key=lambda place: (_devices(found[place]), -place))
    shown = cells[widest]
    return Verdict(
        criterion="C3",
        outcome="information",
        measured=shown.measured,
        n=shown.n,
        case=shown.case,
        reason=shown.reason,
        values=shown.values,
        within_noise=shown.reason != "faster",
        cells=cells,
    )


def _ahead(found: Standing) -> VerdictCell:
    first, second = found.first, found.second
    reason = REASONS[found.word]
    if found.word == "untold" and min(first.n, second.n) >= FULL_REPEATS:
        reason = "short_window"
    values = [("first", first.case.framework), ("second", second.case.framework), ("scale", first.case.scale)]
    if found.word == "group":
        values.append(("group", ", ".join(one.case.framework for one in found.group)))
    if found.chance is not None:
        values.append(("chance", f"{found.chance:.4f}"))
    return VerdictCell(
        framework=first.case.framework,
        model=first.case.model,
        precision=first.case.precision,
        outcome="information",
        scales=(first.case.scale,),
        measured=relative(first, second).ratio,
        n=min(first.n, second.n),
        case=first.case,
        reason=reason,
        values=tuple(values),
    )


def _standings(summaries: Sequence[Summary]) -> list[Standing]:
    """Of each block, the standing at the largest scale that two frameworks share."""
    largest: dict[Common, Standing] = {}
    for members in groups(summaries, FRAMEWORKS):
        found = standing(members)
        block = group(members[0], BLOCKS)
        if found and (block not in largest or _devices(found) > _devices(largest[block])):
            largest[block] = found
    return list(largest.values())


def _devices(found: Standing) -> int:
    return found.first.case.total_devices


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

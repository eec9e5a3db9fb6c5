"""The acceptance criteria: passed, failed, or undetermined and why (REPORT.md §6.0)."""

import statistics as standard
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from evalsuite import paths
from evalsuite.errors import EvalsuiteError
from evalsuite.model import Interval, Summary, Target, Unmeasured, Utilisation, Verdict
from evalsuite.results.fairness import FRAMEWORKS, Common, group, relative
from evalsuite.results.summary import valid

DECIDING_ORIGINS = ("measured", "imported")
READINGS = {
    "C2a": ("gpu",),
    "C2b": ("gpu", "cpu", "memory", "disk", "network"),
}
DEFAULT = paths.DATA / "criteria" / "default.toml"


def read(path: Path = DEFAULT) -> dict:
    """The criteria file: criterion → its settings."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise EvalsuiteError(f"{path}: {error}; expected criteria like those of data/criteria/default.toml.") from error


def targets(criteria: Mapping) -> tuple[Target, ...]:
    """What trained models must reach. Raises EvalsuiteError for an entry that lacks a field or has an unknown one."""
    try:
        return tuple(Target(**entry) for entry in criteria.get("target", ()))
    except TypeError as error:
        raise EvalsuiteError(
            f"criteria, [[target]]: {error}; expected model, metric, value, epochs and, if not 0.3, tolerance."
        ) from error


def verdicts(summaries: Sequence[Summary | Unmeasured], criteria: Mapping) -> tuple[Verdict, ...]:
    """C1, C2a, C2b and C3 over *summaries*. Values that were not measured decide nothing."""
    deciding = [summary for summary in valid(summaries) if summary.origin in DECIDING_ORIGINS]
    return (
        linear_speedup(deciding, criteria["C1"]["threshold"], criteria["C1"]["min_nodes"]),
        *(mean_utilisation(name, deciding, criteria["C2"]["threshold"]) for name in READINGS),
        fastest(deciding),
    )


def linear_speedup(summaries: Sequence[Summary], threshold: float, min_nodes: int) -> Verdict:
    """C1: every measured scale of at least *min_nodes* nodes reaches *threshold* efficiency against 1 device."""
    in_scope = [summary for summary in summaries if summary.case.nodes >= min_nodes]
    about = {"criterion": "C1", "threshold": threshold}
    if not in_scope:
        largest = max((summary.case.nodes for summary in summaries), default=0)
        return Verdict(
            **about,
            outcome="undetermined",
            reason="no_large_scale",
            values=(("largest", str(largest)), ("min_nodes", str(min_nodes))),
        )
    worst = min(in_scope, key=lambda summary: summary.efficiency.value)
    about |= {"measured": worst.efficiency, "n": worst.n, "case": worst.case}
    based = [summary for summary in in_scope if summary.base.total_devices != 1]
    if based:
        return Verdict(
            **about,
            outcome="undetermined",
            reason="no_base",
            values=(("base", str(based[0].base.total_devices)),),
        )
    if any(summary.partial for summary in in_scope):
        return Verdict(**about, outcome="undetermined", reason="partial", values=(("n", str(worst.n)),))
    return _decided(about, worst.efficiency, threshold)


def mean_utilisation(name: str, summaries: Sequence[Summary], threshold: float) -> Verdict:
    """C2a or C2b: the mean utilisation of the reading's resources, of the case where it is lowest."""
    about = {"criterion": name, "threshold": threshold}
    if not summaries:
        return Verdict(**about, outcome="undetermined", reason="no_samples")
    shares = [
        (summary, [_share(summary.utilisation, resource) for resource in READINGS[name]]) for summary in summaries
    ]
    lacking = sorted(
        {r for _, found in shares for r, value in zip(READINGS[name], found, strict=True) if value is None}
    )
    if "gpu" in lacking:
        return Verdict(**about, outcome="undetermined", reason="no_gpu")
    if lacking:
        return Verdict(
            **about, outcome="undetermined", reason="no_capacity", values=(("resources", ", ".join(lacking)),)
        )
    worst, found = min(shares, key=lambda pair: standard.fmean(pair[1]))
    about |= {"measured": Interval(value=standard.fmean(found)), "n": worst.n, "case": worst.case}
    if any(summary.partial for summary in summaries):
        return Verdict(**about, outcome="undetermined", reason="partial", values=(("n", str(worst.n)),))
    return _decided(about, about["measured"], threshold)


def fastest(summaries: Sequence[Summary]) -> Verdict:
    """C3: at the largest scale that two frameworks share, the fastest against the best other one."""
    groups = _comparable(summaries)
    if not groups:
        return Verdict(criterion="C3", outcome="information", reason="nothing_to_compare")
    largest = max(groups, key=lambda members: (members[0].case.total_devices, len(members)))
    first, second = sorted(largest, key=lambda summary: -summary.items_per_s.value)[:2]
    ratio = relative(first, second)
    reason = {True: "faster", False: "no_difference", None: "cannot_tell"}[ratio.significant]
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
    groups: dict[Common, list[Summary]] = {}
    for summary in summaries:
        groups.setdefault(group(summary, FRAMEWORKS), []).append(summary)
    return [members for members in groups.values() if len({summary.case.framework for summary in members}) > 1]


def _decided(about: dict, measured: Interval, threshold: float) -> Verdict:
    passed = measured.value >= threshold
    crosses = measured.low is not None and measured.low < threshold <= measured.high
    return Verdict(
        **about,
        outcome="pass" if passed else "fail",
        reason="met" if passed else "not_met",
        within_noise=crosses,
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

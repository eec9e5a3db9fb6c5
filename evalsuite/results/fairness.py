"""May these two be compared? One room answers, with the reasons if not, and gives the ratio if so.

A comparison is about one thing: frameworks, an option, scales, or versions over time. That one thing may differ
(`Purpose.free`); whatever else is known of how the two were measured must be equal.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from evalsuite.model import Case, Interval, Summary
from evalsuite.results.statistics import differ, ratio_of_medians
from evalsuite.results.summary import counts, values

Common = tuple[tuple[str, str | None], ...]  # conditions and their values
RUNS = "runs"  # the obstacle that the same runs are part of both


@dataclass(frozen=True, kw_only=True)
class Purpose:
    """What a comparison is about."""

    free: frozenset[str]  # the conditions that may differ, by their names in `conditions`
    recorded: frozenset[str] = frozenset()  # those that both sides must have on record: that neither has is no match
    independent: bool = False  # no run may be part of both


FRAMEWORKS = Purpose(free=frozenset({"framework", "recipe", "framework_version", "origin"}))
SCALES = Purpose(free=frozenset({"nodes", "devices_per_node", "origin"}))
VERSIONS = Purpose(free=frozenset({"framework_version"}), recorded=frozenset({"environment"}), independent=True)
MACHINES = Purpose(free=frozenset({"framework_version", "environment"}), independent=True)


def setting(name: str) -> Purpose:
    """An option off and on: *name* is "xla", "precision", or "options.<its name>"."""
    return Purpose(free=frozenset({name}))


@dataclass(frozen=True, kw_only=True)
class Obstacle:
    """One reason why two summaries may not be compared: a condition that is not the same; None = not recorded."""

    key: str  # its name in `conditions`, or RUNS
    ours: str | None
    theirs: str | None


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """How many times as fast *numerator* is as *denominator*, and whether that is more than noise."""

    numerator: Case
    denominator: Case
    ratio: Interval
    significant: bool | None  # None: too few repeats or too short a window to tell


class ComparisonError(ValueError):
    """Two summaries were compared that must not be: a defect, since `obstacles` says so beforehand."""


def conditions(summary: Summary) -> dict[str, str | None]:
    """Everything that decides how fast *summary* is, by name; None = not recorded."""
    case = summary.case
    return {
        "framework": case.framework,
        "recipe": case.recipe,
        "model": case.model,
        "nodes": str(case.nodes),
        "devices_per_node": str(case.devices_per_node),
        "batch_per_device": str(case.batch_per_device),
        "precision": case.precision,
        "xla": "on" if case.xla else "off",
        "device": case.device,
        "protocol": f"{case.protocol.warmup_steps}+{case.protocol.measured_steps}",
        **{f"options.{name}": value for name, value in case.options},
        "unit": summary.unit,
        "framework_version": "; ".join(versions(summary)) or None,
        "environment": "; ".join(environments(summary)) or None,
        "origin": summary.origin,
    }


def environments(summary: Summary) -> tuple[str, ...]:
    """The machines of all runs that count; empty where none is recorded."""
    return tuple(sorted({run.environment for run in summary.measurements if counts(run) and run.environment}))


def versions(summary: Summary) -> tuple[str, ...]:
    """The framework's versions in all runs that count; empty where none is recorded."""
    found = {run.framework_version for run in summary.measurements if counts(run)}
    return tuple(sorted(version for version in found if version))


def group(summary: Summary, purpose: Purpose) -> Common:
    """What *summary* has in common with every summary that it may be compared with."""
    return tuple((key, value) for key, value in conditions(summary).items() if key not in purpose.free)


def groups(summaries: Iterable[Summary], purpose: Purpose) -> list[list[Summary]]:
    """*summaries* by what they have in common: within a group all may be compared, across groups none."""
    found: dict[Common, list[Summary]] = {}
    for one in summaries:
        found.setdefault(group(one, purpose), []).append(one)
    return list(found.values())


def obstacles(a: Summary, b: Summary, purpose: Purpose) -> tuple[Obstacle, ...]:
    """Why *a* and *b* may not be compared; empty if they may."""
    ours, theirs = conditions(a), conditions(b)
    found = [
        Obstacle(key=key, ours=ours.get(key), theirs=theirs.get(key))
        for key in dict.fromkeys([*ours, *theirs])
        if key not in purpose.free and _apart(ours.get(key), theirs.get(key), known=key in purpose.recorded)
    ]
    if purpose.independent and (shared := _receipts(a) & _receipts(b)):
        runs = ", ".join(sorted(name for name, _ in shared))
        found.append(Obstacle(key=RUNS, ours=runs, theirs=runs))
    return tuple(found)


def _apart(ours: str | None, theirs: str | None, *, known: bool) -> bool:
    return ours != theirs or (known and ours is None)


def share_runs(a: Summary, b: Summary) -> bool:
    """Whether some run is part of both: then the two are no independent measurements."""
    return bool(_receipts(a) & _receipts(b))


def _receipts(summary: Summary) -> set[tuple[str, float | None]]:
    """What tells one run from another: its log's hash, else its start, else its number."""
    return {
        (run.log_sha256 or run.started_at or f"r{run.run.repeat}", run.value)
        for run in summary.measurements
        if counts(run)
    }


def relative(a: Summary, b: Summary, purpose: Purpose = FRAMEWORKS) -> Ratio:
    """How many times as fast *a* is as *b*, with a bootstrap interval over the runs of both.

    Raises ComparisonError if there are obstacles.
    """
    found = obstacles(a, b, purpose)
    if found:
        why = "; ".join(f"{one.key} is {one.ours} and {one.theirs}" for one in found)
        raise ComparisonError(f"{a.case.id} and {b.case.id} cannot be compared: {why}")
    return Ratio(
        numerator=a.case,
        denominator=b.case,
        ratio=ratio_of_medians(values(a), values(b)),
        significant=tell_apart(a, b),
    )


def tell_apart(a: Summary, b: Summary) -> bool | None:
    """Whether two comparable summaries differ by more than noise; None if one has too few runs or steps to tell."""
    return None if a.partial or b.partial else differ(values(a), values(b))

"""What changed between two evaluations, case by case, and what cannot be compared and why.

The framework's version may differ: that is what is asked about. Everything else must be the same, or the
pair is not compared and says what stands in the way.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Literal

from evalsuite.model import Case, Interval, Summary, Unmeasured
from evalsuite.results.statistics import SIGNIFICANCE, differ, ratio_of_medians
from evalsuite.results.summary import FULL_REPEATS, counts, values

Outcome = Literal["faster", "slower", "no_difference", "cannot_tell"]
Side = Literal["before", "after"]


@dataclass(frozen=True, kw_only=True)
class Why:
    """A reason, as the key of its sentence (`why.<key>` in data/text/publishing) and what stands in it."""

    key: str
    values: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Change:
    """One case that both evaluations measured."""

    before: Summary
    after: Summary
    ratio: Interval  # median after ÷ median before, with a bootstrap interval
    outcome: Outcome
    why: Why | None = None  # given with "cannot_tell"

    @property
    def case(self) -> Case:
        return self.after.case

    @property
    def tested(self) -> bool:
        """Whether a test of significance was made."""
        return self.outcome != "cannot_tell"


@dataclass(frozen=True, kw_only=True)
class Unpaired:
    """A case that is not compared, and why."""

    case: Case
    only_in: Side | None  # None: both evaluations have it
    why: Why


@dataclass(frozen=True, kw_only=True)
class Changes:
    """All cases of two evaluations."""

    changes: tuple[Change, ...]
    unpaired: tuple[Unpaired, ...]

    def those(self, outcome: Outcome) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.outcome == outcome)

    @property
    def tested(self) -> int:
        return sum(change.tested for change in self.changes)

    @property
    def expected_by_chance(self) -> float:
        """How many of the tested cases would look changed if nothing had: at most 5 % of them."""
        return self.tested * SIGNIFICANCE


def between(
    before: Sequence[Summary | Unmeasured],
    after: Sequence[Summary | Unmeasured],
    *,
    across_environments: bool = False,
) -> Changes:
    """*before* and *after*, paired by case.

    With *across_environments* the machines may differ too: then the machines are compared, not the software.
    """
    old = {summary.case.id: summary for summary in before}
    new = {summary.case.id: summary for summary in after}
    found: list[Change] = []
    unpaired: list[Unpaired] = []
    for name in dict.fromkeys([*new, *old]):
        if name in old and name in new:
            one = pair(old[name], new[name], across_environments=across_environments)
            (found if isinstance(one, Change) else unpaired).append(one)
        elif name in new:
            unpaired.append(_alone(new[name], "after", before))
        else:
            unpaired.append(_alone(old[name], "before", after))
    return Changes(changes=tuple(found), unpaired=tuple(unpaired))


def pair(
    before: Summary | Unmeasured, after: Summary | Unmeasured, *, across_environments: bool = False
) -> Change | Unpaired:
    """One case in two evaluations, compared if that is fair."""
    if isinstance(before, Unmeasured):
        return Unpaired(case=after.case, only_in=None, why=_no_valid_run("before", before))
    if isinstance(after, Unmeasured):
        return Unpaired(case=after.case, only_in=None, why=_no_valid_run("after", after))
    why = obstacle(before, after, across_environments=across_environments)
    if why is not None:
        return Unpaired(case=after.case, only_in=None, why=why)
    outcome, why = _outcome(before, after)
    return Change(
        before=before,
        after=after,
        ratio=ratio_of_medians(values(after), values(before)),
        outcome=outcome,
        why=why,
    )


def obstacle(before: Summary, after: Summary, *, across_environments: bool = False) -> Why | None:
    """What forbids to compare *before* with *after*, the same case; None if nothing does."""
    if before.unit != after.unit:
        return Why(key="unit", values=(("before", before.unit), ("after", after.unit)))
    if before.origin != after.origin:
        return Why(key="origin", values=(("before", before.origin), ("after", after.origin)))
    if shared_runs(before, after):
        return Why(key="same_runs")
    return None if across_environments else _other_machine(before, after)


def shared_runs(before: Summary, after: Summary) -> bool:
    """Whether some run stands in both: then the two are no independent measurements."""
    return bool(_receipts(before) & _receipts(after))


def environments(summary: Summary) -> tuple[str, ...]:
    """The machines of the runs that count; empty where none is recorded."""
    return tuple(sorted({run.environment for run in summary.measurements if counts(run) and run.environment}))


def versions(summary: Summary) -> tuple[str, ...]:
    return tuple(sorted({run.framework_version for run in summary.measurements if run.framework_version}))


def _receipts(summary: Summary) -> set[tuple]:
    """What tells one run from another: its log's hash, else its start, else its number."""
    return {
        (run.log_sha256 or run.started_at or f"r{run.run.repeat}", run.value)
        for run in summary.measurements
        if counts(run)
    }


def _other_machine(before: Summary, after: Summary) -> Why | None:
    old, new = environments(before), environments(after)
    if not old or not new:
        return Why(key="machine_unknown")
    if old != new:
        return Why(key="machine", values=(("before", "; ".join(old)), ("after", "; ".join(new))))
    return None


def _outcome(before: Summary, after: Summary) -> tuple[Outcome, Why | None]:
    fewest = min(before.n, after.n)
    if fewest < FULL_REPEATS:
        return "cannot_tell", Why(key="too_few", values=(("n", str(fewest)), ("needed", str(FULL_REPEATS))))
    if before.partial or after.partial:
        return "cannot_tell", Why(key="short_window")
    if not differ(values(after), values(before)):
        return "no_difference", None
    return ("faster" if after.items_per_s.value > before.items_per_s.value else "slower"), None


def _no_valid_run(side: Side, one: Unmeasured) -> Why:
    """Why the case has no value: its first run's own reason, else how that run ended."""
    run = next(iter(one.measurements), None)
    reason = (run.reason or run.status) if run else ""
    return Why(key=f"no_valid_run_{side}", values=(("reason", reason),))


def _alone(summary: Summary | Unmeasured, side: Side, others: Sequence[Summary | Unmeasured]) -> Unpaired:
    """A case without a counterpart, with the one thing that its nearest relative has different."""
    relatives = [other.case for other in others if _related(other.case, summary.case)]
    nearest = min(relatives, key=lambda case: len(_differences(case, summary.case)), default=None)
    if nearest is None:
        return Unpaired(case=summary.case, only_in=side, why=Why(key=f"only_{side}"))
    differences = _differences(summary.case, nearest)
    told = ", ".join(f"{name} = {ours} / {theirs}" for name, ours, theirs in differences)
    return Unpaired(case=summary.case, only_in=side, why=Why(key=f"only_{side}_like", values=(("difference", told),)))


def _related(a: Case, b: Case) -> bool:
    return (a.framework, a.model) == (b.framework, b.model)


def _differences(a: Case, b: Case) -> list[tuple[str, str, str]]:
    """(field, in *a*, in *b*) of every field that the two cases do not share."""
    pairs = ((field.name, getattr(a, field.name), getattr(b, field.name)) for field in fields(Case))
    return [(name, _text(ours), _text(theirs)) for name, ours, theirs in pairs if ours != theirs]


def _text(value: object) -> str:
    if hasattr(value, "warmup_steps"):
        return f"{value.warmup_steps}+{value.measured_steps}"
    if isinstance(value, tuple):
        return " ".join(f"{name}={found}" for name, found in value) or "-"
    return str(value)

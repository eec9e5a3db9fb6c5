"""What changed between two evaluations, case by case; the framework's version alone may differ. With one campaign a
side, a change must be larger than campaigns of one software differ by (docs/numbers.md). With four a side the campaign
is the unit: its median counts."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evalsuite.core.findings import EqualRepeats
from evalsuite.core.model import Case, Interval, Row, Summary, Unmeasured, by_key
from evalsuite.results.compare import fairness, significance
from evalsuite.results.compare.fairness import Obstacle
from evalsuite.results.measure.statistics import ratio_of_medians
from evalsuite.results.measure.summary import FULL_REPEATS, values

Outcome = Literal["faster", "slower", "no_difference", "cannot_tell"]
Side = Literal["before", "after"]
BY_ATTENTION: tuple[Outcome, ...] = ("slower", "faster", "cannot_tell", "no_difference")
TOLD_FIRST = ("unit", "origin", fairness.CLOCKS, fairness.GROUNDS, fairness.RUNS, "environment")
LEAST_EFFECT = 0.05
SCALED, UNITS = 1e-4, 100  # run by run the same factor; so far apart no two versions of a program are
CAMPAIGNS = 4
NAMED = {"unit": "unit", "origin": "origin", "environment": "machine"}  # obstacle → key of its sentence


@dataclass(frozen=True, kw_only=True)
class Why:
    """A reason, as the key of its sentence (`why.<key>` in data/text/publishing) and the values in it."""

    key: str
    values: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Difference:
    """How the later of two sides differs from the earlier one."""

    ratio: Interval  # median after ÷ median before
    outcome: Outcome
    why: Why | None = None  # of "cannot_tell"

    @property
    def below_least(self) -> bool:
        return self.why is not None and self.why.key == "one_campaign"

    @property
    def tested(self) -> bool:
        return self.outcome != "cannot_tell" or self.below_least

    @property
    def shown(self) -> float:
        """Rounded towards 1 where below the least effect."""
        value = self.ratio.value
        return 1 + math.trunc(1000 * (value - 1)) / 1000 if self.below_least else value


@dataclass(frozen=True, kw_only=True)
class Change(Difference):
    """Of a case that two evaluations have."""

    before: Summary
    after: Summary
    by_campaigns: bool = False  # and not by runs

    @property
    def case(self) -> Case:
        return self.after.case


@dataclass(frozen=True, kw_only=True)
class Unpaired:
    case: Case
    only_in: Side | None  # None: both evaluations have it
    why: Why


@dataclass(frozen=True, kw_only=True)
class Changes:
    changes: tuple[Change, ...]
    unpaired: tuple[Unpaired, ...]

    def those(self, outcome: Outcome) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.outcome == outcome)

    @property
    def lost(self) -> tuple[Unpaired, ...]:
        return tuple(case for case in self.unpaired if case.why.key == "no_valid_run_after")

    @property
    def gone(self) -> tuple[Unpaired, ...]:
        return tuple(case for case in self.unpaired if case.only_in != "after" and case not in self.lost)

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        return tuple(outcome for outcome in BY_ATTENTION if self.those(outcome))


def between(before: Sequence[Row], after: Sequence[Row], *, across_environments: bool = False) -> Changes:
    """*across_environments*: machines are compared, not the software."""
    old, new = ({row.case: row for row in rows} for rows in (before, after))
    outcomes = [
        pair(old[case], new[case], across_environments=across_environments)
        if case in old and case in new
        else Unpaired(case=case, only_in=(side := "after" if case in new else "before"), why=Why(key=f"only_{side}"))
        for case in dict.fromkeys([*new, *old])
    ]
    return Changes(
        changes=tuple(outcome for outcome in outcomes if isinstance(outcome, Change)),
        unpaired=tuple(outcome for outcome in outcomes if isinstance(outcome, Unpaired)),
    )


def pair(
    before: Row, after: Row, *, across_environments: bool = False, least: float = LEAST_EFFECT
) -> Change | Unpaired:
    """One case in two evaluations. *least*: a smaller difference of two campaigns is no change."""
    if isinstance(before, Unmeasured):
        return Unpaired(case=after.case, only_in=None, why=_no_valid_run("before", before))
    if isinstance(after, Unmeasured):
        return Unpaired(case=after.case, only_in=None, why=_no_valid_run("after", after))
    purpose = fairness.MACHINES if across_environments else fairness.VERSIONS
    obstacles = fairness.obstacles(before, after, purpose)
    if obstacles:
        return Unpaired(case=after.case, only_in=None, why=_first(obstacles))
    ratio = ratio_of_medians(values(after), values(before))
    unlike = None if before.partial or after.partial else significance.differ(values(after), values(before))
    ours, theirs = campaign_medians(after), campaign_medians(before)
    if unlike is not None and min(len(ours), len(theirs)) >= CAMPAIGNS and ours.keys().isdisjoint(theirs):
        new, old = list(ours.values()), list(theirs.values())
        slower, faster = significance.apart(new, old), significance.apart(old, new)
        told: Outcome = "slower" if slower else "faster" if faster else "no_difference"
        return Change(before=before, after=after, ratio=ratio_of_medians(new, old), outcome=told, by_campaigns=True)
    outcome, why = _outcome(min(before.n, after.n), unlike, ratio.value, least)
    return Change(before=before, after=after, ratio=ratio, outcome=outcome, why=why)


def of_values(before: Sequence[float], after: Sequence[float]) -> Difference:
    """Two lists of rates, one of each run. Values that do not scatter are no repeats of their own (D04)."""
    equal = EqualRepeats.limit
    runs = [1 if len(of) > 1 and max(of) - min(of) < equal * min(of) else len(of) for of in (before, after)]
    ratio, unlike = ratio_of_medians(after, before), significance.differ(after, before)
    outcome, why = _outcome(min(runs), unlike, ratio.value, LEAST_EFFECT)
    shares = [new / old for old, new in zip(before, after, strict=False)]
    if len(before) == len(after) and min(runs) > 1 and max(shares) - min(shares) < SCALED * min(shares):
        outcome, why = "cannot_tell", Why(key="scaled", values=(("factor", f"{ratio.value:.4g}"),))
    elif not 1 / UNITS < ratio.value < UNITS:
        outcome, why = "cannot_tell", Why(key="units", values=(("factor", f"{ratio.value:.4g}"),))
    return Difference(ratio=ratio, outcome=outcome, why=why)


def verdict(change: Difference, at_most: float | None) -> Literal["pass", "fail", "undetermined"]:
    """Whether it became no slower; or, with *at_most*, lost by its interval no more than that share."""
    if at_most is None or not change.tested:
        return "fail" if change.outcome == "slower" else "pass" if change.tested else "undetermined"
    least, low, high = 1 - at_most, change.ratio.low, change.ratio.high
    if low is not None and low >= least:
        return "pass"
    return "fail" if change.outcome == "slower" and high is not None and high < least else "undetermined"


def campaign_medians(summary: Summary) -> dict[str, float]:
    """Campaign → the median of its runs that count; empty where that of some run is not known."""
    rates = by_key((run.campaign, run.value) for run in summary.measurements if run.counts and run.value is not None)
    return {name: statistics.median(values) for name, values in rates.items() if name and None not in rates}


def _first(obstacles: Sequence[Obstacle]) -> Why:
    first = min(obstacles, key=lambda each: (*TOLD_FIRST, each.key).index(each.key))
    if first.key == fairness.RUNS:
        return Why(key="same_runs")
    if first.key in (fairness.CLOCKS, fairness.GROUNDS):
        return Why(key="clocks_apart" if first.key == fairness.CLOCKS else "printed_only")
    if first.ours is None or first.theirs is None:
        return Why(key=f"{NAMED[first.key]}_unknown")
    fact = first.key.removeprefix(fairness.FACT)
    values = (("before", first.ours), ("after", first.theirs))
    return Why(key=NAMED[fact], values=values) if fact in NAMED else Why(key="fact", values=(*values, ("fact", fact)))


def _outcome(fewest: int, unlike: bool | None, ratio: float, least: float) -> tuple[Outcome, Why | None]:
    if fewest < FULL_REPEATS:
        return "cannot_tell", Why(key="too_few", values=(("n", str(fewest)), ("needed", str(FULL_REPEATS))))
    if unlike is None:
        return "cannot_tell", Why(key="short_window")
    if not unlike:
        return "no_difference", None
    if abs(ratio - 1) < least:
        return "cannot_tell", Why(key="one_campaign", values=(("least", f"{100 * least:.3g}%"),))
    return ("faster" if ratio > 1 else "slower"), None


def _no_valid_run(side: Side, row: Unmeasured) -> Why:
    reason = next((run.reason or run.status for run in row.measurements), "")
    return Why(key=f"no_valid_run_{side}", values=(("reason", reason),))

"""What is known of two results: one object, which every place prints and none computes again."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, cast, get_args

from evalsuite.core.findings import BusyMachine
from evalsuite.core.model import Interval, Summary
from evalsuite.results.compare import fairness, significance
from evalsuite.results.compare.fairness import Obstacle, Purpose
from evalsuite.results.compare.scaling import suspicious
from evalsuite.results.compare.significance import PairComparison
from evalsuite.results.measure.statistics import ratio_of_medians
from evalsuite.results.measure.summary import (
    DECIDING_ORIGINS,
    FULL_REPEATS,
    disturbances,
    failed_runs,
    median_s,
    short_window,
    values,
)

PUBLISHED = ("cited", "digitised")
FEWEST_RUNS = 3  # of fewer, no order is spoken of
Evidence = Literal[  # all that is said of two, in every form (docs/decisions/0024-one-decision-a-pair.md)
    "decided",  # the first is ahead
    "equal",  # within 1.5 %
    "open",  # five runs and more do not tell
    "preliminary",  # something is lacking
    "not_comparable",  # they may not be ranked with each other
]
Lack = Literal[  # of what is preliminary
    "repeats",  # all runs of the first lie above, and they are fewer than five
    "runs",  # they are fewer, shorter, failed or disturbed
    "campaign",  # the runs are not known to be of one
    "base",  # the higher value contradicts its own scaling (D12)
    "facts",  # some of the work or the place is not stated of both
    "source",  # they are other people's figures, which are not tested
    "clock",  # none of ours confirms them
]
Known = Evidence | Lack
CLEAR = ("decided", "equal", "open", "base")  # what is known of the two will not change by what else is stated
Needed = Literal["repeats", "window", "facts", "base", "campaign", "anew", "longer"]
ANEW = (7, 10, 15, 20)  # repeats of a new evaluation that an open order may ask for


@dataclass(frozen=True, kw_only=True)
class Deciding:
    needed: Needed
    runs: int = 0
    seconds: float | None = None
    facts: tuple[str, ...] = ()  # with "facts": those that are not stated for all
    chance: float | None = None  # of an order then, if lead and scatter are as seen; None: not known


@dataclass(frozen=True, kw_only=True)
class Decision:
    first: Summary  # of the higher median
    second: Summary
    known: Known
    compared: PairComparison
    obstacles: tuple[Obstacle, ...] = ()  # with "not_comparable"
    unknown: tuple[str, ...] = ()  # facts that are not stated of both
    rivals: int = 2

    @property
    def evidence(self) -> Evidence:
        return evidence(self.known)

    @property
    def lead(self) -> float:
        return speed(self.first) / speed(self.second) - 1

    @property
    def n(self) -> tuple[int, int]:
        return self.first.n, self.second.n

    @property
    def behind(self) -> bool:
        """Whether the runs put the second behind the first, whatever else is not known."""
        return self.compared.behind

    @property
    def flags(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*flags(self.first), *flags(self.second))))

    @cached_property
    def ratio(self) -> Interval:
        return ratio_of_medians(values(self.first), values(self.second))

    @cached_property
    def deciding(self) -> Deciding | None:
        return price(self.known, (self.first, self.second), self.unknown, self.rivals)


def flags(summary: Summary) -> tuple[str, ...]:
    findings = (*summary.findings, *(each for run in summary.measurements for each in run.findings))
    return tuple(dict.fromkeys(each.code for each in findings if each.severity == "flag"))


def decide(a: Summary, b: Summary, among: Sequence[Summary] = (), purpose: Purpose = fairness.FRAMEWORKS) -> Decision:
    """Of two that may be ranked with each other, and with all *among* whom they are."""
    first, second = _faster_first(a, b)
    compared, rivals = significance.compare(second, first, among), max(2, len(among))
    unknown = fairness.unknown_facts(first, second, purpose)
    known = _known(first, second, compared, unknown)
    return Decision(first=first, second=second, known=known, compared=compared, unknown=unknown, rivals=rivals)


def keep_apart(
    a: Summary, b: Summary, purpose: Purpose = fairness.FRAMEWORKS, also: tuple[Obstacle, ...] = ()
) -> Decision | None:
    """The decision that *a* and *b* are not ranked with each other; None if they may be. *also*: obstacles known."""
    first, second = _faster_first(a, b)
    unlike = tuple(dict.fromkeys((*also, *fairness.obstacles(first, second, purpose))))
    none = PairComparison(behind=False, basis="runs")
    return (
        Decision(first=first, second=second, known="not_comparable", compared=none, obstacles=unlike)
        if unlike
        else None
    )


def evidence(known: Known) -> Evidence:
    return cast(Evidence, known) if known in get_args(Evidence) else "preliminary"


def lack(known: Known) -> Lack | None:
    return cast(Lack, known) if known in get_args(Lack) else None


def _known(first: Summary, second: Summary, compared: PairComparison, unknown: Sequence[str]) -> Known:
    both, few = (first, second), min(first.n, second.n) < FULL_REPEATS
    if any(row.origin in PUBLISHED for row in both):
        return "source"
    if any(row.grounds == "printed" for row in both):
        return "clock"
    if min(first.n, second.n) < FEWEST_RUNS or any(map(_is_weak, both)) or (few and not compared.behind):
        return "runs"
    if unknown:
        return "facts"
    if not compared.behind:
        return "equal" if compared.equal else "open"
    if few and not compared.early:
        return "repeats"
    if compared.basis == "across":
        return "campaign"
    return "base" if suspicious(first) else "decided"


def _is_weak(summary: Summary) -> bool:
    undecided = summary.origin not in DECIDING_ORIGINS or failed_runs(summary) > 0
    unfit = short_window(summary) or (summary.partial and summary.n >= FULL_REPEATS)
    return undecided or unfit or bool(disturbances(summary, (BusyMachine,)))


def price(known: Known, rows: Sequence[Summary], unknown: Iterable[str], rivals: int) -> Deciding | None:
    """What would decide an order of *rows*, the highest first; None where nothing is known to, or it is decided."""
    if known == "base" or known == "campaign":
        return Deciding(needed=known)
    if known == "facts":
        return Deciding(needed="facts", facts=tuple(dict.fromkeys(unknown)))
    if known == "open":
        return _anew(rows, rivals)
    if known not in ("runs", "repeats"):
        return None
    again = [short_window(row) for row in rows]
    more = [FULL_REPEATS if short else max(0, FULL_REPEATS - row.n) for row, short in zip(rows, again, strict=True)]
    if not any(more):
        return None
    return Deciding(
        needed="window" if any(again) else "repeats",
        runs=sum(more),
        seconds=_seconds(rows, more, any(again)),
        chance=_chance(rows, rivals),
    )


def _anew(rows: Sequence[Summary], rivals: int) -> Deciding | None:
    """The fewest repeats of a new evaluation that tell the first two apart more likely than not; else longer runs."""
    chances = {runs: _chance(rows, rivals, runs) for runs in ANEW if runs > max(row.n for row in rows[:2])}
    known = {runs: chance for runs, chance in chances.items() if chance is not None}
    if not known:
        return None
    runs = next((runs for runs, chance in known.items() if chance >= 0.5), max(known))
    return Deciding(needed="anew" if known[runs] >= 0.5 else "longer", runs=runs, chance=known[runs])


def _chance(rows: Sequence[Summary], rivals: int, runs: int = FULL_REPEATS) -> float | None:
    """Of telling the first from the second with *runs* each, where lead and scatter stay as these runs show them."""
    first, second = rows[:2]
    scatter = significance.scatter_of_leads(second, first)
    if scatter is None:
        return None
    return significance.chance_of_telling(speed(first) / speed(second) - 1, scatter, runs, rivals)


def _seconds(rows: Sequence[Summary], more: Sequence[int], longer: bool) -> float | None:
    taken = [(runs, median_s(row, longer)) for row, runs in zip(rows, more, strict=True) if runs]
    known = [runs * seconds for runs, seconds in taken if seconds is not None]
    return sum(known) if len(known) == len(taken) else None


def speed(summary: Summary) -> float:
    return summary.items_per_s.value


def _faster_first(a: Summary, b: Summary) -> tuple[Summary, Summary]:
    return (a, b) if speed(a) >= speed(b) else (b, a)

"""Finished reports → the history of each case, with its regressions.

A line is one case in one environment with one unit and origin: between its points the day and the framework's version
differ. Two reports with the same runs are one measurement; the later, larger one counts.
"""

import itertools
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property

from evalsuite.core.model import Case, Machine, Summary, by_key
from evalsuite.report.data.finished import Finished, instant, moment
from evalsuite.results.compare import changes, fairness, significance
from evalsuite.results.compare.changes import Change, Changes, Together
from evalsuite.results.compare.fairness import Common
from evalsuite.results.measure import machines
from evalsuite.results.measure.statistics import SIGNIFICANCE
from evalsuite.results.measure.summary import valid

CAMPAIGNS = 4  # a side: with fewer no order is rare enough
MEDIAN_BEND = 1.6522  # median of |second difference| of standard normal values: 0.6745 × √6
UNKNOWN_SCATTER = 0.0165  # of three campaigns: the best of two is high by chance, and 7 % below it is told
NODES_APART = 2.0  # times the usual step on one node
UNDATED = datetime.min.replace(tzinfo=UTC)  # a point without a date is alone in its line


@dataclass(frozen=True, kw_only=True)
class Move:
    before: str  # id of the earlier report on the site
    after: str
    changes: Changes

    @property
    def together(self) -> Together | None:
        """Every case moved the same way: the campaigns differ, the cause is unknown."""
        return self.changes.together


@dataclass(frozen=True, kw_only=True)
class HistoryPoint:
    report: str  # the id of the report on the site
    started_at: str | None  # of its first run that counts; None where no run says when it was
    summary: Summary
    change: Change | None = None  # against the last full measurement before it; None for the first
    against: str | None = None  # the id of the report that holds that one

    @property
    def versions(self) -> tuple[str, ...]:
        return fairness.versions(self.summary)


@dataclass(frozen=True, kw_only=True)
class HistoryLine:
    case: Case
    machines: tuple[Machine, ...]  # empty where none is recorded
    hosts: tuple[str, ...] = ()  # of a line that alternated between nodes of unlike speed, and is one of each
    unit: str
    origin: str
    points: tuple[HistoryPoint, ...]  # by the time of their data
    since_best: Change | None = None  # the last full point, where it is significantly slower than the best before it

    @property
    def environment(self) -> str:
        return " + ".join((*map(str, self.machines), *self.hosts))

    @property
    def last(self) -> HistoryPoint:
        return self.points[-1]

    @property
    def judged(self) -> HistoryPoint | None:
        return next((point for point in reversed(self.points) if not point.summary.partial), None)

    @property
    def was_regressed(self) -> bool:
        earlier = self.points[: self.points.index(self.judged)] if self.judged else ()
        return bool(earlier) and line(earlier).regressed

    @property
    def regressed(self) -> bool:
        return self.slowed is not None

    @property
    def slowed(self) -> tuple[HistoryPoint, Change] | None:
        """The slower measurement, and its change from the best so far or from the full one before."""
        change = self.since_best or self.just_slowed
        return (self.judged, change) if self.judged and change else None

    @property
    def just_slowed(self) -> Change | None:
        change = self.judged.change if self.judged else None
        return change if change is not None and change.outcome == "slower" else None

    @property
    def untold(self) -> bool:
        """Whether the latest measurement has too few runs to be compared with the one before."""
        change = self.last.change
        return change is not None and change.outcome == "cannot_tell" and not change.tested


@dataclass(frozen=True, kw_only=True)
class History:
    lines: tuple[HistoryLine, ...]
    undated: tuple[HistoryLine, ...] = ()  # results without a date, one point each: shown, and compared with nothing

    @cached_property
    def moves(self) -> tuple[Move, ...]:
        return moves(
            (point.against, point.report, point.change)
            for line in self.lines
            for point in line.points
            if point.change and point.against
        )

    @cached_property
    def slowed_together(self) -> tuple[Move, ...]:
        """Reports that are the latest of their cases, all of which became slower."""
        latest = {line.last.report for line in self.lines}
        return tuple(
            move for move in self.moves if move.after in latest and move.together and move.together.outcome == "slower"
        )

    @cached_property
    def regressions(self) -> tuple[HistoryLine, ...]:
        """Without those that moved with all others: their cause is unknown."""
        together = {move.after for move in self.slowed_together}
        return tuple(line for line in self.lines if line.regressed and not _moved_with_all(line, together))

    @cached_property
    def untold(self) -> tuple[HistoryLine, ...]:
        together = {move.after for move in self.slowed_together}
        return tuple(line for line in self.lines if line.untold and line.last.report not in together)

    @property
    def tested(self) -> int:
        return sum(point.change.tested for line in self.lines for point in line.points if point.change)

    @property
    def expected_by_chance(self) -> float:
        return self.tested * SIGNIFICANCE

    def in_model(self, model: str) -> tuple[HistoryLine, ...]:
        return tuple(line for line in self.lines if line.case.model == model)

    def undated_in_model(self, model: str) -> tuple[HistoryLine, ...]:
        return tuple(line for line in self.undated if line.case.model == model)


def _moved_with_all(line: HistoryLine, together: set[str]) -> bool:
    return line.judged is not None and line.judged.report in together and not line.was_regressed


def history(reports: Iterable[tuple[str, Finished]]) -> History:
    by_line = _points_by_line(reports)
    undated = [line([point]) for point in by_line.pop(None, ())]
    lines = [line for points in by_line.values() for line in lines_by_node(points)]
    return History(
        lines=tuple(sorted(lines, key=_order)),
        undated=tuple(sorted(undated, key=lambda line: (*_order(line), line.last.report))),
    )


def _points_by_line(reports: Iterable[tuple[str, Finished]]) -> dict[Common | None, list[HistoryPoint]]:
    points = ((summary, _point(name, summary)) for name, report in reports for summary in valid(report.summaries))
    return by_key((key(summary) if point.started_at else None, point) for summary, point in points)


def learnt(reports: Iterable[tuple[str, Finished]]) -> Mapping[Common, float]:
    floors = {}
    for of, points in _points_by_line(reports).items():
        scatter = _campaign_cv(_without_repeated_runs(sorted(points, key=_when)))
        if of is not None and scatter is not None:
            floors[of] = scatter
    return floors


def key(summary: Summary) -> Common:
    return fairness.group(summary, fairness.VERSIONS)


def _order(line: HistoryLine) -> tuple[object, ...]:
    case = line.case
    return (case.model, case.series, case.total_devices, case.nodes, line.environment, line.unit)


def _point(report: str, summary: Summary) -> HistoryPoint:
    starts = [run.started_at for run in summary.measurements if run.counts and run.started_at]
    dated = [stamp for stamp in starts if moment(stamp)]
    return HistoryPoint(report=report, started_at=min(dated, key=instant, default=None), summary=summary)


def lines_by_node(points: Sequence[HistoryPoint]) -> list[HistoryLine]:
    """One line; of each node its own where they took turns and differ by more than each scatters.

    A change of nodes that came once is a change of the line: nobody knows what else came with it.
    """
    ordered = sorted(points, key=_when)
    of_node = by_key((_hosts(point), point) for point in ordered)
    turns = sum(_hosts(a) != _hosts(b) for a, b in itertools.pairwise(ordered))
    several = [each for each in of_node.values() if len(each) > 1]
    if () in of_node or turns <= len(of_node) or len(several) < 2 or not _unlike(several):
        return [line(points)]
    return [replace(line(each), hosts=hosts) for hosts, each in of_node.items()]


def _hosts(point: HistoryPoint) -> tuple[str, ...]:
    return tuple(sorted({host for run in point.summary.measurements if run.counts for host in run.hosts}))


def _unlike(of_nodes: Iterable[Sequence[HistoryPoint]]) -> bool:
    """Whether the levels of nodes are further apart than campaigns on one of them usually are."""
    levels = [[math.log(point.summary.items_per_s.value) for point in points] for points in of_nodes]
    steps = [abs(b - a) for each in levels for a, b in itertools.pairwise(each)]
    middles = [statistics.median(each) for each in levels]
    return max(middles) - min(middles) > NODES_APART * statistics.median(steps)


def line(points: Sequence[HistoryPoint]) -> HistoryLine:
    example = points[0].summary
    ordered = sorted(points, key=_when) if len(points) > 1 else points
    compared = _compared(_without_repeated_runs(ordered))
    return HistoryLine(
        case=example.case,
        machines=machines.distinct(fairness.machines(example)),
        unit=example.unit,
        origin=example.origin,
        points=tuple(compared),
        since_best=_since_best(compared),
    )


def _when(point: HistoryPoint) -> tuple[datetime, int, str]:
    return (moment(point.started_at) or UNDATED, point.summary.n, point.report)


def _without_repeated_runs(points: Sequence[HistoryPoint]) -> list[HistoryPoint]:
    kept: list[HistoryPoint] = []
    for point in points:
        kept = [earlier for earlier in kept if not fairness.share_runs(earlier.summary, point.summary)]
        kept.append(point)
    return kept


def _compared(points: Sequence[HistoryPoint]) -> list[HistoryPoint]:
    """Each against the last full measurement before it, or the one just before where none is full."""
    segment = list(points[:1])
    for point in points[1:]:
        before = next((point for point in reversed(segment) if not point.summary.partial), segment[-1])
        change = changes.pair(before.summary, point.summary, campaign_cv=_campaign_cv(segment))
        segment.append(replace(point, change=change, against=before.report) if isinstance(change, Change) else point)
    return segment


def _campaign_cv(points: Sequence[HistoryPoint]) -> float | None:
    """How much full campaigns scatter, from second differences: a steady trend adds nothing. None with fewer than four.

    Successive differences (von Neumann, Annals of Mathematical Statistics 12, 1941) took creep for scatter.
    """
    levels = [math.log(point.summary.items_per_s.value) for point in points if not point.summary.partial]
    if len(levels) < CAMPAIGNS:
        return None
    bends = [abs(a - 2 * b + c) for a, b, c in zip(levels, levels[1:], levels[2:], strict=False)]
    return statistics.median(bends) / MEDIAN_BEND


def _since_best(points: Sequence[HistoryPoint]) -> Change | None:
    """The last full point against the best before it, where more than luck makes it slower."""
    full = [point for point in points if not point.summary.partial]
    earlier = full[:-2]  # the one just before is compared already
    if not earlier:
        return None
    best = max(earlier, key=lambda point: point.summary.items_per_s.value)
    scatter = _campaign_cv(full[:-1]) or UNKNOWN_SCATTER
    change = changes.pair(best.summary, full[-1].summary, campaign_cv=scatter)
    if not isinstance(change, Change):
        return None
    if change.outcome == "slower":
        return change
    return replace(change, outcome="slower", why=None) if _crept([point.summary for point in full]) else None


def _crept(summaries: Sequence[Summary]) -> bool:
    """Whether the last campaigns all lie below as many successive earlier ones, and their medians 1 % lower.

    Of 2k equal campaigns a given k are the lowest in 1 of C(2k, k) cases. k is four, and more where the history offers
    so many earlier groups that one of them would lie above by chance (Bonferroni).
    """
    medians = [summary.items_per_s.value for summary in summaries]
    for k in range(CAMPAIGNS, len(medians) // 2 + 1):
        groups = len(medians) - 2 * k + 1
        if groups / math.comb(2 * k, k) <= SIGNIFICANCE:
            last = medians[-k:]
            return any(significance.apart(last, medians[first : first + k]) for first in range(groups))
    return False


def moves(compared: Iterable[tuple[str, str, Change]]) -> tuple[Move, ...]:
    """*compared*: ids of the earlier and the later report, and a change between them."""
    changes = by_key(((before, after), change) for before, after, change in compared)
    return tuple(
        Move(before=before, after=after, changes=Changes(changes=tuple(changes), unpaired=()))
        for (before, after), changes in changes.items()
    )


def nearest(moves: Iterable[Move], after: str) -> Move | None:
    return max(
        (move for move in moves if move.after == after), key=lambda move: len(move.changes.changes), default=None
    )

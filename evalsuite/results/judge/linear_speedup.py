"""C1, linear speed-up, per framework × model × precision (docs/report.md#verdicts).

Base and every scale in scope must be sound evidence; no scale is left out because it went badly.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evalsuite.findings import (
    BusyMachine,
    CoresIdle,
    JournalBroken,
    NothingExchanged,
    OddEfficiency,
    RepeatsMissing,
    RunMadeAgain,
    RunTakenAway,
    SuperLinear,
    UnstableRepeats,
)
from evalsuite.model import Case, Finding, Interval, Row, Summary, Unmeasured, Verdict, VerdictCell
from evalsuite.results.compare import fairness
from evalsuite.results.judge.criteria import LinearSpeedup
from evalsuite.results.measure.statistics import BOOTSTRAP_LEVEL, SIGNIFICANCE, ratio_of_medians
from evalsuite.results.measure.summary import DECIDING_ORIGINS, disturbances, failed_runs, valid, values

SUSPICIOUS = (SuperLinear, OddEfficiency, UnstableRepeats)  # D11, D12, D08: the numbers contradict themselves
DISTURBED = (BusyMachine, CoresIdle, NothingExchanged)  # of runs: a slowed base, or scales that do not work together
CHOSEN = (RunTakenAway, JournalBroken, RepeatsMissing)
WORST_FIRST = ("fail", "undetermined", "pass")
WITHOUT_CLOCK = {"cited": "not_measured", "printed": "printed_only", "disputed": "doubtful"}
COULD_NOT_START = 126  # exit codes from here on are the shell's or a signal's, not the framework's

Values = tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class _Series:
    rows: tuple[Row, ...]
    planned: tuple[Case, ...]
    min_nodes: int
    largest_only: bool = False

    @property
    def scope(self) -> tuple[Case, ...]:
        cases = dict.fromkeys([*self.planned, *(row.case for row in self.rows if row.origin in DECIDING_ORIGINS)])
        found = [case for case in cases if case.nodes >= self.min_nodes]
        most = max((case.total_devices for case in found), default=0)
        asked = [case for case in found if case.total_devices == most or not self.largest_only]
        return tuple(sorted(asked, key=lambda case: (case.total_devices, case.nodes)))

    @property
    def largest(self) -> int:
        return max((one.case.nodes for one in valid(self.rows) if one.origin in DECIDING_ORIGINS), default=0)

    @property
    def base(self) -> Summary | None:
        """The smallest scale with a value, of whatever origin."""
        return min(valid(self.rows), key=lambda one: (one.case.total_devices, one.case.nodes), default=None)

    def row(self, case: Case) -> Row | None:
        return next((row for row in self.rows if row.case == case), None)


def linear_speedup(rows: Sequence[Row], asked: LinearSpeedup, planned: Sequence[Case] = ()) -> Verdict:
    """C1 over *rows*: passed if every cell passes, failed if one fails; the worst cell is the one that is shown."""
    found = tuple(_cell(series, asked) for series in _by_cell(rows, planned, asked))
    verdict = Verdict(criterion="C1", outcome="undetermined", threshold=asked.threshold, min_nodes=asked.min_nodes)
    verdict = replace(verdict, scope=asked.scope.named, largest_only=asked.aggregation == "largest_scale")
    if not any(one.reason != "no_large_scale" for one in found):
        deciding = [one for one in valid(rows) if one.origin in DECIDING_ORIGINS]
        largest = max((one.case.nodes for one in deciding), default=0)
        return replace(verdict, reason="no_large_scale", values=_no_large(largest, asked), cells=found)
    worst = min(found, key=_badness)
    return replace(verdict, **worst.judged, within_noise=worst.reason == "spans", cells=found)


def _badness(cell: VerdictCell) -> tuple[int, bool, float]:
    value = cell.measured.value if cell.measured else 1.0
    return WORST_FIRST.index(cell.outcome), cell.reason == "no_large_scale", value


def _by_cell(rows: Sequence[Row], planned: Sequence[Case], criterion: LinearSpeedup) -> list[list[_Series]]:
    deciding = [row for row in rows if row.origin in DECIDING_ORIGINS]
    others = {row.case.series for row in rows} - {row.case.series for row in deciding}
    asked = [case for case in planned if case.series not in others]
    cells: dict[tuple[str, str, str], dict[tuple[str, str], None]] = {}
    for case in (*(row.case for row in deciding), *asked):
        cells.setdefault((case.framework, case.model, case.precision), {})[case.series, case.model] = None
    return [
        [
            _Series(
                rows=tuple(row for row in rows if (row.case.series, row.case.model) == name),
                planned=tuple(case for case in asked if (case.series, case.model) == name and not _cited(case, rows)),
                min_nodes=criterion.min_nodes,
                largest_only=criterion.aggregation == "largest_scale",
            )
            for name in names
        ]
        for names in cells.values()
    ]


def _cited(case: Case, rows: Sequence[Row]) -> bool:
    return any(row.case == case and row.origin not in DECIDING_ORIGINS for row in rows)


def _cell(series: Sequence[_Series], asked: LinearSpeedup) -> VerdictCell:
    found = [_judged(one, asked) for one in series]
    return min([one for one in found if one.reason != "no_large_scale"] or found, key=_badness)


def _judged(series: _Series, asked: LinearSpeedup) -> VerdictCell:
    example = (*(row.case for row in series.rows), *series.planned)[0]
    cell = VerdictCell.of(example, outcome="undetermined", scales=tuple(case.scale for case in series.scope))
    if not series.scope:
        return replace(cell, reason="no_large_scale", values=_no_large(series.largest, asked))
    failed = [case for case in series.scope if _failed_by_itself(series.row(case))]
    if failed:
        return replace(
            cell, outcome="fail", reason="framework_failed", case=failed[0], values=(("scales", scale_names(failed)),)
        )
    base = series.base
    measured = [one for one in map(series.row, series.scope) if isinstance(one, Summary)]
    if base is None or not measured:
        return replace(cell, reason="missing", values=(("scales", scale_names(series.scope)),))
    efficiencies = {one.case: _efficiency(one, base) for one in measured}
    worst = min(measured, key=lambda one: efficiencies[one.case].value)
    cell = replace(cell, measured=efficiencies[worst.case], n=worst.n, case=worst.case)
    if base.case.total_devices != 1:
        return replace(cell, reason="no_base", values=(("base", str(base.case.total_devices)),))
    doubt = _doubt(series, base, measured)
    if doubt is None or doubt[0] == "missing":
        sound = [one for one in measured if doubt is None or _doubt(series, base, [one], alone=True) is None]
        below = [one for one in sound if _below(one, base, asked.threshold, len(series.scope))]
        if below:
            lowest = min(below, key=lambda one: efficiencies[one.case].value)
            return replace(
                cell, outcome="fail", reason="not_met", measured=efficiencies[lowest.case], n=lowest.n, case=lowest.case
            )
    if doubt is not None:
        return replace(cell, reason=doubt[0], values=doubt[1])
    if all((efficiencies[one.case].low or 0.0) >= asked.threshold for one in measured):
        if any(one.origin == "imported" for one in (base, *measured)):
            return replace(cell, reason="users_word")
        scales = {one.case: one for one in (base, *measured)}.values()
        again = sum(each.attempts for one in scales for each in one.findings if isinstance(each, RunMadeAgain))
        if again:
            return replace(cell, outcome="pass", reason="met_again", values=(("attempts", str(again)),))
        return replace(cell, outcome="pass", reason="met")
    return replace(cell, reason="spans", values=(("n", str(min(base.n, worst.n))),))


def _doubt(
    series: _Series, base: Summary, measured: Sequence[Summary], *, alone: bool = False
) -> tuple[str, Values] | None:
    needed = (base, *measured)
    missing = [case for case in series.scope if not isinstance(series.row(case), Summary)]
    partial = [one for one in needed if one.partial]
    against: dict[Case, list[Finding]]
    against = {one.case: [each for each in one.findings if isinstance(each, SUSPICIOUS)] for one in valid(series.rows)}
    against |= {one.case: [*against[one.case], *disturbances(one, DISTURBED)] for one in needed}
    runs = [run for one in needed for run in one.measurements if run.counts]
    methods = sorted({run.throughput.method for run in runs if run.throughput})
    hosts = {machine.hardware for one in needed for machine in fairness.machines(one)}
    unlike = sorted({each.key for one in measured for each in fairness.obstacles(one, base, fairness.SCALES)})
    if missing and not alone:
        return "missing", (("scales", scale_names(missing)),)
    for grounds, reason in WITHOUT_CLOCK.items():
        if weak := [one.case for one in needed if one.grounds == grounds]:
            return reason, (("scales", scale_names(weak)),)
    if partial:
        fewest = min(partial, key=lambda one: one.n)
        return "partial", (("n", str(fewest.n)),)
    if broke := [one.case for one in needed if failed_runs(one)]:
        return "runs_failed", (("scales", scale_names(broke)), ("n", str(sum(map(failed_runs, needed)))))
    if not all(run.environment for run in runs):
        return "machine_unknown", ()
    if len(hosts) > 1:
        return "several_machines", (("machines", str(len(hosts))),)
    if unlike:
        return "unlike", (("conditions", ", ".join(unlike)),)
    if len(methods) > 1:
        return "several_methods", (("methods", ", ".join(methods)),)
    if chosen := [one.case for one in needed if any(isinstance(each, CHOSEN) for each in one.findings)]:
        return "taken_away", (("scales", scale_names(chosen)),)
    if unlike_campaigns := _campaigns(base, measured):
        return unlike_campaigns
    if any(against.values()):
        codes = sorted({each.code for found in against.values() for each in found})
        scales = scale_names([case for case, found in against.items() if found])
        return "suspicious", (("codes", ", ".join(codes)), ("scales", scales))
    return None


def _campaigns(base: Summary, measured: Sequence[Summary]) -> tuple[str, Values] | None:
    of_each = {one.case: {run.campaign for run in one.measurements if run.counts} for one in (base, *measured)}
    if unknown := [case for case, campaigns in of_each.items() if None in campaigns]:
        return "campaign_unknown", (("scales", scale_names(unknown)),)
    if other := [case for case, campaigns in of_each.items() if campaigns != of_each[base.case]]:
        return "several_campaigns", (("scales", scale_names(other)),)
    return None


def _efficiency(one: Summary, base: Summary, level: float = BOOTSTRAP_LEVEL) -> Interval:
    ideal = one.case.total_devices / base.case.total_devices
    return ratio_of_medians(values(one), values(base), ideal, level)


def _below(one: Summary, base: Summary, threshold: float, scales: int) -> bool:
    """Even as the worst of *scales* scales: Holm's first step (Scandinavian Journal of Statistics 6, 1979)."""
    high = _efficiency(one, base, 1 - SIGNIFICANCE / scales).high
    return high is not None and high < threshold


def _failed_by_itself(row: Row | None) -> bool:
    if not isinstance(row, Unmeasured) or row.origin not in DECIDING_ORIGINS or not row.measurements:
        return False
    return all(
        run.status == "failed"
        and run.fault is None
        and run.exit_code is not None
        and 0 < run.exit_code < COULD_NOT_START
        for run in row.measurements
    )


def _no_large(largest: int, asked: LinearSpeedup) -> Values:
    return (("largest", str(largest)), ("min_nodes", str(asked.min_nodes)))


def scale_names(cases: Sequence[Case]) -> str:
    return ", ".join(dict.fromkeys(case.scale for case in cases))

"""C1, linear speed-up, per framework × model × precision (docs/report.md#verdicts).

Base and every scale in scope must be sound evidence; no scale is left out because it went badly.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evalsuite.core.findings import (
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
from evalsuite.core.model import Case, Finding, Interval, Row, Summary, Unmeasured, Verdict, VerdictCell
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
        large = [case for case in cases if case.nodes >= self.min_nodes]
        most = max((case.total_devices for case in large), default=0)
        asked = [case for case in large if case.total_devices == most or not self.largest_only]
        return tuple(sorted(asked, key=lambda case: (case.total_devices, case.nodes)))

    @property
    def largest(self) -> int:
        return max((row.case.nodes for row in valid(self.rows) if row.origin in DECIDING_ORIGINS), default=0)

    @property
    def base(self) -> Summary | None:
        """The smallest scale with a value, of whatever origin."""
        return min(valid(self.rows), key=lambda row: (row.case.total_devices, row.case.nodes), default=None)

    def row(self, case: Case) -> Row | None:
        return next((row for row in self.rows if row.case == case), None)


def linear_speedup(rows: Sequence[Row], asked: LinearSpeedup, planned: Sequence[Case] = ()) -> Verdict:
    """C1 over *rows*: passed if every cell passes, failed if one fails; the worst cell is the one that is shown."""
    cells = tuple(_cell(series, asked) for series in _by_cell(rows, planned, asked))
    verdict = Verdict(criterion="C1", outcome="undetermined", threshold=asked.threshold, min_nodes=asked.min_nodes)
    verdict = replace(verdict, scope=asked.scope.named, largest_only=asked.aggregation == "largest_scale")
    if not any(cell.reason != "no_large_scale" for cell in cells):
        deciding = [row for row in valid(rows) if row.origin in DECIDING_ORIGINS]
        largest = max((row.case.nodes for row in deciding), default=0)
        return replace(verdict, reason="no_large_scale", values=_no_large(largest, asked), cells=cells)
    worst = min(cells, key=_badness)
    return replace(verdict, **worst.judged, within_noise=worst.reason == "spans", cells=cells)


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
    cells = [_judged(each, asked) for each in series]
    return min([each for each in cells if each.reason != "no_large_scale"] or cells, key=_badness)


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
    measured = [row for row in map(series.row, series.scope) if isinstance(row, Summary)]
    if base is None or not measured:
        return replace(cell, reason="missing", values=(("scales", scale_names(series.scope)),))
    efficiencies = {row.case: _efficiency(row, base) for row in measured}
    worst = min(measured, key=lambda row: efficiencies[row.case].value)
    cell = replace(cell, measured=efficiencies[worst.case], n=worst.n, case=worst.case)
    if base.case.total_devices != 1:
        return replace(cell, reason="no_base", values=(("base", str(base.case.total_devices)),))
    doubt = _doubt(series, base, measured)
    if doubt is None or doubt[0] == "missing":
        sound = [row for row in measured if doubt is None or _doubt(series, base, [row], alone=True) is None]
        below = [row for row in sound if _below(row, base, asked.threshold, len(series.scope))]
        if below:
            lowest = min(below, key=lambda row: efficiencies[row.case].value)
            return replace(
                cell, outcome="fail", reason="not_met", measured=efficiencies[lowest.case], n=lowest.n, case=lowest.case
            )
    if doubt is not None:
        return replace(cell, reason=doubt[0], values=doubt[1])
    if all((efficiencies[row.case].low or 0.0) >= asked.threshold for row in measured):
        if any(row.origin == "imported" for row in (base, *measured)):
            return replace(cell, reason="users_word")
        scales = {row.case: row for row in (base, *measured)}.values()
        again = sum(each.attempts for row in scales for each in row.findings if isinstance(each, RunMadeAgain))
        if again:
            return replace(cell, outcome="pass", reason="met_again", values=(("attempts", str(again)),))
        return replace(cell, outcome="pass", reason="met")
    return replace(cell, reason="spans", values=(("n", str(min(base.n, worst.n))),))


def _doubt(
    series: _Series, base: Summary, measured: Sequence[Summary], *, alone: bool = False
) -> tuple[str, Values] | None:
    needed = (base, *measured)
    missing = [case for case in series.scope if not isinstance(series.row(case), Summary)]
    partial = [row for row in needed if row.partial]
    against: dict[Case, list[Finding]]
    against = {row.case: [each for each in row.findings if isinstance(each, SUSPICIOUS)] for row in valid(series.rows)}
    against |= {row.case: [*against[row.case], *disturbances(row, DISTURBED)] for row in needed}
    runs = [run for row in needed for run in row.measurements if run.counts]
    methods = sorted({run.throughput.method for run in runs if run.throughput})
    hosts = {machine.hardware for row in needed for machine in fairness.machines(row)}
    unlike = sorted({each.key for row in measured for each in fairness.obstacles(row, base, fairness.SCALES)})
    if missing and not alone:
        return "missing", (("scales", scale_names(missing)),)
    for grounds, reason in WITHOUT_CLOCK.items():
        if weak := [row.case for row in needed if row.grounds == grounds]:
            return reason, (("scales", scale_names(weak)),)
    if partial:
        fewest = min(partial, key=lambda row: row.n)
        return "partial", (("n", str(fewest.n)),)
    if broke := [row.case for row in needed if failed_runs(row)]:
        return "runs_failed", (("scales", scale_names(broke)), ("n", str(sum(map(failed_runs, needed)))))
    if not all(run.environment for run in runs):
        return "machine_unknown", ()
    if len(hosts) > 1:
        return "several_machines", (("machines", str(len(hosts))),)
    if unlike:
        return "unlike", (("conditions", ", ".join(unlike)),)
    if len(methods) > 1:
        return "several_methods", (("methods", ", ".join(methods)),)
    if chosen := [row.case for row in needed if any(isinstance(each, CHOSEN) for each in row.findings)]:
        return "taken_away", (("scales", scale_names(chosen)),)
    if unlike_campaigns := _campaigns(base, measured):
        return unlike_campaigns
    if any(against.values()):
        codes = sorted({each.code for findings in against.values() for each in findings})
        scales = scale_names([case for case, findings in against.items() if findings])
        return "suspicious", (("codes", ", ".join(codes)), ("scales", scales))
    return None


def _campaigns(base: Summary, measured: Sequence[Summary]) -> tuple[str, Values] | None:
    of_each = {row.case: {run.campaign for run in row.measurements if run.counts} for row in (base, *measured)}
    if unknown := [case for case, campaigns in of_each.items() if None in campaigns]:
        return "campaign_unknown", (("scales", scale_names(unknown)),)
    if other := [case for case, campaigns in of_each.items() if campaigns != of_each[base.case]]:
        return "several_campaigns", (("scales", scale_names(other)),)
    return None


def _efficiency(summary: Summary, base: Summary, level: float = BOOTSTRAP_LEVEL) -> Interval:
    ideal = summary.case.total_devices / base.case.total_devices
    return ratio_of_medians(values(summary), values(base), ideal, level)


def _below(summary: Summary, base: Summary, threshold: float, scales: int) -> bool:
    """Even as the worst of *scales* scales: Holm's first step (Scandinavian Journal of Statistics 6, 1979)."""
    high = _efficiency(summary, base, 1 - SIGNIFICANCE / scales).high
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

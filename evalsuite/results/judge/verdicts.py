"""The verdicts: each acceptance criterion passed, failed, or undetermined and why (docs/numbers.md#verdicts). C1,
linear speed-up, and C2, mean utilisation, are one rule over cases with a threshold (`_judge`). No scale is left out
because it went badly: base and every scale in scope must be sound evidence."""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evalsuite.core import findings as rules
from evalsuite.core.model import (
    DECIDING_ORIGINS,
    WORST_FIRST,
    Case,
    Finding,
    Interval,
    Measurement,
    Row,
    Summary,
    Unmeasured,
    Utilisation,
    Verdict,
    VerdictCell,
    answer,
    by_key,
)
from evalsuite.results.compare import fairness
from evalsuite.results.compare.fairness import SCALES
from evalsuite.results.compare.significance import LEAST_GAP_ACROSS
from evalsuite.results.judge import baseline
from evalsuite.results.judge.criteria import Criteria, Threshold
from evalsuite.results.measure.statistics import BOOTSTRAP_LEVEL, SIGNIFICANCE, ratio_of_medians
from evalsuite.results.measure.summary import FULL_REPEATS, disturbances, failed_runs, short_window, valid, values

SUSPICIOUS = (rules.SuperLinear, rules.OddEfficiency, rules.UnstableRepeats)  # the numbers contradict themselves
DISTURBED = (rules.BusyMachine, rules.CoresIdle, rules.NothingExchanged)  # a slowed base, or scales apart
CHOSEN = (rules.RunTakenAway, rules.JournalBroken, rules.RepeatsMissing)
COULD_NOT_START = 126  # exit codes from here on are the shell's or a signal's, not the framework's
CRITERIA = ("C2a", "C2b")  # of the GPUs alone, and of all resources
RESOURCES = ("gpu", "cpu", "memory", "disk", "network")
OF_THE_JOB = ("gpu", "cpu", "memory")
LEAST_SAMPLES = 10  # a run and device, on average: of fewer the mean is that of a moment
MOST_USED = 1.02  # of a capacity, as of a share in data/meters.toml: above it what is stated is wrong

Doubt = Mapping[str, Any]  # of `answer`
Shares = dict[str, float]  # resource → share of its capacity
Reached = Mapping[Case, Interval]
Rows = Sequence[Summary]


def verdicts(
    summaries: Sequence[Row], criteria: Criteria, planned: Sequence[Case] = (), nic_gbit_s: float | None = None
) -> tuple[Verdict, ...]:
    """C1, C2a and C2b over *summaries*, as far as asked for. *nic_gbit_s*: of a node, for cards that state nothing."""
    judged: list[Verdict] = []
    if first := criteria.C1:  # of weak scaling: the threshold is about a kept batch
        weak = [row for row in summaries if row.case.strong_batch is None]
        asked = [case for case in planned if case.strong_batch is None]
        verdict = _linear_speedup(weak, first, asked)
        if (summaries or planned) and not (weak or asked):
            verdict = replace(verdict, **answer("no_value", "strong_only"))
        judged.append(verdict)
    if second := criteria.C2:
        judged += _mean_utilisation(summaries, second, planned, nic_gbit_s)
    return tuple(judged)


def _of_cells(verdict: Verdict, cells: Sequence[VerdictCell]) -> Verdict:
    """Passed if every cell passes, failed if one fails; the worst cell is the one that is shown."""
    worst = min(cells, key=_badness)
    return replace(verdict, **worst.judged, cells=tuple(cells))


def _badness(cell: VerdictCell) -> tuple[int, bool, float]:
    value = cell.measured.value if cell.measured else 1.0
    return WORST_FIRST.index(cell.outcome), "no_large_scale" in cell.notes, value


def _judge(cell: VerdictCell, reached: Reached, rows: Rows, below: Rows, doubt: Doubt | None) -> VerdictCell:
    """Fails if some are *below* the threshold beyond doubt, and passes without *doubt*; the worst of them is shown."""
    if shown := below or [row for row in rows if row.case in reached]:
        worst = min(shown, key=lambda row: reached[row.case].value)
        cell = replace(cell, measured=reached[worst.case], n=worst.n, case=worst.case)
    if below:
        return replace(cell, outcome="fail", reason="not_met")
    return replace(cell, **(doubt or {"outcome": "pass", "reason": "met"}))


def _no_large(asked: Threshold) -> Doubt:
    return answer("no_value", "no_large_scale", min_nodes=str(asked.min_nodes))


def _chosen(row: Summary) -> bool:
    return any(isinstance(each, CHOSEN) for each in row.findings)


def _scales(cases: Iterable[Case]) -> dict[str, str]:
    return {"scales": ", ".join(dict.fromkeys(case.scale for case in cases))}


def _price(rows: Sequence[Row], runs: Mapping[Case, int]) -> dict[str, str]:
    """What so many *runs* of each case take: as long as its own did, or as the others here."""
    took_s = by_key((row.case, run.duration_s) for row in rows for run in row.measurements if run.duration_s)
    every = [seconds for of_case in took_s.values() for seconds in of_case]
    hours = {case: n * statistics.median(took_s.get(case) or every or [0.0]) / 3600 for case, n in runs.items()}
    price = {"hours": sum(hours.values()), "node_hours": sum(each * case.nodes for case, each in hours.items())}
    return {"runs": str(sum(runs.values())), **{name: f"{value:.2g}" for name, value in price.items() if every}}


def _linear_speedup(rows: Sequence[Row], asked: Threshold, planned: Sequence[Case]) -> Verdict:
    deciding = {row.case.series for row in rows if row.origin in DECIDING_ORIGINS}
    others = {row.case.series for row in rows} - deciding
    cited = {row.case for row in rows if row.origin not in DECIDING_ORIGINS}
    rows_of = by_key(((row.case.series, row.case.model), row) for row in rows if row.case.series in deciding)
    wanted = (case for case in planned if case.series not in others and case not in cited)
    cases_of = by_key(((case.series, case.model), case) for case in wanted)
    series = dict.fromkeys((*rows_of, *cases_of))
    judged = [_judge_series(rows_of.get(name, []), cases_of.get(name, []), asked) for name in series]
    several = by_key(((cell.framework, cell.model, cell.precision), cell) for cell in judged).values()
    cells = [min([c for c in each if "no_large_scale" not in c.notes] or each, key=_badness) for each in several]
    verdict = Verdict(criterion="C1", cells=tuple(cells), **vars(asked))
    if all("no_large_scale" in cell.notes for cell in cells):
        return replace(verdict, **_no_large(asked))
    return _of_cells(verdict, cells)


def _judge_series(rows: Sequence[Row], planned: Sequence[Case], asked: Threshold) -> VerdictCell:
    row_of = {row.case: row for row in reversed(rows)}
    cases = dict.fromkeys([*planned, *(row.case for row in rows if row.origin in DECIDING_ORIGINS)])
    scope = sorted((case for case in cases if case.nodes >= asked.min_nodes), key=_by_size)
    cell = VerdictCell.of((*cases, *row_of)[0], scope)
    if not scope:
        return _judge(cell, {}, (), (), _no_large(asked))
    if failed := [case for case in scope if _failed_by_itself(row_of.get(case))]:
        return replace(cell, outcome="fail", case=failed[0], **answer("not_met", "framework_failed", **_scales(failed)))
    base = min(valid(rows), key=lambda row: _by_size(row.case), default=None)  # of whatever origin
    measured = [row for case in scope if isinstance(row := row_of.get(case), Summary)]
    missing = [case for case in scope if not isinstance(row_of.get(case), Summary)]
    price = _price(rows, dict.fromkeys(missing or scope, FULL_REPEATS))
    lacking = answer("no_value", "missing", **_scales(missing or scope), **price)
    if base is None or not measured:
        return _judge(cell, {}, (), (), lacking)
    reached = {row.case: _efficiency(row, base) for row in measured}
    if base.case.total_devices != 1:
        return _judge(cell, reached, measured, (), answer("no_value", "no_base", base=str(base.case.total_devices)))
    needed = [*{row.case: row for row in (base, *measured)}.values()]
    doubt = lacking if missing else _doubt(rows, base, measured)
    below = []
    if missing or doubt is None:  # Holm's first step (Scandinavian Journal of Statistics 6, 1979)
        sound = [row for row in measured if not (missing and _doubt(rows, base, [row]))]
        high = {row.case: _efficiency(row, base, 1 - SIGNIFICANCE / len(scope)).high for row in sound}
        below = [row for row in sound if (end := high[row.case]) is not None and end < asked.threshold]
    worst = min(measured, key=lambda row: reached[row.case].value)
    excess = baseline.excess(base, valid(rows))
    if doubt is None and any((reached[row.case].low or 0.0) < asked.threshold for row in measured):
        once = _price(rows, {row.case: 1 for row in needed})
        doubt = answer("not_decided", "spans", n=str(min(base.n, worst.n)), **once)
    elif doubt is None and excess > 1 and (reached[worst.case].low or 0.0) / excess < asked.threshold:
        doubt = answer("not_comparable", "slow_base", excess=f"{excess - 1:.0%}")
    elif doubt is None and not all(_has_evidence(run) for row in needed for run in row.measurements if run.counts):
        doubt = answer("not_comparable", "users_word")
    cell = _judge(cell, reached, measured, below, doubt)
    if cell.outcome == "undetermined":
        return cell
    again = sum(each.attempts for row in needed for each in row.findings if isinstance(each, rules.RunMadeAgain))
    notes, told = list[str](), dict[str, str]()
    if again and cell.outcome == "pass":
        notes, told = ["again"], {"attempts": str(again)}
    if len(baseline.starts(needed)) > 1:
        size, clear = baseline.shift(needed)
        notes.append("starts_differ" if clear else "starts_agree")
        told |= {"starts": str(len(baseline.starts(needed))), "shift": f"{size:.1%}"}
    if cell.outcome == "pass" and any(row.origin == "imported" for row in needed):
        notes.append("by_samples")
    return replace(cell, **answer(cell.reason, *notes, **told)) if notes else cell


def _by_size(case: Case) -> tuple[int, int]:
    return case.total_devices, case.nodes


def _doubt(rows: Sequence[Row], base: Summary, measured: Sequence[Summary]) -> Doubt | None:
    needed = (base, *measured)
    runs = [run for row in needed for run in row.measurements if run.counts]
    if weak := [row.case for row in needed if row.grounds in ("cited", "printed")]:
        return answer("no_value", "no_clock", **_scales(weak))
    if partial := [row for row in needed if row.partial]:
        more = {row.case: FULL_REPEATS - (0 if short_window(row) else row.n) for row in partial}
        return answer("not_decided", "few", n=str(min(row.n for row in partial)), **_price(rows, more))
    if broke := {row.case: failed for row in needed if (failed := failed_runs(row))}:
        return answer("not_comparable", "runs_failed", n=str(sum(broke.values())), **_scales(broke))
    if selected := [row.case for row in needed if _chosen(row)]:
        return answer("not_comparable", "taken_away", **_scales(selected))
    machines = {machine.hardware for row in needed for machine in fairness.machines(row)}
    recorded = {
        "machine": len(machines) == 1 and all(run.environment for run in runs),
        "method": len({run.throughput.method for run in runs if run.throughput}) == 1,
        "campaign": all(run.campaign for run in runs),
    }
    obstacles = {each.key for row in measured for each in fairness.obstacles(row, base, SCALES)}
    obstacles -= {"environment", fairness.CLOCKS}
    if unlike := obstacles | {name for name, alike in recorded.items() if not alike}:
        return answer("not_comparable", "unlike", conditions=", ".join(sorted(unlike)))
    found: dict[Case, list[Finding]]
    found = {row.case: [each for each in row.findings if isinstance(each, SUSPICIOUS)] for row in valid(rows)}
    for row in needed:
        found[row.case] += disturbances(row, DISTURBED)
        doubted = (run for run in row.measurements if row.grounds == "disputed")
        found[row.case] += [each for run in doubted for each in run.findings if each.grounds == "disputed"]
    if codes := sorted({each.code for of_case in found.values() for each in of_case}):
        where = _scales(case for case, of_case in found.items() if of_case)
        return answer("not_comparable", "suspicious", codes=", ".join(codes), **where)
    if apart := [row for row in measured if baseline.over_starts(row, base) is None]:
        once = _price(rows, {row.case: 1 for row in (base, *apart)})
        return answer("not_decided", "starts", **_scales(row.case for row in apart), **once)
    size, clear = baseline.shift(needed)
    if clear and size >= LEAST_GAP_ACROSS:
        again = _price(rows, {row.case: FULL_REPEATS for row in needed})
        return answer("not_comparable", "starts_apart", shift=f"{size:.1%}", **again)
    return None


def _efficiency(summary: Summary, base: Summary, level: float = BOOTSTRAP_LEVEL) -> Interval:
    """Of all runs; over several starts as wide as their shared ones need, too."""
    ideal = summary.case.total_devices / base.case.total_devices
    interval = ratio_of_medians(values(summary), values(base), ideal, level)
    inner = baseline.over_starts(summary, base, level) if len(baseline.starts((summary, base))) > 1 else None
    if inner is None or interval.low is None or interval.high is None:
        return interval
    low, high = (math.exp(end) / ideal for end in inner)
    return replace(interval, low=min(interval.low, low), high=max(interval.high, high))


def _has_evidence(run: Measurement) -> bool:
    """Of an imported run: every node recorded itself, and its devices were sampled while the steps were measured."""
    sampled = "job_cpu" if run.run.case.device == "cpu" else "gpu"
    there = run.environment is not None and bool(run.environment.nodes) and len(run.hosts) == run.run.case.nodes
    return run.origin == "measured" or (there and any(use.resource == sampled for use in run.utilisation))


def _failed_by_itself(row: Row | None) -> bool:
    if not isinstance(row, Unmeasured) or row.origin not in DECIDING_ORIGINS or not row.measurements:
        return False
    own = (run.fault is None and 0 < (run.exit_code or 0) < COULD_NOT_START for run in row.measurements)
    return all(own) and {run.status for run in row.measurements} == {"failed"}


def _mean_utilisation(
    rows: Sequence[Row], asked: Threshold, planned: Sequence[Case], nic_gbit_s: float | None
) -> list[Verdict]:
    deciding = [row for row in valid(rows) if row.origin in DECIDING_ORIGINS]
    cited = {row.case for row in rows if row.origin not in DECIDING_ORIGINS}
    cases = dict.fromkeys([*planned, *(row.case for row in rows)])
    scope = [case for case in cases if case.nodes >= asked.min_nodes and case not in cited]
    measured = [row for row in deciding if row.case in scope]
    unread = "no_gpu" if deciding or not cited else "cited_use"
    none = None if any(_readings(row, "gpu") for row in deciding) else answer("no_value", unread)
    if none or not measured:
        return [Verdict(criterion=name, **{**(none or _no_large(asked)), **vars(asked)}) for name in CRITERIA]
    shares = {row.case: _shares(row, nic_gbit_s) for row in measured}
    common = [name for name in RESOURCES if all(name in of for of in shares.values())]
    judged = []
    for name, counted in zip(CRITERIA, (["gpu"], common), strict=True):
        if counted != ["gpu"] or name == CRITERIA[0]:
            verdict = Verdict(criterion=name, **vars(asked))
            cells = by_key(((case.framework, case.model, case.precision), case) for case in scope).values()
            uses = [_judge_use(own, measured, shares, counted, asked.threshold) for own in cells]
            judged.append(_of_cells(verdict, uses))
    return judged


def _judge_use(
    scope: Sequence[Case], every: Rows, shares: Mapping[Case, Shares], counted: Sequence[str], threshold: float
) -> VerdictCell:
    measured = [row for row in every if row.case in scope]
    known = (row for row in measured if "gpu" in counted and all(name in shares[row.case] for name in counted))
    means = {row.case: Interval(value=statistics.fmean(shares[row.case][of] for of in counted)) for row in known}
    # of bytes and rates the samples of the device or node that was read least count
    of = {
        row.case: {"gpu": row.case.total_devices, "cpu": row.case.nodes, "memory": row.case.nodes} for row in measured
    }
    thin: list[Case] = [
        row.case
        for row in measured
        for used in (used for name in counted for used in _readings(row, name))
        if used.coverage < rules.ThinSamples.wanted
        or used.samples < LEAST_SAMPLES * row.n * of[row.case].get(used.resource, 1)
    ]
    few: list[Case] = [row.case for row in measured if row.partial]
    unsure = {row.case: row.doubts for row in measured if not row.decides}
    doubts: list[tuple[list[Case], str, str]] = [
        ([case for case in scope if case not in means], "no_value", "missing"),
        ([row.case for row in measured if row.grounds == "printed"], "no_value", "no_clock"),
        (thin, "not_decided", "thin"),
        (few, "not_decided", "few"),
        ([row.case for row in measured if _chosen(row)], "not_comparable", "taken_away"),
        ([*unsure], "not_comparable", "suspicious"),
    ]
    doubt = None
    if found := next((doubt for doubt in doubts if doubt[0]), None):
        again = _price(measured, dict.fromkeys(found[0], FULL_REPEATS))
        fewest = str(min((row.n for row in measured if row.partial), default=0))
        if codes := {each.partition(" ")[0] for case in found[0] for each in unsure.get(case, ())}:
            again["codes"] = ", ".join(sorted(codes))
        doubt = answer(found[1], found[2], n=fewest, **_scales(found[0]), **again)
    sound = [row for row in measured if row.case in means and row.case not in {*thin, *few, *unsure}]
    low = [row for row in sound if means[row.case].value < threshold]
    cell = _judge(VerdictCell.of(scope[0], scope), means, measured, low, doubt)
    if cell.outcome == "undetermined" or counted == ["gpu"]:
        return cell
    left_out = ", ".join(name for name in RESOURCES if name not in counted) or "–"
    stated = any(not used.capacity for row in measured for used in _readings(row, "network"))
    resources = ", ".join("network_stated" if name == "network" and stated else name for name in counted)
    return replace(cell, **answer(cell.reason, "mean_of", resources=resources, left_out=left_out))


def _shares(summary: Summary, nic_gbit_s: float | None) -> Shares:
    """Of the capacity; that of a network whose cards state no rate is *nic_gbit_s* a node. More than it proves none."""
    shares = {}
    stated = nic_gbit_s * 1e9 / 8 * summary.case.nodes if nic_gbit_s else None
    for name in RESOURCES:
        readings = _readings(summary, name)
        known = [used.mean / 100 for used in readings if used.unit == "%"]
        capacities = [used.capacity or (stated if name == "network" else None) for used in readings]
        known += [u.mean / most for u, most in zip(readings, capacities, strict=True) if u.unit != "%" and most]
        if known and max(known) <= MOST_USED:
            shares[name] = statistics.fmean(known)
    return shares


def _readings(summary: Summary, resource: str) -> list[Utilisation]:
    if resource in OF_THE_JOB:
        return [used for used in summary.utilisation if used.resource == resource]
    return [used for used in summary.utilisation if used.resource.startswith(f"{resource}_")]

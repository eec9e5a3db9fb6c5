"""C2, mean utilisation: C2a of the GPUs, C2b of every resource that has a capacity, at the lowest scale in scope.

A figure counts only if its samples cover all planned devices and hosts (docs/report.md#verdicts).
"""

import statistics
from collections.abc import Sequence
from dataclasses import replace

from evalsuite.core.findings import ThinSamples
from evalsuite.core.model import Case, Interval, Outcome, Row, Summary, Utilisation, Verdict, VerdictCell
from evalsuite.results.judge.criteria import MeanUtilisation
from evalsuite.results.judge.linear_speedup import CHOSEN, scale_names
from evalsuite.results.measure.summary import DECIDING_ORIGINS, valid

GPU_ALONE, ALL = "C2a", "C2b"
RESOURCES = ("gpu", "cpu", "memory", "disk", "network")
OF_THE_JOB = ("gpu", "cpu", "memory")
LEAST_COVERAGE = ThinSamples.wanted
LEAST_SAMPLES = 10  # a run, on average: of fewer the mean is that of a moment

Shares = dict[str, float]  # resource → share of its capacity


def mean_utilisation(rows: Sequence[Row], asked: MeanUtilisation, planned: Sequence[Case] = ()) -> list[Verdict]:
    verdicts = _read_in_two_ways(rows, asked, planned)
    if asked.metric == "both":
        return verdicts
    wanted = GPU_ALONE if asked.metric == "gpu" else ALL
    without = replace(_verdict(ALL, asked), reason="no_capacity")  # asked for, and nothing but the GPUs has one
    return [verdict for verdict in verdicts if verdict.criterion == wanted] or [without]


def _read_in_two_ways(rows: Sequence[Row], asked: MeanUtilisation, planned: Sequence[Case]) -> list[Verdict]:
    deciding = [row for row in valid(rows) if row.origin in DECIDING_ORIGINS]
    whole = _verdict(GPU_ALONE, asked)
    if not any(row.utilisation for row in deciding):
        return _both(replace(whole, reason="no_samples"))
    if not any(_readings(row, "gpu") for row in deciding):
        return _both(replace(whole, reason="no_gpu"))
    cited = {row.case for row in rows if row.origin not in DECIDING_ORIGINS}
    cases = dict.fromkeys([*planned, *(row.case for row in rows)])
    scope = [case for case in cases if case.nodes >= asked.min_nodes and case not in cited]
    measured = [row for row in deciding if row.case in scope]
    if not measured:
        largest = max(row.case.nodes for row in deciding)
        values = (("largest", str(largest)), ("min_nodes", str(asked.min_nodes)))
        return _both(replace(whole, reason="no_large_scale", values=values))
    shares = {row.case: _shares(row) for row in measured}
    common = [name for name in RESOURCES if all(name in of for of in shares.values())]
    verdicts = [_with_cells(whole, measured, {case: _only(["gpu"], of) for case, of in shares.items()}, scope)]
    if set(common) - {"gpu"}:
        of_all = {case: _only(common, of) for case, of in shares.items()}
        verdicts.append(_with_cells(_verdict(ALL, asked), measured, of_all, scope, common))
    return verdicts


def _verdict(name: str, asked: MeanUtilisation) -> Verdict:
    return Verdict(
        criterion=name,
        outcome="undetermined",
        threshold=asked.threshold,
        min_nodes=asked.min_nodes,
        scope=asked.scope.named,
    )


def _both(verdict: Verdict) -> list[Verdict]:
    return [verdict, replace(verdict, criterion=ALL)]


def _with_cells(
    verdict: Verdict,
    measured: Sequence[Summary],
    shares: dict[Case, Shares],
    scope: Sequence[Case],
    counted: Sequence[str] = ("gpu",),
) -> Verdict:
    cells = []
    for key in dict.fromkeys(map(_place, scope)):
        own = [case for case in scope if _place(case) == key]
        rows = [row for row in measured if _place(row.case) == key]
        judged = _judged(verdict, rows, {row.case: shares[row.case] for row in rows}, own, counted)
        scales = tuple(dict.fromkeys(case.scale for case in own))
        cells.append(VerdictCell.of(own[0], **judged.judged, scales=scales))
    return replace(_judged(verdict, measured, shares, scope, counted), cells=tuple(cells))


def _place(case: Case) -> tuple[str, str, str]:
    return case.framework, case.model, case.precision


def _judged(
    verdict: Verdict,
    measured: Sequence[Summary],
    shares: dict[Case, Shares],
    scope: Sequence[Case],
    counted: Sequence[str] = ("gpu",),
) -> Verdict:
    unread = [row.case for row in measured if "gpu" not in shares[row.case]]
    thin = [row.case for row in measured if any(_too_thin(row, name) for name in counted)]
    partial = [row for row in measured if row.partial]
    missing = [case for case in scope if case not in shares]
    means = {case: statistics.fmean(of.values()) for case, of in shares.items() if of and case not in unread}
    if means:
        worst = min((row for row in measured if row.case in means), key=lambda row: means[row.case])
        verdict = replace(verdict, measured=Interval(value=means[worst.case]), n=worst.n, case=worst.case)
    sound = [row for row in measured if row.case in means and row.case not in thin and not row.partial and row.decides]
    threshold = verdict.threshold or 0.0
    if any(means[row.case] < threshold for row in sound):
        lowest = min(sound, key=lambda row: means[row.case])
        verdict = replace(verdict, measured=Interval(value=means[lowest.case]), n=lowest.n, case=lowest.case)
        return _decided(verdict, "fail", counted)
    if missing:
        return replace(verdict, reason="missing", values=(("scales", scale_names(missing)),))
    if printed := [row.case for row in measured if row.grounds == "printed"]:
        return replace(verdict, reason="printed_only", values=(("scales", scale_names(printed)),))
    if unread:
        return replace(verdict, reason="gpu_unread", values=(("scales", scale_names(unread)),))
    if thin:
        return replace(verdict, reason="thin", values=(("scales", scale_names(thin)),))
    if partial:
        return replace(verdict, reason="partial", values=(("n", str(min(row.n for row in partial))),))
    if chosen := [row.case for row in measured if any(isinstance(each, CHOSEN) for each in row.findings)]:
        return replace(verdict, reason="taken_away", values=(("scales", scale_names(chosen)),))
    return _decided(verdict, "pass", counted)


def _decided(verdict: Verdict, outcome: Outcome, counted: Sequence[str]) -> Verdict:
    reason = "met" if outcome == "pass" else "not_met"
    if verdict.criterion != ALL:
        return replace(verdict, outcome=outcome, reason=reason)
    left_out = ", ".join(name for name in RESOURCES if name not in counted) or "–"
    values = (("resources", ", ".join(counted)), ("left_out", left_out))
    return replace(verdict, outcome=outcome, reason=f"{reason}_of", values=values)


def _only(names: Sequence[str], shares: Shares) -> Shares:
    return {name: shares[name] for name in names if name in shares}


def _too_thin(summary: Summary, resource: str) -> bool:
    readings = _readings(summary, resource)
    return any(used.coverage < LEAST_COVERAGE or used.samples < LEAST_SAMPLES * summary.n for used in readings)


def _shares(summary: Summary) -> Shares:
    shares = {name: [_of_capacity(used) for used in _readings(summary, name)] for name in RESOURCES}
    known = {name: [share for share in each if share is not None] for name, each in shares.items()}
    return {name: statistics.fmean(shares) for name, shares in known.items() if shares}


def _readings(summary: Summary, resource: str) -> list[Utilisation]:
    if resource in OF_THE_JOB:
        return [used for used in summary.utilisation if used.resource == resource]
    return [used for used in summary.utilisation if used.resource.startswith(f"{resource}_")]


def _of_capacity(used: Utilisation) -> float | None:
    if used.unit == "%":
        return used.mean / 100
    return used.mean / used.capacity if used.capacity else None

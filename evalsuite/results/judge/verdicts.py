"""The verdicts: each acceptance criterion passed, failed, or undetermined and why (docs/report.md#verdicts).

C1, linear speed-up, and C2, mean utilisation, are one rule over cases with a threshold (`_judge`). No scale is left out
because it went badly: base and every scale in scope must be sound evidence, and a utilisation counts only if its
samples cover all planned devices and hosts.
"""

import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

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
    ThinSamples,
    UnstableRepeats,
)
from evalsuite.core.model import (
    Case,
    Finding,
    Interval,
    Row,
    Summary,
    Unmeasured,
    Utilisation,
    Verdict,
    VerdictCell,
    by_key,
)
from evalsuite.results.compare import fairness
from evalsuite.results.compare.decisions import Ranking, rank
from evalsuite.results.compare.fairness import FRAMEWORKS, SCALES, Common, Purpose
from evalsuite.results.judge.criteria import Criteria, Threshold
from evalsuite.results.measure.statistics import BOOTSTRAP_LEVEL, SIGNIFICANCE, ratio_of_medians
from evalsuite.results.measure.summary import DECIDING_ORIGINS, disturbances, failed_runs, valid, values

SUSPICIOUS = (SuperLinear, OddEfficiency, UnstableRepeats)  # D11, D12, D08: the numbers contradict themselves
DISTURBED = (BusyMachine, CoresIdle, NothingExchanged)  # of runs: a slowed base, or scales that do not work together
CHOSEN = (RunTakenAway, JournalBroken, RepeatsMissing)
WORST_FIRST = ("fail", "undetermined", "pass")
WITHOUT_CLOCK = {"cited": "not_measured", "printed": "printed_only", "disputed": "doubtful"}
COULD_NOT_START = 126  # exit codes from here on are the shell's or a signal's, not the framework's
GPU_ALONE, ALL = "C2a", "C2b"
RESOURCES = ("gpu", "cpu", "memory", "disk", "network")
OF_THE_JOB = ("gpu", "cpu", "memory")
LEAST_SAMPLES = 10  # a run, on average: of fewer the mean is that of a moment
BLOCKS = Purpose(free=FRAMEWORKS.free | SCALES.free)

Values = tuple[tuple[str, str], ...]
Doubt = tuple[str, Values]  # reason, and what its sentence names
Shares = dict[str, float]  # resource → share of its capacity
Place = TypeVar("Place", Verdict, VerdictCell)


def verdicts(summaries: Sequence[Row], criteria: Criteria, planned: Sequence[Case] = ()) -> tuple[Verdict, ...]:
    """C1, C2a, C2b and C3 over *summaries*, as far as asked for; *planned* are all cases, so that none is forgotten."""
    judged: list[Verdict] = []
    if first := criteria.linear_speedup:  # of weak scaling: the threshold is about a kept batch
        weak = [row for row in summaries if row.case.strong_batch is None]
        asked = [case for case in planned if case.strong_batch is None]
        verdict = _linear_speedup(weak, first, asked)
        if (summaries or planned) and not (weak or asked):
            verdict = replace(verdict, reason="strong_only", values=())
        judged.append(verdict)
    if second := criteria.mean_utilisation:
        judged += _mean_utilisation(summaries, second, planned)
    if criteria.fastest:
        judged.append(_fastest([row for row in valid(summaries) if row.decides]))
    return tuple(judged)


def _judge(
    place: Place,
    reached: Mapping[Case, Interval],
    rows: Sequence[Summary],
    below: Sequence[Summary],
    doubt: Doubt | None,
) -> Place:
    """Fails if some are *below* the threshold beyond doubt, and passes without *doubt*; the worst of them is shown."""
    if shown := below or [row for row in rows if row.case in reached]:
        worst = min(shown, key=lambda row: reached[row.case].value)
        place = replace(place, measured=reached[worst.case], n=worst.n, case=worst.case)
    if below:
        return replace(place, outcome="fail", reason="not_met")
    if doubt:
        return replace(place, reason=doubt[0], values=doubt[1])
    return replace(place, outcome="pass", reason="met")


def _no_large(rows: Iterable[Row], asked: Threshold) -> Doubt:
    largest = max((row.case.nodes for row in valid(rows) if row.origin in DECIDING_ORIGINS), default=0)
    return "no_large_scale", (("largest", str(largest)), ("min_nodes", str(asked.min_nodes)))


def _scales(cases: Iterable[Case]) -> Values:
    return (("scales", ", ".join(dict.fromkeys(case.scale for case in cases))),)


def _cell_of(case: Case) -> tuple[str, str, str]:
    return case.framework, case.model, case.precision


# C1, for each framework, model and precision


def _linear_speedup(rows: Sequence[Row], asked: Threshold, planned: Sequence[Case]) -> Verdict:
    """Passed if every cell passes, failed if one fails; the worst cell is the one that is shown."""
    deciding = [row.case for row in rows if row.origin in DECIDING_ORIGINS]
    cited = {row.case for row in rows if row.origin not in DECIDING_ORIGINS}
    others = {row.case.series for row in rows} - {case.series for case in deciding}
    wanted = [case for case in planned if case.series not in others]
    series = dict.fromkeys((_cell_of(case), (case.series, case.model)) for case in (*deciding, *wanted))
    cells = []
    for names in by_key(series).values():
        judged = [
            _judge_series(
                [row for row in rows if (row.case.series, row.case.model) == name],
                [case for case in wanted if (case.series, case.model) == name and case not in cited],
                asked,
            )
            for name in names
        ]
        cells.append(min([each for each in judged if each.reason != "no_large_scale"] or judged, key=_badness))
    verdict = Verdict(criterion="C1", outcome="undetermined", cells=tuple(cells), **vars(asked))
    if all(cell.reason == "no_large_scale" for cell in cells):
        reason, named = _no_large(rows, asked)
        return replace(verdict, reason=reason, values=named)
    worst = min(cells, key=_badness)
    return replace(verdict, **worst.judged, within_noise=worst.reason == "spans")


def _badness(cell: VerdictCell) -> tuple[int, bool, float]:
    value = cell.measured.value if cell.measured else 1.0
    return WORST_FIRST.index(cell.outcome), cell.reason == "no_large_scale", value


def _judge_series(rows: Sequence[Row], planned: Sequence[Case], asked: Threshold) -> VerdictCell:
    row_of = {row.case: row for row in reversed(rows)}
    cases = dict.fromkeys([*planned, *(row.case for row in rows if row.origin in DECIDING_ORIGINS)])
    scope = sorted((case for case in cases if case.nodes >= asked.min_nodes), key=_by_size)
    example = (*(row.case for row in rows), *planned)[0]
    cell = VerdictCell.of(example, outcome="undetermined", scales=tuple(case.scale for case in scope))
    if not scope:
        return _judge(cell, {}, (), (), _no_large(rows, asked))
    if failed := [case for case in scope if _failed_by_itself(row_of.get(case))]:
        return replace(cell, outcome="fail", reason="framework_failed", case=failed[0], values=_scales(failed))
    base = min(valid(rows), key=lambda row: _by_size(row.case), default=None)  # of whatever origin
    measured = [row for case in scope if isinstance(row := row_of.get(case), Summary)]
    if base is None or not measured:
        return _judge(cell, {}, (), (), ("missing", _scales(scope)))
    reached = {row.case: _efficiency(row, base) for row in measured}
    if base.case.total_devices != 1:
        return _judge(cell, reached, measured, (), ("no_base", (("base", str(base.case.total_devices)),)))
    missing = [case for case in scope if not isinstance(row_of.get(case), Summary)]
    doubt = ("missing", _scales(missing)) if missing else _doubt(rows, base, measured)
    below = []
    if missing or doubt is None:  # Holm's first step (Scandinavian Journal of Statistics 6, 1979)
        sound = [row for row in measured if not (missing and _doubt(rows, base, [row]))]
        high = {row.case: _efficiency(row, base, 1 - SIGNIFICANCE / len(scope)).high for row in sound}
        below = [row for row in sound if (end := high[row.case]) is not None and end < asked.threshold]
    needed = {row.case: row for row in (base, *measured)}.values()
    if doubt is None and any((reached[row.case].low or 0.0) < asked.threshold for row in measured):
        worst = min(measured, key=lambda row: reached[row.case].value)
        doubt = ("spans", (("n", str(min(base.n, worst.n))),))
    elif doubt is None and any(row.origin == "imported" for row in needed):
        doubt = ("users_word", ())
    cell = _judge(cell, reached, measured, below, doubt)
    again = sum(each.attempts for row in needed for each in row.findings if isinstance(each, RunMadeAgain))
    if again and cell.outcome == "pass":
        return replace(cell, reason="met_again", values=(("attempts", str(again)),))
    return cell


def _by_size(case: Case) -> tuple[int, int]:
    return case.total_devices, case.nodes


def _doubt(rows: Sequence[Row], base: Summary, measured: Sequence[Summary]) -> Doubt | None:
    needed = (base, *measured)
    runs = [run for row in needed for run in row.measurements if run.counts]
    for grounds, reason in WITHOUT_CLOCK.items():
        if weak := [row.case for row in needed if row.grounds == grounds]:
            return reason, _scales(weak)
    if partial := [row.n for row in needed if row.partial]:
        return "partial", (("n", str(min(partial))),)
    if broke := [row.case for row in needed if failed_runs(row)]:
        return "runs_failed", (*_scales(broke), ("n", str(sum(map(failed_runs, needed)))))
    if not all(run.environment for run in runs):
        return "machine_unknown", ()
    if (hosts := len({machine.hardware for row in needed for machine in fairness.machines(row)})) > 1:
        return "several_machines", (("machines", str(hosts)),)
    if unlike := sorted({each.key for row in measured for each in fairness.obstacles(row, base, SCALES)}):
        return "unlike", (("conditions", ", ".join(unlike)),)
    if len(methods := sorted({run.throughput.method for run in runs if run.throughput})) > 1:
        return "several_methods", (("methods", ", ".join(methods)),)
    if chosen := [row.case for row in needed if any(isinstance(each, CHOSEN) for each in row.findings)]:
        return "taken_away", _scales(chosen)
    campaigns = {row.case: {run.campaign for run in row.measurements if run.counts} for row in needed}
    if unknown := [case for case, names in campaigns.items() if None in names]:
        return "campaign_unknown", _scales(unknown)
    if other := [case for case, names in campaigns.items() if names != campaigns[base.case]]:
        return "several_campaigns", _scales(other)
    against: dict[Case, list[Finding]]
    against = {row.case: [each for each in row.findings if isinstance(each, SUSPICIOUS)] for row in valid(rows)}
    against |= {row.case: [*against[row.case], *disturbances(row, DISTURBED)] for row in needed}
    if codes := sorted({each.code for found in against.values() for each in found}):
        return "suspicious", (("codes", ", ".join(codes)), *_scales(case for case, found in against.items() if found))
    return None


def _efficiency(summary: Summary, base: Summary, level: float = BOOTSTRAP_LEVEL) -> Interval:
    ideal = summary.case.total_devices / base.case.total_devices
    return ratio_of_medians(values(summary), values(base), ideal, level)


def _failed_by_itself(row: Row | None) -> bool:
    if not isinstance(row, Unmeasured) or row.origin not in DECIDING_ORIGINS or not row.measurements:
        return False
    return all(
        run.status == "failed" and run.fault is None and 0 < (run.exit_code or 0) < COULD_NOT_START
        for run in row.measurements
    )


# C2: C2a of the GPUs, C2b of every resource that has a capacity, at the lowest scale in scope


def _mean_utilisation(rows: Sequence[Row], asked: Threshold, planned: Sequence[Case]) -> list[Verdict]:
    deciding = [row for row in valid(rows) if row.origin in DECIDING_ORIGINS]
    cited = {row.case for row in rows if row.origin not in DECIDING_ORIGINS}
    cases = dict.fromkeys([*planned, *(row.case for row in rows)])
    scope = [case for case in cases if case.nodes >= asked.min_nodes and case not in cited]
    measured = [row for row in deciding if row.case in scope]
    both = [Verdict(criterion=name, outcome="undetermined", **vars(asked)) for name in (GPU_ALONE, ALL)]
    none: Doubt | None = None
    if not any(row.utilisation for row in deciding):
        none = ("no_samples", ())
    elif not any(_readings(row, "gpu") for row in deciding):
        none = ("no_gpu", ())
    elif not measured:
        none = _no_large(deciding, asked)
    if none:
        return [_judge(verdict, {}, (), (), none) for verdict in both]
    shares = {row.case: _shares(row) for row in measured}
    common = [name for name in RESOURCES if all(name in of for of in shares.values())]
    judged = []
    for verdict, counted in zip(both, (["gpu"], common), strict=True):
        if verdict.criterion == GPU_ALONE or set(counted) - {"gpu"}:
            cells = []
            for key, own in by_key((_cell_of(case), case) for case in scope).items():
                cell = VerdictCell.of(
                    own[0], outcome="undetermined", scales=tuple(dict.fromkeys(case.scale for case in own))
                )
                members = [row for row in measured if _cell_of(row.case) == key]
                cells.append(_judge_use(cell, verdict, members, shares, own, counted))
            judged.append(replace(_judge_use(verdict, verdict, measured, shares, scope, counted), cells=tuple(cells)))
    return judged


def _judge_use(
    place: Place,
    verdict: Verdict,
    measured: Sequence[Summary],
    shares: Mapping[Case, Shares],
    scope: Sequence[Case],
    counted: Collection[str],
) -> Place:
    unread = [row.case for row in measured if "gpu" not in counted or "gpu" not in shares[row.case]]
    thin = [
        row.case
        for row in measured
        for used in (used for name in counted for used in _readings(row, name))
        if used.coverage < ThinSamples.wanted or used.samples < LEAST_SAMPLES * row.n
    ]
    means: dict[Case, Interval] = {}
    for row in measured:
        of = [shares[row.case][name] for name in counted if name in shares[row.case]]
        if of and row.case not in unread:
            means[row.case] = Interval(value=statistics.fmean(of))
    sound = [row for row in measured if row.case in means and row.case not in thin and not row.partial and row.decides]
    threshold, partial = verdict.threshold or 0.0, [row.n for row in measured if row.partial]
    in_doubt = {
        "missing": [case for case in scope if case not in shares],
        "printed_only": [row.case for row in measured if row.grounds == "printed"],
        "gpu_unread": unread,
        "thin": thin,
        "partial": [row.case for row in measured if row.partial],
        "taken_away": [row.case for row in measured if any(isinstance(each, CHOSEN) for each in row.findings)],
    }
    reason = next((reason for reason, cases in in_doubt.items() if cases), None)
    doubt: Doubt | None = None
    if reason:
        doubt = (reason, (("n", str(min(partial))),) if reason == "partial" else _scales(in_doubt[reason]))
    low = sound if any(means[row.case].value < threshold for row in sound) else ()
    place = _judge(place, means, measured, low, doubt)
    if place.outcome == "undetermined" or verdict.criterion != ALL:
        return place
    left_out = ", ".join(name for name in RESOURCES if name not in counted) or "–"
    named = (("resources", ", ".join(counted)), ("left_out", left_out))
    return replace(place, reason=f"{place.reason}_of", values=named)


def _shares(summary: Summary) -> Shares:
    shares = {}
    for name in RESOURCES:
        readings = _readings(summary, name)
        known = [used.mean / 100 for used in readings if used.unit == "%"]
        known += [used.mean / used.capacity for used in readings if used.unit != "%" and used.capacity]
        if known:
            shares[name] = statistics.fmean(known)
    return shares


def _readings(summary: Summary, resource: str) -> list[Utilisation]:
    if resource in OF_THE_JOB:
        return [used for used in summary.utilisation if used.resource == resource]
    return [used for used in summary.utilisation if used.resource.startswith(f"{resource}_")]


# C3: who is ahead, of each block the largest scale


def _fastest(summaries: Sequence[Summary]) -> Verdict:
    largest: dict[Common, Ranking] = {}
    for members in fairness.groups(summaries, FRAMEWORKS):
        result, block = rank(members), fairness.group(members[0], BLOCKS)
        if result.known and (block not in largest or _devices(result) > _devices(largest[block])):
            largest[block] = result
    if not largest:
        return Verdict(criterion="C3", outcome="information", reason="nothing_to_compare")
    cells = tuple(map(_ahead, largest.values()))
    shown = max(zip(largest.values(), cells, strict=True), key=lambda each: _devices(each[0]))[1]
    return Verdict(criterion="C3", **shown.judged, within_noise=shown.reason != "ahead", cells=cells)


def _devices(result: Ranking) -> int:
    return result.ranked[0].summary.case.total_devices


def _ahead(result: Ranking) -> VerdictCell:
    first, second, *_ = (entry.summary for entry in result.ranked)
    reason: str = "scatter" if result.known == "scatter" else result.outcome or "not_decided"
    named = [("first", first.case.framework), ("second", second.case.framework), ("scale", first.case.scale)]
    if reason == "not_decided":
        named.append(("why_text", result.why or "runs"))
    if reason in ("equal", "scatter"):
        leaders = (entry.summary.case.framework for entry in result.ranked if entry.leading)
        named.append(("group", ", ".join(leaders)))
    if result.false_exclusion is not None:
        named.append(("false_exclusion", f"{result.false_exclusion:.4f}"))
    elif reason == "scatter":
        reason = "scatter_across"
    return VerdictCell.of(
        first.case,
        outcome="information",
        scales=(first.case.scale,),
        measured=ratio_of_medians(values(first), values(second)),
        n=min(first.n, second.n),
        case=first.case,
        reason=reason,
        values=tuple(named),
    )

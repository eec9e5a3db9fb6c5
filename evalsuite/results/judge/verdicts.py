"""The verdicts: each acceptance criterion passed, failed, or undetermined and why (docs/report.md#verdicts)."""

from collections.abc import Sequence
from dataclasses import replace

from evalsuite.core.model import Case, Row, Summary, Verdict, VerdictCell
from evalsuite.results.compare.decisions import Known
from evalsuite.results.compare.fairness import FRAMEWORKS, SCALES, Common, Purpose, group, groups
from evalsuite.results.compare.winners import RankingResult, rank
from evalsuite.results.judge.criteria import CaseScope, Criteria
from evalsuite.results.judge.linear_speedup import linear_speedup
from evalsuite.results.judge.mean_utilisation import mean_utilisation
from evalsuite.results.measure.statistics import ratio_of_medians
from evalsuite.results.measure.summary import FULL_REPEATS, short_window, valid, values

BLOCKS = Purpose(free=FRAMEWORKS.free | SCALES.free)
REASONS: dict[Known, str] = {
    "decided": "faster",
    "equal": "tie",
    "open": "no_difference",
    "repeats": "consistent",
    "campaign": "indicative",
    "base": "contradicts_scaling",
    "runs": "cannot_tell",
    "source": "cannot_tell",
    "clock": "cannot_tell",
    "facts": "unknown_facts",
}


def verdicts(summaries: Sequence[Row], criteria: Criteria, planned: Sequence[Case] = ()) -> tuple[Verdict, ...]:
    """C1, C2a, C2b and C3 over *summaries*, as far as asked for; *planned* are all cases, so that none is forgotten."""
    judged: list[Verdict] = []
    if first := criteria.linear_speedup:
        rows, cases = _within(first.scope, summaries, planned)
        asked = [row for row in rows if _keeps_batch(row.case, first.scope)]
        cases_asked = [case for case in cases if _keeps_batch(case, first.scope)]
        verdict = linear_speedup(asked, first, cases_asked)
        if (rows or cases) and not (asked or cases_asked):
            verdict = replace(verdict, reason="strong_only", values=())
        judged.append(verdict)
    if second := criteria.mean_utilisation:
        rows, cases = _within(second.scope, summaries, planned)
        judged += mean_utilisation(rows, second, cases)
    if criteria.fastest:
        rows, _ = _within(criteria.fastest.scope, summaries, planned)
        judged.append(replace(fastest([row for row in valid(rows) if row.decides]), scope=criteria.fastest.scope.named))
    return tuple(judged)


def _within(scope: CaseScope, summaries: Sequence[Row], planned: Sequence[Case]) -> tuple[list[Row], list[Case]]:
    return [row for row in summaries if scope.holds(row.case)], [case for case in planned if scope.holds(case)]


def _keeps_batch(case: Case, scope: CaseScope) -> bool:
    return case.strong_batch is None or "strong" in scope.scalings


def fastest(summaries: Sequence[Summary]) -> Verdict:
    standings = _standings(summaries)
    if not standings:
        return Verdict(criterion="C3", outcome="information", reason="nothing_to_compare")
    cells = tuple(_ahead(standing) for standing in standings)
    widest = max(range(len(standings)), key=lambda place: (_devices(standings[place]), -place))
    shown = cells[widest]
    noisy = shown.reason not in ("faster", "faster_in_rounds")
    return Verdict(criterion="C3", **shown.judged, within_noise=noisy, cells=cells)


def _ahead(result: RankingResult) -> VerdictCell:
    first, second = result.first, result.second
    reason = REASONS[result.known]
    if result.known == "runs" and min(first.n, second.n) >= FULL_REPEATS:
        reason = "short_window" if any(map(short_window, (first, second))) else "disturbed"
    if reason == "faster" and result.basis == "rounds":
        reason = "faster_in_rounds"
    if reason == "no_difference" and result.false_exclusion is None:
        reason = "no_difference_across"
    named = [("first", first.case.framework), ("second", second.case.framework), ("scale", first.case.scale)]
    if result.known in ("equal", "open"):
        named.append(("group", ", ".join(row.case.framework for row in result.group)))
    if result.chance is not None:
        named.append(("chance", f"{result.chance:.4f}"))
    if result.false_exclusion is not None:
        named.append(("false_exclusion", f"{result.false_exclusion:.4f}"))
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


def _standings(summaries: Sequence[Summary]) -> list[RankingResult]:
    largest: dict[Common, RankingResult] = {}
    for members in groups(summaries, FRAMEWORKS):
        result = rank(members)
        block = group(members[0], BLOCKS)
        if result and (block not in largest or _devices(result) > _devices(largest[block])):
            largest[block] = result
    return list(largest.values())


def _devices(result: RankingResult) -> int:
    return result.first.case.total_devices

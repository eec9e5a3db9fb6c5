"""Rules that ask more than one log, and one finding for each case and rule: the gravest."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import combinations
from statistics import median

from evalsuite.core import findings as rules
from evalsuite.core.decode import number
from evalsuite.core.documents import Citation, CitedFigure, HostEnvironment, RunCommand
from evalsuite.core.model import Finding, Measurement, Row, Summary
from evalsuite.results.measure import breakdown
from evalsuite.results.measure.summary import valid
from evalsuite.results.rules import copies, flops_and_energy, machine, work_done

# what tells how far a rule is broken: the first of its fields that is one of these
SIZES = ("change", "share", "factor", "points", "seconds")
# what a finding is about; two of one rule that are about different things are two
SUBJECTS = frozenset({"resource", "phase", "metric", "method", "option", "fact", "source", "failure", "name"})
_RUN = re.compile(r"(.+)/r\d+")


def check_measurements(measurements: Iterable[Measurement]) -> list[Measurement]:
    runs = copies.by_stamps([*measurements])
    copied = copies.copies(runs)
    checked = [_checked(run, copied.get(place)) for place, run in enumerate(runs)]
    return machine.with_causes(checked)


def _checked(run: Measurement, copy: Finding | None) -> Measurement:
    most = rules.AboveCapacity.limit
    too_fast = [u for u in run.utilisation if u.unit != "%" and u.capacity and u.mean > u.capacity * most]  # D20
    possible = tuple(used for used in run.utilisation if used not in too_fast)
    above = ({name: getattr(used, name) for name in ("resource", "mean", "capacity", "unit")} for used in too_fast)
    doubts = [
        *([copy] if copy else []),
        *(rules.AboveCapacity(**each) for each in above),
        *rules.detect("in_run", run),
        *breakdown.findings(run.breakdown),
        *work_done.findings(run),
        *flops_and_energy.impossible(run),
    ]
    placed = tuple(replace(finding, where=run.run.id) for finding in doubts)
    if not placed:
        return run
    return replace(run, utilisation=possible, findings=tuple(dict.fromkeys((*run.findings, *placed))))


def findings(
    summaries: Sequence[Row],
    environments: Mapping[str, HostEnvironment],
    commands: Mapping[str, RunCommand] | None = None,
) -> tuple[Finding, ...]:
    """What only the whole shows. *commands*: run id → what was run, with the speed-ups that imported tables print."""
    known, runs = commands or {}, [run for row in summaries for run in row.measurements]
    figures = ((known[run.run.id].figure, run.run.case.id) for run in runs if run.run.id in known)
    return (
        *_trends(valid(summaries)),
        *_missing_rows(valid(summaries), known),
        *(each for found, case in figures if found for each in cited_figure(found, case)),
    )


def _trends(summaries: Iterable[Summary]) -> Iterable[Finding]:
    """Of the repeats of a case in the order of their starts, by Kendall's S, its variance and a correction of 1."""
    for row in summaries:
        runs = sorted(row.measurements, key=lambda run: (run.started_at or "", run.run.repeat))
        rates = [run.value for run in runs if run.counts and run.value is not None]
        ranks = abs(sum((later > earlier) - (later < earlier) for earlier, later in combinations(rates, 2)))
        deviation = math.sqrt(row.n * (row.n - 1) * (2 * row.n + 5) / 18)
        change = rates[-1] / rates[0] - 1
        if ranks - 1 >= rules.Trend.deviations * deviation > 0 and abs(change) > rules.Trend.limit:
            yield rules.Trend(change=change, repeats=row.n, where=row.case.id)


def _missing_rows(summaries: Sequence[Summary], commands: Mapping[str, RunCommand]) -> Iterable[Finding]:
    for row in summaries:
        figures = [found.figure for run in row.measurements if (found := commands.get(run.run.id)) and found.figure]
        stated = max((figure.n or 0 for figure in figures), default=0)
        here = sum(figure.kind == "run" for figure in figures) or max((len(each.runs) for each in figures), default=0)
        if 0 < here < stated:
            yield rules.RowsMissing(stated=stated, here=here, where=row.case.id)


def cited_figure(figure: CitedFigure, where: str) -> Iterable[Finding]:
    speedups: dict[Decimal | None, tuple[str, float]] = {}
    for citation in figure.citations:
        computed = _speedup(figure.printed, citation)
        if computed is not None and citation.speedup is not None:
            speedups.setdefault(written(citation.speedup), (citation.speedup, computed))
    for text, computed in speedups.values():
        yield rules.AuthorDiffers(written=text, computed=computed, measure="speedup", where=where)
    printed = written(figure.printed)
    runs = [float(value) for value in map(written, figure.runs) if value is not None]
    if printed is not None and runs and not rounds_to(printed, median(runs)):
        yield rules.PublishedDiffers(
            published_items_per_s=float(printed),
            median_items_per_s=median(runs),
            file=figure.citations[0].source or figure.citations[0].row,
            log=figure.log_set or figure.citations[0].row,
            where=where,
        )
    for other, text in zip(figure.others, figure.others_printed, strict=True):
        yield rules.SourcesDiffer(
            printed=figure.printed,
            source=figure.citations[0].source or figure.citations[0].row,
            other=text,
            other_source=other.source or other.row,
            where=where,
        )


def _speedup(printed: str, citation: Citation) -> float | None:
    """By the printed throughputs; None where it rounds to the one printed. DLPerf rounds twice: 10.75 for 10.74499."""
    of, base = written(printed), written(citation.base or "")
    said = written(citation.speedup or "")
    if of is None or base is None or said is None or base <= 0:
        return None
    computed = float(of / base)
    twice = Decimal("0.55").scaleb(int(said.as_tuple().exponent))
    return None if abs(said - Decimal(computed)) <= twice else computed


def written(text: str) -> Decimal | None:
    """A number as written, with its digits: "1.57x", "12,411"; None where it is none."""
    said = re.sub(r"[,\s%x×]", "", text)
    return None if number(said) is None else Decimal(said)


def rounds_to(printed: Decimal, computed: float) -> bool:
    """Whether *printed* is *computed* rounded to the digits that were written (D16)."""
    half = Decimal("0.5").scaleb(int(printed.as_tuple().exponent)) * Decimal("1.000001")
    return abs(printed - Decimal(computed)) <= max(half, abs(printed) * Decimal("1e-9"))


def beyond(finding: Finding) -> float:
    """How far beyond what is allowed, in the unit of its rule; 0 where nothing tells."""
    kinds, limits = rules.kinds(type(finding)), rules.limits(type(finding))
    sized = [(kind, name) for kind in SIZES for name, of in kinds.items() if of == kind and name not in limits]
    if not sized or not isinstance(value := getattr(finding, sized[0][1]), int | float) or not math.isfinite(value):
        return 0.0
    allowed = next((limit for limit, _ in limits.values()), 1.0 if sized[0][0] == "factor" else 0.0)
    return abs((abs(value) if sized[0][0] in ("change", "points") else value) - allowed)  # as far below as above


def merge_repeated(found: Iterable[Finding]) -> list[Finding]:
    groups: dict[object, list[Finding]] = {}
    for finding in found:
        run, kinds = _RUN.fullmatch(finding.where), rules.kinds(type(finding))
        subject = tuple(getattr(finding, name) for name, kind in kinds.items() if kind in SUBJECTS)
        groups.setdefault((type(finding), run[1] if run else finding.where, subject), []).append(finding)
    return [_together(same) for same in groups.values()]


def _together(same: list[Finding]) -> Finding:
    if len(same) == 1:
        return same[0]
    worst = min(same, key=lambda finding: (-beyond(finding), finding.where))
    places = {place for finding in same for place in (finding.where, *finding.also)} - {worst.where}
    return replace(worst, also=tuple(sorted(places)))

"""Rules that ask more than one log, and one finding for each case and rule: the gravest."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from evalsuite.core import findings as rules
from evalsuite.core.documents import CitedFigure, RunCommand
from evalsuite.core.model import Finding, Measurement, Row, Summary, by_key
from evalsuite.results.measure import facts, latency
from evalsuite.results.measure.summary import valid
from evalsuite.results.rules import copies, flops_and_energy, machine, printed_beside, work_done

# what tells how far a rule is broken: the first of its fields that is one of these
SIZES = ("change", "share", "factor", "points", "seconds")
# what a finding is about; two of one rule that are about different things are two
SUBJECTS = frozenset({"resource", "phase", "metric", "method", "option", "fact", "source", "failure", "name"})
LINE_OF_LOG = re.compile(r"\.(?:log|txt|out)(?::|#L)\d+$")
_RUN = re.compile(r"(.+)/r\d+")


def check_measurements(measurements: Iterable[Measurement], kept: Path | None = None) -> list[Measurement]:
    runs = copies.by_stamps([*measurements])
    told = [facts.statements_of(run) for run in runs]
    beside = by_key([*copies.copies(runs, kept).items(), *printed_beside.denied(runs), *_said_alone(runs, told)])
    return machine.with_causes([_checked(run, told[place], beside.get(place, ())) for place, run in enumerate(runs)])


def _said_alone(runs: Sequence[Measurement], told: Sequence[printed_beside.Told]) -> Iterable[tuple[int, Finding]]:
    """Of logs of one script: beside its steps a reference script says nothing of its own, the others what the logs of
    other cases say, or all those of their case."""
    of = [(run.run.case, f"{run.dialect} {run.origin == 'measured' and run.run.case.framework}") for run in runs]
    work = ((case.recipe, case.model, case.scale, case.precision, script) for case, script in of)
    for (recipe, *_), places in by_key((each, place) for place, each in enumerate(work)).items():
        said = {key: Counter(by) for key, by in by_key((key, of[at][0]) for at in places for key in told[at]).items()}
        cases, own = Counter(of[at][0] for at in places), recipe.startswith("reference-")
        rare = {key for key, by in said.items() if len(by) == 1 and (len(cases) > 1 or by.total() < len(places))}
        for place in places:
            alone = [lines[0] for key, lines in told[place].items() if (len(lines) == 1 if own else key in rare)]
            if alone and (own or len(alone) <= max(rules.SaidAlone.most, len(told[place]) / 2)):  # else another program
                yield place, rules.SaidAlone(lines=len(alone), text=alone[0][: rules.SaidAlone.longest])


def _checked(run: Measurement, told: printed_beside.Told, beside_others: Iterable[Finding]) -> Measurement:
    most, denied = rules.ImpossibleSamples.limit, flops_and_energy.denied(run) if run.utilisation else ()
    above = [u for u in run.utilisation if u.unit != "%" and u.capacity and u.mean > u.capacity * most]
    above += [use for use in run.utilisation if use.resource in denied and use not in above]
    possible = tuple(used for used in run.utilisation if used not in above)
    doubts = [
        *beside_others,
        *(rules.ImpossibleSamples(resources=(each.resource,), samples=each.samples) for each in above),
        *(*work_done.waits(run), *printed_beside.constant(run), *printed_beside.totals(run, told)),
        *latency.findings(run.breakdown),
        *work_done.findings(run),
        *flops_and_energy.impossible(run),
    ]
    placed = tuple(replace(finding, where=run.run.id) for finding in doubts)
    found = tuple(dict.fromkeys((*run.findings, *placed)))
    return replace(run, utilisation=possible, findings=found) if placed else run


def findings(summaries: Sequence[Row], known: Mapping[str, RunCommand]) -> tuple[Finding, ...]:
    """What only the whole shows. *known*: run id → what was run, with the speed-ups that imported tables print."""
    runs = [run for row in summaries for run in row.measurements]
    said = ((run.run.case.id, known[run.run.id].figure) for run in runs if run.run.id in known)
    figures = by_key((case, figure) for case, figure in said if figure)
    return (
        *_trends(valid(summaries)),
        *machine.uneven(valid(summaries)),
        *_missing_rows(valid(summaries), known),
        *(each for case, of in figures.items() for one in of for each in printed_beside.cited_figure(one, case)),
        *printed_beside.cited_speedups(valid(summaries), figures),
        *_same_line(valid(summaries), figures),
    )


def _same_line(rows: Sequence[Summary], figures: Mapping[str, Sequence[CitedFigure]]) -> Iterable[Finding]:
    """A line of a log is cited for two frameworks."""
    cited = by_key(
        (c.source or "", row.case) for row in rows for f in figures.get(row.case.id, ()) for c in f.citations
    )
    for source, cases in ((of, cases) for of, cases in cited.items() if LINE_OF_LOG.search(of)):
        pairs = ((case, other) for case in cases for other in cases if case.framework != other.framework)
        for case, other in {case: other for case, other in pairs}.items():
            yield rules.SameLine(source=source, other=other.id, where=case.id)


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
    """Of a median whose runs nobody shows, where the runs of others are shown: which they are was chosen."""
    stated, here = dict[str, int](), dict[str, int]()
    for row in summaries:
        figures = [c.figure for run in row.measurements if (c := commands.get(run.run.id)) and c.figure]
        runs = max((len(each.runs) for each in figures), default=0)
        stated[row.case.id] = max((figure.n or 0 for figure in figures), default=0)
        here[row.case.id] = sum(figure.kind == "run" for figure in figures) or runs
    shown = {row.case.model for row in summaries if here[row.case.id] > 1}
    for case in (row.case for row in summaries if here[row.case.id] < stated[row.case.id] > 1):
        if here[case.id] or case.model in shown:
            missing = f"{here[case.id] + 1}–{stated[case.id]}"
            yield rules.RepeatsMissing(repeats=missing, here=here[case.id], where=case.id)


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
    merged = []
    for same in groups.values():
        worst = min(same, key=lambda finding: (-beyond(finding), finding.where))
        places = {place for finding in same for place in (finding.where, *finding.also)} - {worst.where}
        merged.append(replace(worst, also=tuple(sorted(places))))
    return merged

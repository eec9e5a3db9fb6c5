"""D04: runs that are no repeats of their own: copies of another, parts of one training, values without any scatter."""

import functools
import hashlib
import marshal
import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC
from decimal import Decimal
from itertools import combinations, pairwise
from pathlib import Path

from evalsuite.core import findings as rules
from evalsuite.core.decode import instant
from evalsuite.core.model import Finding, Measurement, by_key
from evalsuite.results.measure import measuring
from evalsuite.results.measure.statistics import chance_of_equals, likest_before

OWN_LOGS = ("measured", "imported")  # of others a table's row is the log
FINE = 0.9  # of the steps have a time of their own
FEWEST_VALUES = 8  # different ones among the equal step times: coarse figures repeat themselves
DAY_S = 86_400.0  # after which a run is of another campaign
MOST_BEFORE = 20  # runs of a model and scale, against which each is held


def copies(runs: Sequence[Measurement], kept: Path | None = None) -> dict[int, Finding]:
    """*kept*: a file of what step times told; of a model and scale it is found anew where any run has others."""
    alike = by_key(((run.run.case.model, run.run.case.scale), place) for place, run in enumerate(runs)).values()
    groups = ([runs[place] for place in places] for places in alike)
    work = {_digest(of): functools.partial(lambda of: (_reshaped(of), _same_times(of)), of) for of in groups}
    found = [*zip(alike, measuring.make_once(kept, work).values(), strict=True)]
    reshaped, same = ({places[at]: each for places, of in found for at, each in of[kind].items()} for kind in (0, 1))
    of_logs = {**reshaped, **_at_once(runs), **_parts(runs), **same, **_same_bytes(runs)}
    return {**_scaled(runs), **_without_scatter(runs), **of_logs}


def _digest(runs: Iterable[Measurement]) -> str:
    each = ((run, run.throughput and run.throughput.counted) for run in runs)
    read = [(of.run.id, of.origin, of.printed_each, n and (n.before_s, n.seconds, n.after_s)) for of, n in each]
    return hashlib.sha256(marshal.dumps(read, 2)).hexdigest()  # a format without references


def by_stamps(runs: Sequence[Measurement]) -> list[Measurement]:
    """*runs*, with the campaign that is stated of imported logs as far as their stamps and hosts bear it out."""
    parts: dict[str, dict[str, tuple[float, frozenset[str]]]] = {}  # campaign → the name of a part → its end, its hosts
    whole = list(runs)
    for begin, end, place in _spans(runs):
        run, said = runs[place], runs[place].campaign
        if said is None:
            continue
        known = parts.setdefault(said, {})
        near = (name for name, (until, on) in known.items() if begin < until + DAY_S and not _apart(on, run.hosts))
        name = next(near, f"{run.started_at or '':.10} {' '.join(run.hosts)}".strip() if known else said)
        until, hosts = known.get(name, (end, frozenset()))
        known[name] = max(until, end), hosts | {*run.hosts}
        if name != said:
            found = rules.FactsDisagree(
                fact="campaign", source="stated", value=said, other_source="log", other_value=name, where=run.run.id
            )
            whole[place] = replace(run, campaign=f"{said}: {name}", findings=(*run.findings, found))
    return whole


def _spans(runs: Sequence[Measurement]) -> list[tuple[float, float, int]]:
    """Begin and end of logs from elsewhere by their own stamps, and their places; agents describe what they record."""
    spans = []
    for place, run in enumerate(runs):
        begin, described = instant(run.started_at), run.environment and run.environment.nodes
        if run.origin == "imported" and begin and run.duration_s is not None and not described:
            at = begin.replace(tzinfo=begin.tzinfo or UTC).timestamp()
            spans.append((at, at + run.duration_s, place))
    return sorted(spans)


def _apart(hosts: Collection[str], others: Collection[str]) -> bool:
    return bool(hosts and others) and set(hosts).isdisjoint(others)


def _at_once(runs: Sequence[Measurement]) -> Mapping[int, Finding]:
    """Of one case they are ranks or files of one training, and of several on one machine neighbours."""
    findings, running = dict[int, Finding](), dict[str, list[tuple[float, int]]]()  # the latter of each case
    alone, met = list[tuple[float, int]](), list[tuple[float, int]]()  # of all, without and with a finding
    cases, known = [run.run.case.id for run in runs], dict[object, int]()
    machines = [known.setdefault(run.environment, len(known)) for run in runs]  # to compare them whole takes long

    def meet(one: int, other: int) -> bool:
        return machines[one] == machines[other] and not _apart(runs[one].hosts, runs[other].hosts)

    for begin, end, place in _spans(runs):
        case, described = cases[place], runs[place].environment or runs[place].hosts
        own, alone, met = ([each for each in of if each[0] > begin] for of in (running.get(case, ()), alone, met))
        beside = [at for _, at in alone if described and cases[at] != case and meet(place, at)]
        if beside or (described and any(cases[at] != case and meet(place, at) for _, at in met)):
            findings |= dict.fromkeys((place, *beside), rules.SideBySide(evaluations=1))
        if others := [at for _, at in own if meet(place, at)]:
            findings[place] = rules.AtOnce(first=runs[others[-1]].run.id)
        new = [] if others else [(end, place)]
        running[case], alone = own + new, alone + new
        met += [each for each in alone if each[1] in findings]
        alone = [each for each in alone if each[1] not in findings]
    return findings


def _same_bytes(runs: Sequence[Measurement]) -> Mapping[int, Finding]:
    """Two runs of a short script without times may print the same; they do not begin and end at the same moment."""
    first, learnt = dict[object, str](), dict[object, tuple[str, str, str]]()
    findings = dict[int, Finding]()
    for place, run in enumerate(runs):
        attempt = (run.run.case.id, run.started_at, run.duration_s, run.campaign, run.round)
        told = () if run.origin == "imported" else attempt  # whatever case they are of
        if run.origin in OWN_LOGS and run.log_sha256 is not None:
            other = first.setdefault((run.log_sha256, run.origin, *told), run.run.id)
            if other != run.run.id:
                findings[place] = rules.SameBytes(first=other)
        losses, case = tuple(float(f"{loss:.5g}") for _, loss in run.course), run.run.case
        if len({*losses}) > FEWEST_VALUES and run.dialect:  # two frameworks lose the same
            own = (case.framework, run.dialect, run.run.id)
            framework, dialect, id = learnt.setdefault((case.model, losses), own)
            if case.framework != framework and run.dialect != dialect:
                findings[place] = rules.SameFigures(first=id, steps=len(losses))
    return findings


def _reshaped(runs: Sequence[Measurement]) -> Mapping[int, Finding]:
    """Step times that were multiplied, shuffled or turned round: in order of size they are those of another run; or
    its own step by step, with a little noise."""
    own: list[tuple[int, Sequence[float]]] = []
    for place, run in enumerate(runs):
        of = run.throughput.counted if run.throughput else None
        series = ((*of.before_s, *of.seconds, *of.after_s), of.seconds, run.printed_each) if of else ()
        if run.origin in OWN_LOGS:
            of_length = {len(each): each for each in series if len(each) >= rules.SameFigures.fewest and min(each) > 0}
            own += [(place, each) for each in of_length.values()]
    findings, rule, cases = dict[int, Finding](), rules.Reshaped, [run.run.case.id for run in runs]
    for group in (each for each in by_key((len(each[1]), each) for each in own).values() if len(each) > 1):
        likest = likest_before([seconds for _, seconds in group])
        same: dict[str, list[int]] = {cases[group[0][0]]: [0]}  # the earlier of a case
        for (place, seconds), (like, groups, near) in zip(group[1:], likest, strict=True):
            first = group[like if groups >= rule.groups else int(near.argmax())][0]
            earlier, most = same.setdefault(cases[place], []), near.max()
            follows = most > rule.together and len(earlier) > 1 and near[earlier].mean() > rule.together
            if (groups >= rule.groups or follows or most > rule.correlation) and first != place:
                findings[place] = rule(first=runs[first].run.id, steps=len(seconds))
            earlier.append(len(near))
    return findings


def _same_times(runs: Sequence[Measurement]) -> Mapping[int, Finding]:
    """Step times of another run: in a row, or more of them than chance gives, in whatever order."""
    findings, asked = dict[int, Finding](), rules.SameFigures
    known: list[tuple[int, tuple[float, ...], set[float], Sequence[set[float]]]] = []
    rows = functools.cache(_rows)
    for place, run in enumerate(runs):
        of = run.throughput.counted if run.throughput and run.origin in OWN_LOGS else None
        seconds = (*of.before_s, *of.seconds, *of.after_s) if of else ()
        exact, each = {*seconds}, [value for value in ((run.printed_each or seconds) if of else ()) if value > 0]
        values = {float(f"{value:.6g}") for value in each}
        changes = {round(later / value, 5) for value, later in pairwise(each)}  # whatever they were multiplied by
        kinds = (values, changes if min(len(values), len(changes)) > FINE * len(each) else set[float]())
        for other, their_seconds, theirs_exact, theirs in known[-MOST_BEFORE:]:
            row = len(exact & theirs_exact) >= FEWEST_VALUES  # which a row has at least
            in_a_row = row and not rows(seconds).isdisjoint(rows(their_seconds))
            shared = [(len(own & of), own, of) for own, of in zip(kinds, theirs, strict=True)]
            alike = (n >= asked.fewest and chance_of_equals(own, of) < asked.chance for n, own, of in shared)
            if in_a_row or any(alike):
                findings.setdefault(place, asked(first=runs[other].run.id, steps=max(n for n, *_ in shared)))
        known.append((place, seconds, exact, kinds))
    return findings


def _rows(seconds: tuple[float, ...]) -> set[tuple[float, ...]]:
    length = rules.SameFigures.fewest
    each = (seconds[at : at + length] for at in range(len(seconds) - length + 1))
    return {row for row in each if len({*row}) >= FEWEST_VALUES}


def _parts(runs: Sequence[Measurement]) -> Mapping[int, Finding]:
    brought = ((place, run) for place, run in enumerate(runs) if run.origin == "imported")
    of_case = by_key((run.run.case.id, (*run.printed_steps, place)) for place, run in brought if run.printed_steps)
    findings: dict[int, Finding] = {}
    for logs in of_case.values():
        for (begin, end, earlier), (after, _, place) in pairwise(sorted(logs)):
            if begin < after and after >= end - 1:  # steps are counted from 0 or from 1
                findings[place] = rules.OneTraining(first=runs[earlier].run.id, step=after)
    return findings


def _scaled(runs: Sequence[Measurement]) -> Mapping[int, Finding]:
    """Figures of a table that are those of another case in one proportion, one after the other: which of the two was
    made of the other, nothing tells."""
    told = ((run.run.case, (place, run.value)) for place, run in enumerate(runs) if run.origin not in OWN_LOGS)
    findings, rule = dict[int, Finding](), rules.ScaledFigures
    each = ((case, [*zip(*of, strict=True)]) for case, of in by_key(pair for pair in told if pair[1][1]).items())
    fine = ((case, of) for case, of in each if len({*of[1]}) >= max(rule.fewest, len(of[1])))
    scatters = ((case, of, rule.within * (max(of[1]) / min(of[1]) - 1)) for case, of in fine)
    alike = by_key(((case.model, len(of[1])), (case.id, *of, scatter)) for case, of, scatter in scatters)
    pairs = (pair for same in alike.values() for pair in combinations(same, 2))
    for (case, own, values, scatter), (other, theirs, others, _) in pairs:
        if abs(values[0] / values[1] * (others[1] / others[0]) - 1) > 2 * scatter:
            continue  # as most
        ratios = [a / b for a, b in zip(values, others, strict=True)]
        digits = (10.0 ** int(Decimal(repr(each)).as_tuple().exponent) / each for each in (*values, *others))
        if max(ratios) / min(ratios) - 1 <= scatter and max(digits) <= scatter:
            ratio, n = statistics.median(ratios), len(ratios)
            findings |= {place: rule(other=other, ratio=ratio, runs=n) for place in own}
            findings |= {place: rule(other=case, ratio=1 / ratio, runs=n) for place in theirs}
    return findings


def _without_scatter(runs: Sequence[Measurement]) -> Mapping[int, Finding]:
    of_case = by_key((run.run.case.id, place) for place, run in enumerate(runs) if run.counts and run.value is not None)
    findings, equal = dict[int, Finding](), rules.EqualRepeats
    alike = [(run.run.case.framework, run.run.case.model) for run in runs]
    rates = by_key((alike[place], value) for place, run in enumerate(runs) if (value := run.value) is not None)
    for places in of_case.values():
        values = [value for place in places if (value := runs[place].value) is not None]
        ends = (int(Decimal(repr(rate)).normalize().as_tuple().exponent) for rate in rates[alike[places[0]]])
        if runs[places[0]].origin not in OWN_LOGS and 10.0 ** min(ends) > equal.digit * max(values):
            continue  # rounded
        if any(of.tick > equal.limit for place in places if (of := runs[place].throughput)):
            continue  # their clock has no finer values
        if len(values) > 2 and statistics.pstdev(values) < equal.limit * statistics.fmean(values):
            findings |= {place: equal(repeats=len(values), first=runs[places[0]].run.id) for place in places[1:]}
    return findings

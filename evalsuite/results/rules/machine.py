"""Whether the machine was left alone and the same, and what of a run is its doing (docs/method.md, question 6)."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from evalsuite.core import findings as rules
from evalsuite.core import paths
from evalsuite.core.model import Finding, Measurement, Summary, by_key
from evalsuite.results.measure.summary import work_of_step

AMOUNTS = paths.read_data("criteria/records.toml")["uneven"]


def with_causes(runs: Sequence[Measurement]) -> list[Measurement]:
    """What only the times of a disturbed run tell is the machine's where its steps did the work of the undoubted runs
    of its case, else of its other scales: who leaves work out spends less, a neighbour changes the wall clock alone."""
    probes, marked = by_key((run.campaign, run.probe_s) for run in runs if run.campaign and run.probe_s), []
    for run in runs:
        least_s, probe_s = min(probes.get(run.campaign or "", ()), default=math.inf), run.probe_s or 0.0
        moved = rules.ProbeMoved(probe_s=probe_s, least_s=least_s, where=run.run.id)
        marked.append(replace(run, findings=(*run.findings, moved)) if probe_s > moved.factor * least_s else run)
    sound = [run for run in marked if run.counts and run.grounds == "clock"]
    known = by_key((name, run) for run in sound for name in (run.run.case.id, f"series {run.run.case.series}"))
    return [_explained(run, known) if run.disturbed else run for run in marked]


def uneven(rows: Sequence[Summary]) -> Iterator[Finding]:
    """Of one evaluation, model and scale: what all runs of a case had of their machine, and none of the others."""
    runs = ((row.case, run) for row in rows if row.origin == "measured" for run in row.measurements if run.counts)
    had = ((case, run.campaign, what, value) for case, run in runs for what, value in _had(run))
    told = by_key(((what, campaign, case.model, case.scale), (case.id, value)) for case, campaign, what, value in had)
    for (what, *_), alike in told.items():
        for case in dict(alike) if len(dict(alike)) > 1 else ():
            own, others = ([value for of, value in alike if (of == case) == mine] for mine in (True, False))
            words, enough = isinstance(own[0], str), min(len(own), len(others)) > 2
            mine, usual = (1.0 if words else median(of) for of in (own, others))
            far = words or abs(mine - usual) > AMOUNTS.get(what, rules.UnevenMachine.limit * abs(usual))
            apart = {*own}.isdisjoint(others) if words else max(own) < min(others) or max(others) < min(own)
            said = [", ".join(sorted({*of})) if words else f"{median(of):.3g}" for of in (own, others)]
            if apart and far and (words or enough):
                yield rules.UnevenMachine(what=what, here=said[0], others=said[1], where=case)


def _had(run: Measurement) -> Iterator[tuple[str, Any]]:
    used = {use.resource: use.mean for use in run.utilisation}
    room = [use.capacity for use in run.utilisation if use.resource == "job_memory"]
    left = [100 - used["cpu"] + used["job_cpu"]] if {"cpu", "job_cpu"} <= used.keys() else []  # by others
    system, probe = [fact.value for fact in run.facts if fact.key == "system"], filter(None, [run.probe_s])
    held = [used["memory"] - 100 * used["job_memory"] / most for most in room if most and "memory" in used]
    known = {"hosts": run.hosts, "system": system, "probe": probe, "left": left, "memory_of_others": held}
    known |= {name: [used[name]] for name in AMOUNTS if name in used and run.run.case.nodes == 1}
    return ((what, value) for what, values in known.items() for value in values)


def _explained(run: Measurement, known: Mapping[str, Sequence[Measurement]]) -> Measurement:
    timed = [found for found in run.findings if found.timing]
    alike, series = known.get(run.run.case.id, ()), known.get(f"series {run.run.case.series}", ())
    work, moved = _share(run, alike or series, work_of_step), _share(run, alike, _bytes)
    if not timed or work is None or abs(work - 1) > rules.TimedBeside.most:
        return run
    if moved is not None and abs(moved - 1) > rules.TimedBeside.bytes:
        return run
    codes = tuple(dict.fromkeys(found.code for found in timed))
    cause = rules.TimedBeside(codes=codes, work=work, where=run.run.id)
    return replace(run, findings=(*(found for found in run.findings if not found.timing), cause))


def _share(run: Measurement, others: Sequence[Measurement], of: Callable[[Measurement], float | None]) -> float | None:
    own, known = of(run), [value for each in others if (value := of(each))]
    return own / median(known) if own and known else None


def _bytes(run: Measurement) -> float | None:
    """Of a step between the processes of a job; None of a single one."""
    window = run.throughput.window if run.throughput else None
    if window is None or not window.length_s or run.run.case.total_devices == 1:
        return None
    moved = [use.mean for use in run.utilisation if use.resource in ("loopback", "network_send")]
    return sum(moved) * window.length_s / window.steps

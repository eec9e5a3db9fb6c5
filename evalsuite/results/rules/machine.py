"""Whether the machine was left alone and the same, and what of a run is its doing (docs/method.md, question 6)."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from statistics import median

from evalsuite.core import findings as rules
from evalsuite.core.model import Finding, Measurement, by_key
from evalsuite.results.measure.summary import work_of_step

BETWEEN = ("loopback", "network_send")  # processes of a job


def with_causes(runs: Sequence[Measurement]) -> list[Measurement]:
    """What only the times of a disturbed run tell is the machine's where its steps did the work of the others'.

    A script that leaves work out spends less of it; a neighbour changes the wall clock alone. Held against are the
    undoubted runs of its case, else those of its other scales: without any the doubt remains.
    """
    marked = [replace(run, findings=(*run.findings, *_moved(run, least_s))) for run, least_s in _with_least(runs)]
    sound = [run for run in marked if run.counts and run.grounds == "clock"]
    of_case, of_series = (
        by_key((run.run.case.id, run) for run in sound),
        by_key((run.run.case.series, run) for run in sound),
    )
    return [
        _explained(run, of_case.get(run.run.case.id, []), of_series.get(run.run.case.series, []))
        if run.disturbed
        else run
        for run in marked
    ]


def _with_least(runs: Sequence[Measurement]) -> Iterator[tuple[Measurement, float]]:
    probes = by_key((run.campaign, run.probe_s) for run in runs if run.campaign and run.probe_s)
    for run in runs:
        yield run, min(probes.get(run.campaign or "", ()), default=math.inf)


def _moved(run: Measurement, least_s: float) -> Iterator[Finding]:
    if run.probe_s is not None and run.probe_s > rules.ProbeMoved.factor * least_s:
        yield rules.ProbeMoved(probe_s=run.probe_s, least_s=least_s, where=run.run.id)


def _explained(run: Measurement, alike: Sequence[Measurement], series: Sequence[Measurement]) -> Measurement:
    timed = [found for found in run.findings if found.timing]
    work = _share(run, alike or series, work_of_step)
    moved = _share(run, alike, _bytes)
    if not timed or work is None or abs(work - 1) > rules.TimedBeside.most:
        return run
    if moved is not None and abs(moved - 1) > rules.TimedBeside.bytes:
        return run
    codes = tuple(dict.fromkeys(found.code for found in timed))
    cause = rules.TimedBeside(codes=codes, work=work, where=run.run.id)
    return replace(run, findings=(*(found for found in run.findings if not found.timing), cause))


def _share(
    run: Measurement, others: Sequence[Measurement], of_step: Callable[[Measurement], float | None]
) -> float | None:
    own, known = of_step(run), [value for each in others if (value := of_step(each))]
    return own / median(known) if own and known else None


def _bytes(run: Measurement) -> float | None:
    """Of a step between the processes of a job; None of a single one."""
    window = run.throughput.window if run.throughput else None
    if window is None or not window.length_s or run.run.case.total_devices == 1:
        return None
    moved = [use.mean for use in run.utilisation if use.device is None and use.resource in BETWEEN]
    return sum(moved) * window.length_s / window.steps


def other_nodes(runs: Iterable[Measurement]) -> Iterable[Finding]:
    """For each scale whose runs were not all made on the same nodes; one node has a new name in every container."""
    by_scale = by_key(
        (run.run.case.scale, tuple(sorted(run.hosts)))
        for run in runs
        if run.run.case.nodes > 1 and run.value is not None and len(run.hosts) == run.run.case.nodes
    )
    for scale, hosts in sorted(by_scale.items()):
        (usual, times), *others = Counter(sorted(hosts)).most_common()
        if others:
            apart = len(hosts) - times
            yield rules.OtherNodes(scale=scale, nodes=usual, others=others[0][0], runs=apart, of_runs=len(hosts))

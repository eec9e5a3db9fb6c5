"""Whether the runs of a scale were made on the same nodes."""

from collections import Counter
from collections.abc import Iterable, Sequence

from evalsuite.findings import DifferentNodes, OtherNodes
from evalsuite.model import Finding, Measurement, Row, Summary, by_key
from evalsuite.results.compare import fairness
from evalsuite.results.measure.summary import valid, with_findings

Nodes = frozenset[tuple[str, ...]]


def findings(runs: Sequence[Measurement]) -> Iterable[Finding]:
    """For each scale whose runs were not all made on the same nodes; one node has a new name in every container."""
    by_scale = by_key(
        (run.run.case.scale, run.hosts)
        for run in runs
        if run.run.case.nodes > 1 and run.value is not None and len(run.hosts) == run.run.case.nodes
    )
    for scale, hosts in sorted(by_scale.items()):
        (usual, times), *others = Counter(sorted(hosts)).most_common()
        if others:
            yield OtherNodes(scale=scale, nodes=usual, others=others[0][0], runs=len(hosts) - times, of_runs=len(hosts))


def mark_summaries(rows: Iterable[Row]) -> list[Row]:
    """*rows*, with a finding on each case that was made on other nodes than most of those it is compared with."""
    found = list(rows)
    marks: dict[str, tuple[Finding, ...]] = {}
    stood = {one.case.id: nodes for one in valid(found) if (nodes := _nodes(one))}
    known = [one for one in valid(found) if one.case.id in stood]
    at = by_key((one.case.scale, stood[one.case.id]) for one in known)
    mixed = [one for one in known if len({*at[one.case.scale]}) > 1]
    for members in fairness.groups(mixed, fairness.FRAMEWORKS):
        ((usual, _),) = Counter(stood[one.case.id] for one in members).most_common(1)
        for case in (one.case.id for one in members):
            if stood[case] != usual:
                marks[case] = (DifferentNodes(nodes=_all(stood[case]), others=_all(usual), where=case),)
    return with_findings(found, marks)


def _nodes(summary: Summary) -> Nodes:
    hosts = [tuple(sorted(run.hosts)) for run in summary.measurements if run.counts]
    told = summary.case.nodes > 1 and all(len(each) == summary.case.nodes for each in hosts)
    return frozenset(hosts) if told else frozenset()


def _all(nodes: Nodes) -> tuple[str, ...]:
    return tuple(sorted({name for each in nodes for name in each}))

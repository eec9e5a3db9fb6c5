"""Whether the runs of a scale were made on the same nodes."""

from collections import Counter
from collections.abc import Iterable, Sequence

from evalsuite.core.findings import DifferentNodes, OtherNodes
from evalsuite.core.model import Finding, Measurement, Row, Summary, by_key
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
    marked = list(rows)
    marks: dict[str, tuple[Finding, ...]] = {}
    stood = {row.case.id: nodes for row in valid(marked) if (nodes := _nodes(row))}
    known = [row for row in valid(marked) if row.case.id in stood]
    at = by_key((row.case.scale, stood[row.case.id]) for row in known)
    mixed = [row for row in known if len({*at[row.case.scale]}) > 1]
    for members in fairness.groups(mixed, fairness.FRAMEWORKS):
        ((usual, _),) = Counter(stood[member.case.id] for member in members).most_common(1)
        for case in (member.case.id for member in members):
            if stood[case] != usual:
                marks[case] = (DifferentNodes(nodes=_all(stood[case]), others=_all(usual), where=case),)
    return with_findings(marked, marks)


def _nodes(summary: Summary) -> Nodes:
    hosts = [tuple(sorted(run.hosts)) for run in summary.measurements if run.counts]
    told = summary.case.nodes > 1 and all(len(each) == summary.case.nodes for each in hosts)
    return frozenset(hosts) if told else frozenset()


def _all(nodes: Nodes) -> tuple[str, ...]:
    return tuple(sorted({name for each in nodes for name in each}))

"""Whether the runs of a scale were made on the same machines: a spare one that took a dead one's place is another."""

from collections import Counter
from collections.abc import Iterable, Sequence

from evalsuite.findings import OtherNodes
from evalsuite.model import Finding, Measurement


def findings(runs: Sequence[Measurement]) -> Iterable[Finding]:
    """A finding for each scale over several machines whose runs with a value were not all made on the same ones.

    A single machine has a new name in every container, and says nothing by it.
    """
    by_scale: dict[str, list[tuple[str, ...]]] = {}
    for run in runs:
        if run.run.case.nodes > 1 and run.value is not None and len(run.hosts) == run.run.case.nodes:
            by_scale.setdefault(run.run.case.scale, []).append(run.hosts)
    for scale, hosts in sorted(by_scale.items()):
        (usual, times), *others = Counter(sorted(hosts)).most_common()
        if others:
            yield OtherNodes(scale=scale, nodes=usual, others=others[0][0], runs=len(hosts) - times, of_runs=len(hosts))

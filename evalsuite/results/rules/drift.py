"""Whether the machine itself changed during a campaign, by the fixed computation before each block of its runs."""

from collections.abc import Iterable, Sequence

from evalsuite.findings import MachineDrifts
from evalsuite.model import Finding, Measurement


def findings(runs: Sequence[Measurement]) -> Iterable[Finding]:
    blocks: dict[str, dict[tuple[int | None, str], float]] = {}
    for run in runs:
        if run.campaign is not None and run.probe_s is not None:
            blocks.setdefault(run.campaign, {})[run.round, run.run.case.scale] = run.probe_s
    for campaign, probes in blocks.items():
        least, most = min(probes.values()), max(probes.values())
        if most / least - 1 > MachineDrifts.limit:
            yield MachineDrifts(
                campaign=campaign, least_s=least, most_s=most, blocks=len(probes), change=most / least - 1
            )

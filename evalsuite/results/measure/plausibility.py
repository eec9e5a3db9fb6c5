"""Whether a run trained what its case says, and whether its records fit together."""

import re
from collections.abc import Iterator, Mapping

from evalsuite.core import findings
from evalsuite.core.documents import HostEnvironment
from evalsuite.core.model import ARRIVALS, COUNTS, DECIDING_ORIGINS, STAMPS, Case, Finding, Throughput
from evalsuite.core.placeholders import CONTAINER_LINK
from evalsuite.logs.clocks import LATE
from evalsuite.logs.reading import Reading
from evalsuite.logs.steps.throughput import disagreement
from evalsuite.runs.endings import Outcome
from evalsuite.runs.recordings import is_recording
from evalsuite.runs.store import RunFolder

UNOPENED = "Unable to open device"  # so there is one


def implausible(
    folder: RunFolder, case: Case, outcome: Outcome, environments: Mapping[str, HostEnvironment], read: Reading
) -> Iterator[Finding]:
    held, measured = outcome.sha256 or {}, read.throughput
    yield from changed(folder, {name: held.get(name) for name in folder.changed(outcome)})
    recorded = outcome.origin is None or is_recording(folder.path)  # by our agents
    if measured is not None and measured.items_per_s is not None:
        yield from _of_clocks(measured, outcome.origin, recorded)
    if not recorded:
        return
    hosts = set(environments) or {log.host for log in folder.logs()}
    if 0 < len(hosts) < case.nodes:
        yield findings.OtherDevices(told="nodes_recorded", seen=len(hosts), planned=case.nodes)
    # one process may speak for all, or one on each node; any other number below that of the devices is too few
    if 1 < read.printers < case.total_devices and read.printers != case.nodes:
        yield findings.OtherDevices(told="processes_printed", seen=read.printers, planned=case.total_devices)
    denied = (each for each in read.findings if isinstance(each, findings.ContradictsLog) and each.what == "devices")
    for seen in (round(each.printed) for each in denied):
        if seen != case.devices_per_node:
            yield findings.OtherDevices(told="devices_said", seen=seen, planned=case.total_devices)


def changed(folder: RunFolder, held: Mapping[str, str | None]) -> tuple[Finding, ...]:
    """What is said of files of *folder* that have not the hash that is *held* of them; None: none is."""
    files = tuple(sorted(name for name, recorded in held.items() if not folder.is_touched(name, recorded)))
    return (findings.ChangedSinceRun(files=files),) if files else ()


def beside(measured: Throughput | None, mean: float | None) -> Iterator[Finding]:
    """Against a rate that is printed beside what is read, a mean since the start: that may take a third of it."""
    if measured is None or not measured.items_per_s or not mean:
        return
    share, limit = mean / measured.items_per_s, findings.ClocksFarApart.limit
    if not 1 / (limit * LATE) < share < limit:
        yield disagreement(measured.items_per_s, measured.method, mean, COUNTS)
        yield findings.ClocksFarApart(difference=share - 1)


def _of_clocks(measured: Throughput, origin: str | None, recorded: bool) -> Iterator[Finding]:
    rule, ours = findings.ClocksFarApart, {STAMPS, ARRIVALS}
    clocks = (each for each in measured.findings if isinstance(each, findings.ClockDisagrees))
    limits = ((each, 1 + rule.clocks if {each.method, each.other_method} == ours else rule.limit) for each in clocks)
    if far := [each for each, limit in limits if each.factor > limit]:
        yield rule(difference=max(far, key=lambda clock: clock.factor).difference)
    stamped = measured.stamps_within is not None and measured.stamps_within <= findings.PrintedOnly.limit
    timed = measured.clock_items_per_s is not None or (stamped and origin == "imported" and not recorded)
    if not timed and origin in (None, *DECIDING_ORIGINS):
        yield findings.PrintedOnly(method=measured.method)


def by_nccl(case: Case, environments: Mapping[str, HostEnvironment], read: Reading) -> Iterator[Finding]:
    """Whether the gradients went the way that the machines have for them, by NCCL's own lines (docs/clusters.md)."""
    if case.device != "gpu" or case.total_devices == 1:
        return
    said = {kind: line for each in reversed(read.collectives) for kind, line in each.said.items()}
    if case.nodes == 1 or "Socket" not in said or any(kind.startswith("IB") for kind in said):
        return
    unopened, chosen = said.get("", said["Socket"]), said["Socket"]
    ports = any("/" in name for host in environments.values() for name in host.interfaces or {})
    links = any(CONTAINER_LINK.match(name) for name in re.findall(r"\[\d+\]([\w.@-]+):", chosen[1]))
    if UNOPENED in unopened[1] or ports or links:
        line, text = chosen if links else unopened
        yield findings.SocketsUsed(line=line, text=text)

"""Whether a run trained what its case says, and whether its records fit together."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from evalsuite import __version__
from evalsuite.core import findings, model
from evalsuite.core.decode import instant, number
from evalsuite.core.documents import HostEnvironment, RunCommand
from evalsuite.core.model import ARRIVALS, COUNTS, DECIDING_ORIGINS, STAMPS, Case, Finding, Throughput
from evalsuite.core.placeholders import CONTAINER_LINK
from evalsuite.logs.clocks import LATE
from evalsuite.logs.reading import Reading
from evalsuite.logs.steps.throughput import disagreement
from evalsuite.results.measure import as_given, facts
from evalsuite.runs.endings import ENDED_WELL, AgentOutcome, Outcome
from evalsuite.runs.recordings import is_recording
from evalsuite.runs.samples import Header, Samples
from evalsuite.runs.store import RunFolder

RULE = findings.RecordsDisagree
UNOPENED = "Unable to open device"  # so there is one


def _near(share: float, least: float = 0.0) -> Callable[[Any, Any], bool]:
    return lambda one, other: one == other or abs(_number(one) - _number(other)) <= max(least, share * _number(one))


# a record, its fact, another record, its fact, whether they agree: asked of each run that has both
PAIRS: tuple[tuple[str, str, str, str, Callable[[Any, Any], bool]], ...] = (
    ("journal", "status", "run", "counts", lambda status, counts: not counts or status in ENDED_WELL),
    ("journal", "items_per_s", "run", "value", _near(0.01)),
    ("journal", "started_at", "run", "started_at", _near(0.0, RULE.clocks_s)),
    ("outcome", "started_at", "agent", "started_at", _near(0.0, RULE.clocks_s)),  # which a queue may hold up
    ("agent", "started_at", "samples", "started_at_unix_s", _near(0.0, RULE.begin_s)),  # of one process
    ("outcome", "duration_s", "agent", "duration_s", _near(0.0, RULE.around_s)),
    ("outcome", "exit_code", "agent", "exit_code", lambda whole, own: whole != 0 or own == 0),
    ("command", "command", "agent", "command", lambda asked, ran: ran[len(ran) - len(asked) :] == asked),
    ("command", "script_sha256", "command", "workload", str.__eq__),
    ("agent", "cores", "samples", "cores", lambda shares, cores: {*sum(shares, ())} == {*cores}),
    ("agent", "samples", "samples", "readings", _near(RULE.samples, RULE.fewest)),
    ("agent", "due", "samples", "readings", lambda due, read: due < RULE.fewest or read >= (1 - RULE.samples) * due),
    ("agent", "group_cpu_s", "samples", "cpu_s", lambda counted, sampled: sampled <= 2.0 + RULE.cpu * counted),
    ("environment", "memory_total_bytes", "samples", "memory_total_bytes", _near(0.05)),
    ("log", "parameters", "samples", "memory_bytes", lambda parameters, used: used >= parameters),  # a byte of each
)


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


def of_attempt(attempt: model.Attempt, run: model.Measurement, command: RunCommand) -> Iterator[Finding]:
    """Another version of evalsuite may read another value of a log."""
    alike = command.evalsuite == __version__ and run.throughput and run.throughput.unit == attempt.unit
    here = {"counts": run.counts, "value": run.value if alike else None, "started_at": run.started_at}
    return _differing(journal=vars(attempt), run=here) if run.origin == "measured" else iter(())


def of_hosts(
    case: Case, outcome: Outcome, command: RunCommand, agents: Mapping[str, AgentOutcome],
    samples: Mapping[str, Samples], machines: Mapping[str, HostEnvironment], said: Sequence[model.Fact],
) -> Iterator[Finding]:  # fmt: skip
    # elsewhere a run waits for its nodes, and its launcher has an exit code of its own
    apart = dict.fromkeys(("started_at", "duration_s", "exit_code")) if command.engine != "local" else {}
    workload, sizes = (command.workload_sha256 or {}).get(as_given.script(command)), facts.believed(said)
    parameters = number(sizes["parameters"].value) if "parameters" in sizes else None
    if outcome.enough == "hung":
        yield findings.HungAtEnd()
    if beside := max((agent.beside or 0 for agent in agents.values()), default=0):
        yield findings.SideBySide(evaluations=beside)
    for host, agent in agents.items():
        header, tables = (known.header, known.tables) if (known := samples.get(host)) else (Header(hz=2.0), {})
        rows = {name: [value for value in of.get("", ()) if value is not None] for name, of in tables.items()}
        most = {name: max(rows.get(f"tree.{name}", ()), default=None) for name in ("cpu_s", "memory_bytes")}
        taken = 1 - agent.samples_missed / max(1, agent.samples + agent.samples_missed)
        read = {"due": round(agent.duration_s * header.hz * taken), **({"samples": None} if outcome.trimmed else {})}
        yield from _differing(
            outcome=vars(outcome) | apart,
            command=vars(command) | {"workload": workload},
            agent=vars(agent) | read,
            samples=vars(header) | most | {"readings": len(rows.get("at_s", ()))},
            environment=vars(machines[host]) if host in machines else {},
            log={"parameters": parameters if case.device == "cpu" and case.nodes == 1 else None},
        )


def _differing(**said: Mapping[str, Any]) -> Iterator[Finding]:
    for record, fact, other, other_fact, agree in (each for each in PAIRS if {each[0], each[2]} <= {*said}):
        a, b = said[record].get(fact), said[other].get(other_fact)
        if None not in (a, b) and not agree(a, b):
            yield RULE(fact=fact, record=record, value=str(a), other=other, other_value=str(b))


def _number(said: Any) -> float:
    at = instant(said) if isinstance(said, str) else None
    return at.timestamp() if at else float(said)

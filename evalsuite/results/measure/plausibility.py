"""Whether a run trained what its case says, and whether its records fit together."""

import itertools
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from evalsuite import __version__
from evalsuite.core import findings, model, paths
from evalsuite.core.decode import instant, number
from evalsuite.core.documents import HostEnvironment, RunCommand
from evalsuite.core.model import ARRIVALS, COUNTS, DECIDING_ORIGINS, STAMPS, Case, Finding, Run, Throughput
from evalsuite.core.placeholders import CONTAINER_LINK
from evalsuite.logs.clocks import LATE
from evalsuite.logs.reading import Reading
from evalsuite.logs.steps.throughput import disagreement
from evalsuite.results.measure import as_given
from evalsuite.runs.endings import ENDED_WELL, AgentOutcome, Outcome
from evalsuite.runs.recordings import is_recording
from evalsuite.runs.samples import Header, Samples
from evalsuite.runs.store import RunFolder

RULE, RECORDS = findings.RecordsDisagree, paths.read_data("criteria/records.toml")
HEADS: Mapping[str, Any] = RECORDS["heads"]
OF_HEADS = ["words", *dict.fromkeys(name for of in HEADS.values() if isinstance(of, dict) for name in of)]
SAID = [("case", name) for name in HEADS["each"] + HEADS["some"]] + [("workload", name) for name in OF_HEADS]
PAIRS = [*RECORDS["pairs"], *((record, name, "log", name, "alike") for record, name in SAID)]
HEAD, WORD = re.compile(r"reference workload: (?!step=)(.+)"), re.compile(r"(\w+)=(\S*)")
ENGINES = {"sample": "local", "on-hosts": "hosts"}  # by our command that they begin
MOST = ("tree.cpu_s", "tree.memory_bytes", "memory_used_bytes")  # of the samples: the largest value
UNOPENED = "Unable to open device"  # so there is one
ZONES_S, MOST_ZONE_S, YEARLESS_S = 900, 14 * 3600, 180 * 86_400  # between zones; from UTC; of another year


def _within(whole: tuple[float, float], printed: tuple[float, float]) -> bool:
    """A log tells its times in a zone of its own, and some without a year."""
    zone_s = (printed[0] - whole[0] + RULE.begin_s) // ZONES_S * ZONES_S
    here = abs(zone_s) <= MOST_ZONE_S and printed[1] - zone_s <= whole[1] + RULE.begin_s
    return here or abs(zone_s) > YEARLESS_S


WAYS: Mapping[str, Callable[..., bool]] = {  # in which two records agree
    "same": operator.eq,
    "alike": lambda a, b: str(a) == b,
    "near": lambda a, b, share=0.0, least=0.0: abs(_number(a) - _number(b)) <= max(least, share * _number(a)),
    "most": lambda a, b, share, more: not a or b <= share * a + more,
    "least": lambda a, b, share, less: b >= share * a - less,
    "within": _within,
    "well": lambda status, counts: not counts or status in ENDED_WELL,
    "ill": lambda status, failed: not failed or status not in ENDED_WELL,
    "exit": lambda whole, own: whole != 0 or own == 0,
    "asked": lambda asked, ran: ran[len(ran) - len(asked) :] == asked,  # behind a container's runtime
    "cores": lambda shares, cores: {*sum(shares, ())} == {*cores},
    "each": lambda cores, shares: cores == tuple(map(len, shares)),
    "after": lambda a, b: _number(b) > _number(a) - findings.StepsUnfinished.lag_s,
    "named": lambda host, named: not named or host.partition(".")[0] in {each.partition(".")[0] for each in named},
}


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


def of_attempt(
    attempt: model.Attempt, run: model.Measurement, command: RunCommand, previous_at: str | None
) -> Iterator[Finding]:
    """Another version of evalsuite may read another value of a log."""
    alike = {"value": run.value, "unit": run.throughput and run.throughput.unit}
    here = {"counts": run.counts, "started_at": run.started_at, **(alike if command.evalsuite == __version__ else {})}
    took = (_number(attempt.ended_at) - _number(attempt.started_at)) if attempt.ended_at else None
    outcome = vars(run) if command.engine == "local" else {}
    journal = vars(attempt) | {"duration_s": took, "previous_at": previous_at if command.engine == "local" else None}
    return _differing(journal=journal, run=here, outcome=outcome) if run.origin == "measured" else iter(())


def of_hosts(
    run: Run, outcome: Outcome, command: RunCommand, agents: Mapping[str, AgentOutcome],
    samples: Mapping[str, Samples], machines: Mapping[str, HostEnvironment], log: Mapping[str, Any],
) -> Iterator[Finding]:  # fmt: skip
    if outcome.enough == "hung":
        yield findings.HungAtEnd()
    if beside := max((agent.beside or 0 for agent in agents.values()), default=0):
        yield findings.SideBySide(evaluations=beside)
    begin_s = _number(outcome.started_at) if outcome.started_at else None
    span = (begin_s, begin_s + outcome.duration_s) if begin_s is not None and outcome.duration_s else None
    # elsewhere a run waits for its nodes, and its launcher has an exit code and a clock of its own
    local, case = command.engine == "local", run.case
    apart = {} if local else dict.fromkeys(("started_at", "duration_s", "exit_code"))
    apart |= {"unstopped": None if outcome.enough else outcome.status}
    each = {
        "outcome": vars(outcome) | {"span": span if local else None} | apart,
        "command": vars(command)
        | {"model": command.recipe.model, "name": command.recipe.name}
        | {"workload": (command.workload_sha256 or {}).get(as_given.script(command))}
        | {"round": command.campaign and command.campaign.round, "data": (command.recipe.facts or {}).get("data")},
        "case": vars(case)
        | {"repeat": run.repeat, "devices": case.total_devices, "global_batch": case.global_batch}
        | {"steps": case.protocol.total_steps, "amp_kind": {"fp32": "none"}.get(case.precision), **dict(case.options)}
        | {"cores": (case.cores_per_device,) * case.devices_per_node if case.cores_per_device else None},
        "argv": _launched(command.argv) if command.evalsuite == __version__ else {},
        "log": log,
        "workload": {"words": "", **HEADS.get(case.model, {})},
    }
    for host, agent in agents.items():
        header, tables = (known.header, known.tables) if (known := samples.get(host)) else (Header(hz=2.0), {})
        rows = {name: [value for value in of.get("", ()) if value is not None] for name, of in tables.items()}
        most = {name.rpartition(".")[2]: max(rows.get(name, ()), default=None) for name in MOST}
        if (shares := rows.get("cpu_percent")) and header.cpu_count:
            span_s = rows["at_s"][-1] - rows["at_s"][0]
            most["machine_s"] = sum(shares) / len(shares) / 100 * header.cpu_count * span_s
        taken = 1 - agent.samples_missed / max(1, agent.samples + agent.samples_missed)
        read = {"due": round(agent.duration_s * header.hz * taken), **({"samples": None} if outcome.trimmed else {})}
        ended = {"ended_s": None if agent.timed_out else agent.duration_s}
        yield from _differing(
            **each,
            agent=vars(agent) | read | ended,
            samples=vars(header) | most | {"readings": len(rows.get("at_s", ()))},
            environment=vars(machines[host]) if host in machines else {},
        )


def _launched(argv: Sequence[str]) -> dict[str, Any]:
    words = argv[argv.index("sample") :] if "sample" in argv else ()
    own = words[: words.index("--")] if "--" in words else ()
    begun = {"engine": ENGINES.get(argv[3]) if argv[1:3] == ("-m", "evalsuite") else None}
    return {**begun, **dict(itertools.pairwise(own)), "command": words[len(own) + 1 :]} if own else {}


def of_head(head: str, model: str) -> dict[str, str]:
    """What a reference workload says at its start; what it lacks, as none, and what none of ours says."""
    said, own = dict(word for line in HEAD.findall(head) for word in WORD.findall(line)), HEADS.get(model, {})
    others = (f"{name}={value}" for name, value in said.items() if name not in (*HEADS["each"], *HEADS["some"], *own))
    return {**dict.fromkeys((*HEADS["each"], *own), "none"), **said, "words": " ".join(others)} if said else {}


def _differing(**said: Mapping[str, Any]) -> Iterator[Finding]:
    for record, fact, other, other_fact, way, *limits in (each for each in PAIRS if {each[0], each[2]} <= {*said}):
        a, b = said[record].get(fact), said[other].get(other_fact)
        allowed = (getattr(RULE, each) if isinstance(each, str) else each for each in limits)
        if None not in (a, b) and not WAYS[way](a, b, *allowed):
            yield RULE(fact=fact, record=record, value=str(a), other=other, other_value=str(b))


def _number(said: Any) -> float:
    at = instant(said) if isinstance(said, str) else None
    known = at.timestamp() if at else number(str(said))
    return math.nan if known is None else known

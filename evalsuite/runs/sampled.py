"""What `evalsuite sample` left in one folder, of one node or many: a run without a case; and samples as a table."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message
from evalsuite.runs import campaign_facts
from evalsuite.runs.endings import Outcome
from evalsuite.runs.store import RunFolder

Cell = str | float | None  # None: not read


def find_lack(folder: RunFolder) -> str | None:
    """Why the records are no whole run. Raises EvalsuiteError for one that cannot be read."""
    if folder.launched:
        return Message("runs.sample_case")
    campaign_facts.read(folder.path)
    agents, environments, logs = folder.agents(), folder.environments(), folder.logs()
    hosts = sorted({*agents, *environments, *folder.sampled_hosts(), *(log.host for log in logs)})
    by_kind: dict[str, dict[str, object]] = {"agent": {**agents}, "environment": {**environments}}
    absent = [f"{kind}.{host}.json" for kind, there in by_kind.items() for host in hosts if host not in there]
    if absent:
        return Message("runs.sample_open", files=absent)
    for ranked in (
        [(described.node_rank, host) for host, described in environments.items()],
        [(log.rank, log.host) for log in logs],
    ):
        for rank, number in Counter(rank for rank, _ in ranked if rank is not None).items():
            if number > 1:
                return Message("runs.sample_rank", hosts=[host for each, host in ranked if each == rank], rank=rank)
    planned = max((agent.nodes or 0 for agent in agents.values()), default=0)
    if planned > len(hosts):
        return Message("runs.sample_nodes", hosts=hosts, planned=planned)
    held = {name: digest for agent in agents.values() for name, digest in (agent.sha256 or {}).items()}
    changed = folder.others(held)
    return Message("runs.sample_changed", files=changed) if changed else None


def outcome(folder: RunFolder) -> Outcome:
    agents = [*folder.agents().values()]
    code = next((agent.exit_code for agent in agents if agent.exit_code), 0)
    duration_s = max(agent.duration_s for agent in agents)
    ended = Outcome(
        status="completed",
        reason="",
        exit_code=code,
        started_at=min(agent.started_at for agent in agents),
        duration_s=duration_s,
        origin="imported",
    )
    if any(agent.timed_out for agent in agents):
        return replace(ended, status="timed_out", reason=Message("launch.run_limit", seconds=duration_s))
    if code:
        error = next((agent.error for agent in agents if agent.error), None)
        return replace(ended, status="failed", reason=error or Message("launch.run_exit", code=code))
    return ended


def device(folder: RunFolder) -> str | None:
    """The kind of the accelerators that worked, "cpu" where no host has one; None: the records do not say."""
    kinds = {gpu.kind or "gpu" for host in folder.environments().values() for gpu in host.gpus or ()}
    if not kinds:
        return "cpu" if all(host.gpus == () for host in folder.environments().values()) else None
    samples = [folder.samples(host) for host in folder.sampled_hosts()]
    used = [host.tables.get("gpus.utilisation_percent", {}) for host in samples if host]
    worked = any(value for rows in used for row in rows.values() for value in row)
    return kinds.pop() if worked and len(kinds) == 1 else None


def rows(folder: RunFolder) -> Iterator[list[Cell]]:
    """A head, then the readings of one host after the other. Columns: `disks.read_bytes[sda]`. Raises EvalsuiteError
    where there is nothing to read."""
    hosts = folder.sampled_hosts()
    if not hosts:
        raise EvalsuiteError.of("runs.samples_none", path=folder.path)
    known: dict[str, dict[str, list[float | None]]] = {}
    for host in hosts:
        samples = folder.samples(host)
        if samples is None or not samples.tables:
            raise EvalsuiteError.of("runs.samples_empty", path=folder.samples_path(host))
        tables = samples.tables
        named = ((name, device, row) for name, rows in tables.items() for device, row in rows.items())
        known[host] = {f"{name}[{device}]" if device else name: row for name, device, row in named}
    names = list(dict.fromkeys(name for columns in known.values() for name in columns))
    yield ["host", *names]
    for host, columns in known.items():
        for place in range(len(columns["at_s"])):
            yield [host, *(columns[name][place] if name in columns else None for name in names)]

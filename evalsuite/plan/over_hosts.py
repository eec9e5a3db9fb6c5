"""The engine "hosts": one agent on each of the first hosts of a list, over plain ssh, Open MPI 4 or 5, or Hydra.

Nothing is left to luck: rank, hosts, the place where they meet and every variable stand in the command line itself
(`env NAME=VALUE`), which each of the launchers carries as it is. Sources: mpirun(1) of Open MPI 4.1 and 5.0, and
`mpiexec.hydra --help` of MPICH 4; all are started by tests/real/test_mpi_launchers.py.
"""

import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evalsuite.errors import EvalsuiteError, did_you_mean
from evalsuite.messages import Message
from evalsuite.model import Case
from evalsuite.placeholders import FIRST_PORT, LAST_PORT
from evalsuite.plan.engines import Argv, Engine
from evalsuite.plan.hosts import Host, too_small

PATIENCE = (
    *("-o", "BatchMode=yes", "-o", "ConnectTimeout=10"),  # nobody is there to type a password
    *("-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3"),  # a host that is cut off is known after 15 s
)
# Between Open MPI's daemons: a host that is cut off is known after 25 s, on both sides (300 + 9 × 20 s by default).
KEPT_ALIVE = {"oob_tcp_keepalive_time": 10, "oob_tcp_keepalive_intvl": 5, "oob_tcp_keepalive_probes": 3}
PORTS_KEPT_FREE = 16  # some frameworks give the ports after the first to their own workers


@dataclass(frozen=True, kw_only=True)
class Transport:
    """A program that starts a command once on each host."""

    name: str
    line: Callable[[Sequence[Host], Argv, "Ways"], Argv]
    nests: bool  # whether a script on a host may start mpirun itself
    lost_codes: frozenset[int] = frozenset()
    ssh_options_in: str | None = None  # the variable that has options for its ssh; None: it needs none


@dataclass(frozen=True, kw_only=True)
class Ways:
    """What a transport is told beside hosts and command."""

    interface: str | None = None  # eth1: the network that the launchers' own daemons use; None: theirs to choose
    root: bool = False  # whether the evaluator is root, which Open MPI refuses unless told
    ssh_options: str = ""  # those of this shell, for a transport that reads them from a variable


def port_of(folder: str) -> int:
    """A port that follows from the run's folder: the same on every node, another for every run."""
    places = (LAST_PORT - FIRST_PORT) // PORTS_KEPT_FREE
    return FIRST_PORT + zlib.crc32(folder.encode("utf-8", "surrogateescape")) % places * PORTS_KEPT_FREE


def _ssh(hosts: Sequence[Host], command: Argv, ways: Ways) -> Argv:
    """Our own fan-out, which tells each host its rank and ends all when one fails."""
    addresses = ",".join(host.address for host in hosts)
    return (sys.executable, "-m", "evalsuite", "on-hosts", "--hosts", addresses, "--", *command)


def _open_mpi(option: str, component: str) -> Callable[[Sequence[Host], Argv, Ways], Argv]:
    """Each host is a part of its own of the line (`… : …`): with one list mpirun may order the ranks as it likes."""

    def line(hosts: Sequence[Host], command: Argv, ways: Ways) -> Argv:
        words: Argv = ("mpirun", *(("--allow-run-as-root",) if ways.root else ()), "--bind-to", "none")
        for name, seconds in KEPT_ALIVE.items():
            words += (option, name, str(seconds))
        if ways.interface:
            words += (option, component, ways.interface)
        for rank, host in enumerate(hosts):
            words += (*((":",) if rank else ()), "-np", "1", "--host", f"{host.address}:1")
            words += _told(rank, host, command)
        return words

    return line


def _hydra(hosts: Sequence[Host], command: Argv, ways: Ways) -> Argv:
    """Ranks follow the list. It tells a process its rank and no name: that is looked up among EVALSUITE_HOSTS."""
    interface = ("-iface", ways.interface) if ways.interface else ()
    addresses = ",".join(host.address for host in hosts)
    size = ("-n", str(len(hosts)), "-ppn", "1")
    return ("mpiexec.hydra", "-launcher", "ssh", *interface, "-hosts", addresses, *size, "-bind-to", "none", *command)


def _told(rank: int, host: Host, command: Argv) -> Argv:
    return ("env", f"EVALSUITE_NODE_RANK={rank}", f"EVALSUITE_HOST={host.name}", *command)


def _variables(via: Transport, ways: Ways) -> dict[str, str]:
    """What lets the transport's ssh give up. Of an option that is given twice ssh takes the first: the user's."""
    name = via.ssh_options_in
    return {name: f"{ways.ssh_options} {' '.join(PATIENCE)}".strip()} if name else {}


TRANSPORTS = {
    transport.name: transport
    for transport in (
        Transport(name="ssh", line=_ssh, nests=True, lost_codes=frozenset({255})),
        Transport(name="openmpi4", line=_open_mpi("--mca", "oob_tcp_if_include"), nests=False),
        Transport(name="openmpi5", line=_open_mpi("--prtemca", "prte_if_include"), nests=False),
        Transport(name="hydra", line=_hydra, nests=False, ssh_options_in="HYDRA_LAUNCHER_EXTRA_ARGS"),
    )
}


def transport(name: str) -> Transport:
    """The transport of that name. Raises EvalsuiteError with the known ones."""
    if name in TRANSPORTS:
        return TRANSPORTS[name]
    hint = did_you_mean(name, TRANSPORTS)
    raise EvalsuiteError.of("plan.via_unknown", name=name, names=TRANSPORTS, near=hint)


def engine(hosts: Sequence[Host], via: Transport, *, handed: Mapping[str, str], ways: Ways = Ways()) -> Engine:
    """The engine over *hosts*; *handed*: the variables of this shell that every agent shall have."""

    def wrap(nodes: int, agent: Argv) -> Argv:
        return via.line(hosts[:nodes], agent, ways)

    def refusal(case: Case) -> str | None:
        if case.nodes > len(hosts):
            return Message("plan.too_few_hosts", nodes=case.nodes, there=len(hosts))
        if small := too_small(hosts[: case.nodes], case.devices_per_node):
            return Message("plan.small_hosts", devices=case.devices_per_node, names=small)
        return None

    def meeting(nodes: int, folder: str) -> dict[str, str]:
        names = [host.name for host in hosts[:nodes]]
        found = {"EVALSUITE_NODES": str(nodes), "EVALSUITE_HOSTS": ",".join(names)}
        if nodes == 1:
            return found
        return {**found, "EVALSUITE_MASTER_ADDR": names[0], "EVALSUITE_MASTER_PORT": str(port_of(folder))}

    def on(names: Sequence[str]) -> Engine:
        chosen = sorted((host for host in hosts if host.name in names), key=lambda host: names.index(host.name))
        return engine(chosen, via, handed=handed, ways=ways)

    return Engine(
        name="hosts",
        wrap=wrap,
        refusal=refusal,
        nests=via.nests,
        lost_codes=via.lost_codes,
        variables=_variables(via, ways),
        handed=lambda nodes, folder: {**handed, **meeting(nodes, folder)},
        nodes=tuple(host.name for host in hosts),
        on=on,
        listed=True,
    )

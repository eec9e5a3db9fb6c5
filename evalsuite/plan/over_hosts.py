"""The engine "hosts": an agent on each of the first hosts of a list, over ssh, Open MPI 4 or 5, or Hydra. The command
line holds rank, hosts, meeting place and every variable (`env NAME=VALUE`), which every launcher carries. Sources:
mpirun(1) of Open MPI 4.1 and 5.0, `mpiexec.hydra --help` of MPICH 4."""

import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evalsuite.core.messages import Message
from evalsuite.core.model import Case
from evalsuite.core.placeholders import port_of
from evalsuite.plan.engines import Argv, Engine
from evalsuite.plan.hosts import Host, too_small

PATIENCE = (
    *("-o", "BatchMode=yes", "-o", "ConnectTimeout=10"),  # no password can be typed
    *("-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3"),  # a lost host is known after 15 s
)
# Of Open MPI's daemons: a lost host is known after 25 s (300 + 9 × 20 s by default).
KEPT_ALIVE = {"oob_tcp_keepalive_time": 10, "oob_tcp_keepalive_intvl": 5, "oob_tcp_keepalive_probes": 3}


@dataclass(frozen=True, kw_only=True)
class Transport:
    """A program that starts a command once on each host."""

    name: str
    line: Callable[[Sequence[Host], Argv, "Ways"], Argv]
    nests: bool  # as in Engine
    lost_codes: frozenset[int] = frozenset()
    ssh_options_in: str | None = None  # the variable with options for its ssh


@dataclass(frozen=True, kw_only=True)
class Ways:
    interface: str | None = None  # eth1: for the launchers' daemons; None: any
    root: bool = False  # Open MPI refuses root by default
    ssh_options: str = ""  # those of this shell


def _ssh(hosts: Sequence[Host], command: Argv, ways: Ways) -> Argv:
    """Our own fan-out gives each host its rank and ends all when one fails."""
    addresses = ",".join(host.address for host in hosts)
    return (sys.executable, "-m", "evalsuite", "doctor", "--hosts", addresses, "--", *command)


def _open_mpi(option: str, component: str) -> Callable[[Sequence[Host], Argv, Ways], Argv]:
    """Each host is a part of the line (`… : …`): with one list mpirun may reorder the ranks."""

    def line(hosts: Sequence[Host], command: Argv, ways: Ways) -> Argv:
        words: Argv = ("mpirun", *(("--allow-run-as-root",) if ways.root else ()), "--bind-to", "none")
        for name, seconds in KEPT_ALIVE.items():
            words += (option, name, str(seconds))
        if ways.interface:
            words += (option, component, ways.interface)
        for rank, host in enumerate(hosts):
            words += (*((":",) if rank else ()), "-np", "1", "--host", f"{host.address}:1")
            words += rank_command(rank, host, command)
        return words

    return line


def _hydra(hosts: Sequence[Host], command: Argv, ways: Ways) -> Argv:
    """Ranks follow the list. A process gets no name: it looks it up in EVALSUITE_HOSTS."""
    interface = ("-iface", ways.interface) if ways.interface else ()
    addresses = ",".join(host.address for host in hosts)
    size = ("-n", str(len(hosts)), "-ppn", "1")
    return ("mpiexec.hydra", "-launcher", "ssh", *interface, "-hosts", addresses, *size, "-bind-to", "none", *command)


def rank_command(rank: int, host: Host, command: Argv) -> Argv:
    return ("env", f"EVALSUITE_NODE_RANK={rank}", f"EVALSUITE_HOST={host.name}", *command)


TRANSPORTS = {
    transport.name: transport
    for transport in (
        Transport(name="ssh", line=_ssh, nests=True, lost_codes=frozenset({255})),
        Transport(name="openmpi4", line=_open_mpi("--mca", "oob_tcp_if_include"), nests=False),
        Transport(name="openmpi5", line=_open_mpi("--prtemca", "prte_if_include"), nests=False),
        Transport(name="hydra", line=_hydra, nests=False, ssh_options_in="HYDRA_LAUNCHER_EXTRA_ARGS"),
    )
}


def engine(hosts: Sequence[Host], via: Transport, *, handed: Mapping[str, str], ways: Ways = Ways()) -> Engine:
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
        port = port_of(zlib.crc32(folder.encode("utf-8", "surrogateescape")))  # the same on every node
        address = {"EVALSUITE_MASTER_ADDR": names[0], "EVALSUITE_MASTER_PORT": str(port)} if nodes > 1 else {}
        return {"EVALSUITE_NODES": str(nodes), "EVALSUITE_HOSTS": ",".join(names), **address}

    def on(names: Sequence[str]) -> Engine:
        chosen = sorted((host for host in hosts if host.name in names), key=lambda host: names.index(host.name))
        return engine(chosen, via, handed=handed, ways=ways)

    return Engine(
        name="hosts",
        wrap=wrap,
        refusal=refusal,
        nests=via.nests,
        lost_codes=via.lost_codes,
        # of an option given twice ssh takes the first: the user's
        variables={name: f"{ways.ssh_options} {' '.join(PATIENCE)}".strip()} if (name := via.ssh_options_in) else {},
        handed=lambda nodes, folder: {**handed, **meeting(nodes, folder)},
        nodes=tuple(host.name for host in hosts),
        on=on,
        listed=True,
    )

"""Where the processes of a run meet: node rank, number of nodes, address and port.

By EVALSUITE_*, else by the platform (`agent/platforms`), else this machine alone.
"""

import random
import socket
import zlib
from collections.abc import Mapping

from evalsuite.agent import platforms
from evalsuite.core.decode import whole
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message
from evalsuite.core.placeholders import FIRST_PORT, LAST_PORT, LOCALHOST, PORTS_KEPT_FREE, Node
from evalsuite.schedulers.contract import NodePlace


def node(environment: Mapping[str, str]) -> Node:
    """This node's place. Raises EvalsuiteError where the environment gives only half of it."""
    told = platforms.read_place(environment)
    rank = _number(environment, "EVALSUITE_NODE_RANK")
    rank = _whole(Message("agent.node_rank_name"), told.rank) if rank is None else rank
    nodes = _number(environment, "EVALSUITE_NODES") or _whole(Message("agent.node_count_name"), told.nodes) or 1
    port = _number(environment, "EVALSUITE_MASTER_PORT") or _whole(Message("agent.master_port_name"), told.master_port)
    hosts = _hosts(environment, told, nodes)
    place = Node(
        rank=rank or 0,
        nodes=nodes,
        master_addr=environment.get("EVALSUITE_MASTER_ADDR") or _address(told, hosts, nodes),
        master_port=port or _port(told, nodes),
        hosts=hosts,
    )
    if not 0 <= place.rank < place.nodes:
        raise EvalsuiteError.of("agent.node_rank_range", rank=place.rank, nodes=place.nodes, last=place.nodes - 1)
    return place


def host(environment: Mapping[str, str]) -> str:
    """This node's name: given, else the scheduler's, which is unique in the run, else the machine's."""
    given = environment.get("EVALSUITE_HOST") or _own(environment)
    return given or platforms.read_place(environment).host or socket.gethostname() or "localhost"


def _own(environment: Mapping[str, str]) -> str | None:
    """This node's among the given names, where the launcher gives a rank and no name (Hydra)."""
    names = environment.get("EVALSUITE_HOSTS", "").split(",")
    rank = whole(environment.get("EVALSUITE_NODE_RANK") or platforms.read_place(environment).rank or "")
    return names[rank] if rank is not None and rank < len(names) else None


def variables(place: Node, processes: int, local_rank: int | None) -> dict[str, str]:
    values = {"NODE_RANK": str(place.rank), "MASTER_ADDR": place.master_addr, "MASTER_PORT": str(place.master_port)}
    if local_rank is not None:
        values |= {
            "RANK": str(place.rank * processes + local_rank),
            "LOCAL_RANK": str(local_rank),
            "WORLD_SIZE": str(place.nodes * processes),
            "LOCAL_WORLD_SIZE": str(processes),
        }
    return values


def _hosts(environment: Mapping[str, str], told: NodePlace, nodes: int) -> tuple[str, ...]:
    named = environment.get("EVALSUITE_HOSTS")
    if named:
        return tuple(host.strip() for host in named.split(",") if host.strip())
    return ("localhost",) if nodes == 1 else told.hosts


def _number(environment: Mapping[str, str], name: str) -> int | None:
    return _whole(name, environment.get(name))


def _whole(what: str, text: str | None) -> int | None:
    if not text:
        return None
    number = whole(text)
    if number is None:
        raise EvalsuiteError.of("agent.variable_number", name=what, text=text[:60])
    return number


def _address(told: NodePlace, hosts: tuple[str, ...], nodes: int) -> str:
    if nodes == 1:
        return LOCALHOST
    if told.master_addr:
        return told.master_addr
    if hosts:
        return hosts[0]
    raise EvalsuiteError.of("agent.no_meeting_address", nodes=nodes)


def _port(told: NodePlace, nodes: int) -> int:
    """The same on every node, by the job's id; for one node a free one."""
    if nodes == 1:
        return free_port()
    places = (LAST_PORT - FIRST_PORT) // PORTS_KEPT_FREE
    number = _as_number(told.job or "") * 31 + _as_number(told.step or "")
    return FIRST_PORT + number % places * PORTS_KEPT_FREE


def _as_number(id: str) -> int:
    number = whole(id)
    return number if number is not None else zlib.crc32(id.encode("utf-8", "surrogateescape"))


def free_port() -> int:
    for _ in range(100):
        port = random.randrange(FIRST_PORT, LAST_PORT, PORTS_KEPT_FREE)
        if all(_is_free(port + offset) for offset in range(PORTS_KEPT_FREE)):
            return port
    raise EvalsuiteError.of("agent.no_free_ports", n=PORTS_KEPT_FREE, first=FIRST_PORT, last=LAST_PORT)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True

"""Where the processes of a run meet: node rank, number of nodes, address and port.

By EVALSUITE_*, else as the platform that starts the agent on every node names them, else this machine alone. Those of
batch schedulers are in `evalsuite/schedulers`. Sources: mpirun(1) of Open MPI, "Environment Variables"; Volcano's
plugins env and svc, torchrun (PET_*, set by Kubeflow's Trainer), and mpiexec of MPICH (Hydra), which gives no names.
"""

import random
import re
import socket
import zlib
from collections.abc import Callable

from evalsuite.core.decode import whole
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message
from evalsuite.core.placeholders import FIRST_PORT, LAST_PORT, LOCALHOST, PORTS_KEPT_FREE, Node, port_of
from evalsuite.schedulers import SCHEDULERS, slurm
from evalsuite.schedulers.contract import Environment, NodePlace


def node(environment: Environment) -> Node:
    """This node's place. Raises EvalsuiteError where the environment gives only half of it."""
    told = read_place(environment)
    rank = _number(environment, "EVALSUITE_NODE_RANK")
    rank = _whole(Message("agent.node_rank_name"), told.rank) if rank is None else rank
    nodes = _number(environment, "EVALSUITE_NODES") or _whole(Message("agent.node_count_name"), told.nodes) or 1
    port = _number(environment, "EVALSUITE_MASTER_PORT") or _whole(Message("agent.master_port_name"), told.master_port)
    named = [name.strip() for name in environment.get("EVALSUITE_HOSTS", "").split(",") if name.strip()]
    hosts = tuple(named) or (("localhost",) if nodes == 1 else told.hosts)
    if not port:  # the same on every node, by the job's id
        port = free_port() if nodes == 1 else port_of(_as_number(told.job or "") * 31 + _as_number(told.step or ""))
    place = Node(
        rank=rank or 0,
        nodes=nodes,
        master_addr=environment.get("EVALSUITE_MASTER_ADDR") or _address(told, hosts, nodes),
        master_port=port,
        hosts=hosts,
    )
    if not 0 <= place.rank < place.nodes:
        raise EvalsuiteError.of("agent.node_rank_range", rank=place.rank, nodes=place.nodes, last=place.nodes - 1)
    return place


def host(environment: Environment) -> str:
    """This node's name: given, else the scheduler's, which is unique in the run, else the machine's."""
    given = environment.get("EVALSUITE_HOST") or _own(environment)
    return given or read_place(environment).host or socket.gethostname() or "localhost"


def _own(environment: Environment) -> str | None:
    """This node's among the given names, where the launcher gives a rank and no name (Hydra)."""
    names = environment.get("EVALSUITE_HOSTS", "").split(",")
    rank = whole(environment.get("EVALSUITE_NODE_RANK") or read_place(environment).rank or "")
    return names[rank] if rank is not None and rank < len(names) else None


def master_addresses(place: Node) -> tuple[str, str]:
    """That of every host, and this one's, which on the master's own host is the loopback: it has an address in each
    network.

    Raises EvalsuiteError for a name that leads to no address, or to one that no other host reaches; also of this host,
    since launchers that compare addresses tell the others what its name leads to.
    """
    if place.nodes == 1:
        return LOCALHOST, LOCALHOST
    _address_of(socket.getfqdn(socket.gethostname()))
    address = _address_of(place.master_addr)
    return address, LOCALHOST if place.rank == 0 else address


def _address_of(name: str) -> str:
    try:
        address = socket.gethostbyname(name)
    except OSError as error:
        raise EvalsuiteError.of("agent.no_address", name=name, error=error.strerror or error) from error
    if address.startswith("127."):
        raise EvalsuiteError.of("agent.loopback_address", name=name, address=address)
    return address


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


def _number(environment: Environment, name: str) -> int | None:
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


# Platforms


def read_place(environment: Environment) -> NodePlace:
    read = next((read for variable, read in PLATFORMS.items() if environment.get(variable)), None)
    return read(environment) if read else NodePlace()


def _open_mpi(environment: Environment) -> NodePlace:
    """One task a node. It gives no names; inside an allocation of Slurm these are known."""
    return NodePlace(
        rank=environment["OMPI_COMM_WORLD_RANK"],
        nodes=environment.get("OMPI_COMM_WORLD_SIZE"),
        host=environment.get("SLURMD_NODENAME"),
        master_addr=_open_mpi_address(environment),
        hosts=slurm.hosts_of_step(environment),
        job=environment.get("SLURM_JOB_ID")
        or environment.get("OMPI_MCA_ess_base_jobid")  # Open MPI 4
        or environment.get("PMIX_NAMESPACE"),  # Open MPI 5
        step=environment.get("SLURM_STEP_ID"),
    )


def _open_mpi_address(environment: Environment) -> str | None:
    """The host of mpirun: `3391488000.0;tcp://10.1.0.5,172.17.0.1:41823` → 10.1.0.5 (Open MPI 4),
    `prterun-gpu-01-32694@1` → gpu-01 (Open MPI 5)."""
    address = re.search(r"tcp://([0-9.]+)", environment.get("OMPI_MCA_orte_hnp_uri", ""))
    name = re.fullmatch(r"prterun-(.+)-\d+@\d+", environment.get("PMIX_NAMESPACE", ""))
    match = address or name
    return match[1] if match else None


def _volcano(environment: Environment) -> NodePlace:
    """The index counts within a task; masters come before workers."""
    masters, workers = (
        tuple(filter(None, map(str.strip, environment.get(f"VC_{task}_HOSTS", "").split(","))))
        for task in ("MASTER", "WORKER")
    )
    rank = environment["VC_TASK_INDEX"]
    here = environment.get("HOSTNAME", "")
    worker = any(host.partition(".")[0] == here for host in workers)
    within = whole(rank)
    if masters and worker and within is not None:
        rank = str(len(masters) + within)
    hosts = (*masters, *workers)
    return NodePlace(rank=rank, nodes=str(len(hosts) or 1), hosts=hosts)


# by the variable that only it sets; in this order: a step of a scheduler may have started mpirun
PLATFORMS: dict[str, Callable[[Environment], NodePlace]] = {
    **{each.task_variable: each.place for each in SCHEDULERS.values()},
    "OMPI_COMM_WORLD_RANK": _open_mpi,
    "VC_TASK_INDEX": _volcano,
    "PET_NODE_RANK": lambda environment: NodePlace(
        rank=environment["PET_NODE_RANK"],
        nodes=environment.get("PET_NNODES"),
        master_addr=environment.get("PET_MASTER_ADDR"),
        master_port=environment.get("PET_MASTER_PORT"),
    ),
    "PMI_RANK": lambda environment: NodePlace(rank=environment["PMI_RANK"], nodes=environment.get("PMI_SIZE")),
}

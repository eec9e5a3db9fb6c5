"""Placeholders in command lines. The plan fills some before a run; the node agent fills the rest."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from evalsuite.core.messages import Message

LOCALHOST = "127.0.0.1"
PORTS_KEPT_FREE = 16  # some frameworks use the ports after the first
FIRST_PORT, LAST_PORT = 20000, 32000  # between well-known ports and Linux's client ports (32768)


def port_of(number: int) -> int:
    return FIRST_PORT + number % ((LAST_PORT - FIRST_PORT) // PORTS_KEPT_FREE) * PORTS_KEPT_FREE


# docs/adding-a-framework.md says what they are
BY_PLAN = ("{python}", "{bin}", "{workloads}", "{checkout}", "{scratch}", "{repeat}", "{data}")
# What the node agent sets for what it starts: of one node or process, of the network, and the same for all.
OF_RANK = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "NODE_RANK", "MASTER_ADDR", "MASTER_PORT")
INTERFACE = ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME", "HOROVOD_GLOO_IFACE")
INTERFACE_OF_OPEN_MPI = ("OMPI_MCA_btl_tcp_if_include", "OMPI_MCA_oob_tcp_if_include")  # it hands these on by itself
CONTAINER_LINK = re.compile(  # and of virtual machines and tunnels
    r"veth|docker|br-[0-9a-f]{12}|virbr|vmnet|cni|flannel|cali|cilium|lxc|lxd|podman|tailscale|zt|wg\d|tun\d|tap\d"
)
# By these a program sees some devices of its host alone: CUDA's name first, which HIP reads too.
VISIBLE = {"gpu": ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"), "npu": ("ASCEND_RT_VISIBLE_DEVICES",)}
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
OF_EVERY_RANK = (*INTERFACE, *THREADS, "PYTHONUNBUFFERED", "CUDA_DEVICE_ORDER")

_OF_NODE = ("{node_rank}", "{nodes}", "{processes_per_node}", "{master_addr}", "{master_port}", "{threads}")
# not every launcher tells them
OF_HOSTS = ("{host}", "{hosts}", "{hosts_slots}", "{hosts_ports}", "{hosts_ports_json}")
# IPv4, where no name will do; and for launchers that compare it with the address of their own host: there the loopback
MASTER_ADDRESSES = ("{master_address}", "{master_or_self}")
GPUS = "{gpus}"  # what `docker run --gpus` takes: the case's, or all
DEVICES = "{devices}"  # as CUDA_VISIBLE_DEVICES has them, for launchers that hand this one variable to no other node
FORWARDED = "{forwarded}"
"""A word of mpirun's, which hands its own variables to no other node: the node agent puts `-x NAME` for each variable
that it sets for every rank, and for each that the user set and that changes a training."""
BY_AGENT = (*_OF_NODE, *OF_HOSTS, *MASTER_ADDRESSES, GPUS, DEVICES, FORWARDED)


@dataclass(frozen=True, kw_only=True)
class Node:
    rank: int = 0
    nodes: int = 1
    master_addr: str = LOCALHOST
    master_port: int
    hosts: tuple[str, ...] = field(default=("localhost",), compare=False)
    """All nodes by rank; another number of them than *nodes* where the launcher does not tell."""


def of_node(place: Node, processes: int, threads: int) -> dict[str, str]:
    known = {
        "{node_rank}": str(place.rank),
        "{nodes}": str(place.nodes),
        "{processes_per_node}": str(processes),
        "{master_addr}": place.master_addr,
        "{master_port}": str(place.master_port),
        "{threads}": str(threads),
    }
    if len(place.hosts) != place.nodes:
        return known
    meet = [f"{host}:{place.master_port}" for host in place.hosts]
    return known | {
        "{host}": place.hosts[place.rank],
        "{hosts}": ",".join(place.hosts),
        "{hosts_slots}": ",".join(f"{host}:{processes}" for host in place.hosts),
        "{hosts_ports}": ",".join(meet),
        "{hosts_ports_json}": json.dumps(meet),
    }


def find_unfilled(argv: Iterable[str]) -> str | None:
    """Why a line cannot be started: it needs names of hosts that the launcher does not tell."""
    return Message("core.hosts_untold") if any(name in token for token in argv for name in OF_HOSTS) else None


def forward(argv: Iterable[str], names: Iterable[str]) -> list[str]:
    """*argv* with `-x NAME` for each of *names* in the place of FORWARDED, but for those that it has already."""
    words = list(argv)
    left = sorted(set(names) - set(words))
    options = [word for name in left for word in ("-x", name)]
    return [part for word in words for part in (options if word == FORWARDED else (word,))]


def fill(token: str, known: Mapping[str, str]) -> str:
    """Other braces stay."""
    for name, value in known.items():
        token = token.replace(name, value)
    return token

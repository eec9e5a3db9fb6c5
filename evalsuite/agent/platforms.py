"""What each platform calls a node's rank, the number of nodes and their hosts, where it starts the agent on every node.

One entry a platform. Sources: the pages on environment variables of docs.skypilot.co (distributed jobs), dstack.ai
(distributed tasks), docs.nvidia.com/dgx-cloud/lepton (batch jobs; the address as leptonai/scripts builds it),
SageMaker's training toolkit (ENVIRONMENT_VARIABLES.md), Volcano's plugins env and svc, torchrun (PET_*, set by
Kubeflow's Trainer), and mpiexec of MPICH (Hydra), which tells no names.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from evalsuite.errors import EvalsuiteError

Environment = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Told:
    """What a platform says of a node's place, as texts; None: it does not say."""

    rank: str | None
    nodes: str | None = None
    master_addr: str | None = None
    master_port: str | None = None
    hosts: tuple[str, ...] = ()  # by rank


@dataclass(frozen=True, kw_only=True)
class NodeStarter:
    """Who starts a command on every node, and how it says which one this is."""

    name: str
    says: str  # the variable that only it sets
    told: Callable[[Environment], Told]


def told(environment: Environment) -> Told | None:
    """What the first platform that speaks says; None where none does."""
    speaking = next((one for one in PLATFORMS if environment.get(one.says)), None)
    return speaking.told(environment) if speaking else None


def _skypilot(environment: Environment) -> Told:
    hosts = tuple(environment.get("SKYPILOT_NODE_IPS", "").split())  # an address a line
    nodes = environment.get("SKYPILOT_NUM_NODES") or str(len(hosts) or 1)
    return Told(rank=environment["SKYPILOT_NODE_RANK"], nodes=nodes, hosts=hosts)


def _dstack(environment: Environment) -> Told:
    return Told(
        rank=environment["DSTACK_NODE_RANK"],
        nodes=environment.get("DSTACK_NODES_NUM"),
        master_addr=environment.get("DSTACK_MASTER_NODE_IP"),
        hosts=tuple(environment.get("DSTACK_NODES_IPS", "").split()),
    )


def _lepton(environment: Environment) -> Told:
    nodes = environment.get("LEPTON_JOB_TOTAL_WORKERS", "1")
    prefix, domain = environment.get("LEPTON_JOB_WORKER_PREFIX"), environment.get("LEPTON_SUBDOMAIN")
    known = prefix and domain and nodes.isdigit()
    hosts = tuple(f"{prefix}-{rank}.{domain}" for rank in range(int(nodes))) if known else ()
    return Told(rank=environment["LEPTON_JOB_WORKER_INDEX"], nodes=nodes, hosts=hosts)


def _sagemaker(environment: Environment) -> Told:
    hosts = _listed("SM_HOSTS", environment)
    here = environment["SM_CURRENT_HOST"]
    if here not in hosts:
        raise EvalsuiteError(
            f'SM_CURRENT_HOST: "{here}" stands there and SM_HOSTS names {", ".join(hosts) or "none"}; expected one of '
            "them. Unset both to do without."
        )
    return Told(rank=str(hosts.index(here)), nodes=str(len(hosts)), hosts=hosts)


def _volcano(environment: Environment) -> Told:
    """The index counts within a task; where a master stands beside the workers, it comes first."""
    masters, workers = (_split(environment.get(f"VC_{task}_HOSTS", "")) for task in ("MASTER", "WORKER"))
    rank = environment["VC_TASK_INDEX"]
    here = environment.get("HOSTNAME", "")
    worker = any(host.partition(".")[0] == here for host in workers)
    if masters and worker and rank.isdigit():
        rank = str(len(masters) + int(rank))
    hosts = (*masters, *workers)
    return Told(rank=rank, nodes=str(len(hosts) or 1), hosts=hosts)


def _torchrun(environment: Environment) -> Told:
    return Told(
        rank=environment["PET_NODE_RANK"],
        nodes=environment.get("PET_NNODES"),
        master_addr=environment.get("PET_MASTER_ADDR"),
        master_port=environment.get("PET_MASTER_PORT"),
    )


def _hydra(environment: Environment) -> Told:
    return Told(rank=environment["PMI_RANK"], nodes=environment.get("PMI_SIZE"))


def _split(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _listed(name: str, environment: Environment) -> tuple[str, ...]:
    """The texts of a JSON list. Raises EvalsuiteError if none stands there."""
    try:
        found = json.loads(environment.get(name, "[]"))
    except ValueError:
        found = None
    if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
        raise EvalsuiteError(
            f'{name}: "{environment[name][:60]}" stands there; expected a list of names, as ["algo-1","algo-2"]. '
            "Unset it to do without."
        )
    return tuple(found)


PLATFORMS = (
    NodeStarter(name="SkyPilot", says="SKYPILOT_NODE_RANK", told=_skypilot),
    NodeStarter(name="dstack", says="DSTACK_NODE_RANK", told=_dstack),
    NodeStarter(name="Lepton", says="LEPTON_JOB_WORKER_INDEX", told=_lepton),
    NodeStarter(name="SageMaker", says="SM_CURRENT_HOST", told=_sagemaker),
    NodeStarter(name="Volcano", says="VC_TASK_INDEX", told=_volcano),
    NodeStarter(name="torchrun", says="PET_NODE_RANK", told=_torchrun),
    NodeStarter(name="Hydra", says="PMI_RANK", told=_hydra),
)

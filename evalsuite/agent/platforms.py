"""How each platform that starts the agent on every node names its rank, the number of nodes and their hosts.

Those of batch schedulers are in `evalsuite/schedulers`. Sources: mpirun(1) of Open MPI, "Environment Variables";
docs.skypilot.co (distributed jobs), dstack.ai (distributed tasks) and docs.nvidia.com/dgx-cloud/lepton (batch jobs; the
address as leptonai/scripts builds it); SageMaker's training toolkit (ENVIRONMENT_VARIABLES.md), Volcano's plugins env
and svc, torchrun (PET_*, set by Kubeflow's Trainer), and mpiexec of MPICH (Hydra), which gives no names.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from evalsuite.core import files
from evalsuite.core.decode import whole
from evalsuite.core.errors import EvalsuiteError
from evalsuite.schedulers import SCHEDULERS, slurm
from evalsuite.schedulers.contract import MOST_HOSTS, Environment, NodePlace


@dataclass(frozen=True, kw_only=True)
class NodeStarter:
    name: str
    says: str  # the variable that only it sets
    read: Callable[[Environment], NodePlace]


def read_place(environment: Environment) -> NodePlace:
    speaking = next((platform for platform in PLATFORMS if environment.get(platform.says)), None)
    return speaking.read(environment) if speaking else NodePlace()


def _by_names(
    rank: str, nodes: str, master_addr: str = "", master_port: str = "", hosts: str = ""
) -> Callable[[Environment], NodePlace]:
    return lambda environment: NodePlace(
        rank=environment[rank],
        nodes=environment.get(nodes),
        master_addr=environment.get(master_addr),
        master_port=environment.get(master_port),
        hosts=tuple(environment.get(hosts, "").split()),
    )


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


def _skypilot(environment: Environment) -> NodePlace:
    hosts = tuple(environment.get("SKYPILOT_NODE_IPS", "").split())
    nodes = environment.get("SKYPILOT_NUM_NODES") or str(len(hosts) or 1)
    return NodePlace(rank=environment["SKYPILOT_NODE_RANK"], nodes=nodes, hosts=hosts)


def _lepton(environment: Environment) -> NodePlace:
    nodes = environment.get("LEPTON_JOB_TOTAL_WORKERS", "1")
    prefix, domain = environment.get("LEPTON_JOB_WORKER_PREFIX"), environment.get("LEPTON_SUBDOMAIN")
    known = prefix and domain
    hosts = tuple(f"{prefix}-{rank}.{domain}" for rank in range(min(whole(nodes) or 0, MOST_HOSTS))) if known else ()
    return NodePlace(rank=environment["LEPTON_JOB_WORKER_INDEX"], nodes=nodes, hosts=hosts)


def _sagemaker(environment: Environment) -> NodePlace:
    hosts = _listed("SM_HOSTS", environment)
    here = environment["SM_CURRENT_HOST"]
    if here not in hosts:
        raise EvalsuiteError.of("agent.sagemaker_host", name=here, names=", ".join(hosts) or "none")
    return NodePlace(rank=str(hosts.index(here)), nodes=str(len(hosts)), hosts=hosts)


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


def _listed(name: str, environment: Environment) -> tuple[str, ...]:
    try:
        words = files.parse_json(environment.get(name, "[]"))
    except ValueError:
        words = None
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise EvalsuiteError.of("agent.variable_list", name=name, text=environment[name][:60])
    return tuple(words)


DSTACK = _by_names("DSTACK_NODE_RANK", "DSTACK_NODES_NUM", "DSTACK_MASTER_NODE_IP", hosts="DSTACK_NODES_IPS")
TORCHRUN = _by_names("PET_NODE_RANK", "PET_NNODES", "PET_MASTER_ADDR", "PET_MASTER_PORT")
PLATFORMS = (  # in this order: a step of a scheduler may have started mpirun
    *(NodeStarter(name=each.title, says=each.task_variable, read=each.place) for each in SCHEDULERS.values()),
    NodeStarter(name="Open MPI", says="OMPI_COMM_WORLD_RANK", read=_open_mpi),
    NodeStarter(name="SkyPilot", says="SKYPILOT_NODE_RANK", read=_skypilot),
    NodeStarter(name="dstack", says="DSTACK_NODE_RANK", read=DSTACK),
    NodeStarter(name="Lepton", says="LEPTON_JOB_WORKER_INDEX", read=_lepton),
    NodeStarter(name="SageMaker", says="SM_CURRENT_HOST", read=_sagemaker),
    NodeStarter(name="Volcano", says="VC_TASK_INDEX", read=_volcano),
    NodeStarter(name="torchrun", says="PET_NODE_RANK", read=TORCHRUN),
    NodeStarter(name="Hydra", says="PMI_RANK", read=_by_names("PMI_RANK", "PMI_SIZE")),
)

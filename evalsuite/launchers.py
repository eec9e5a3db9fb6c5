"""Each launcher's own words for "this many processes on these nodes": pure functions from a case to an argv prefix.

Recipes put them before their script. Source: each launcher's own help; what stands in braces
is filled by the node agent (`evalsuite.adapter.Command`).
"""

from collections.abc import Iterable

from evalsuite.messages import Message
from evalsuite.model import Case

Argv = tuple[str, ...]


def devices(case: Case) -> str:
    """The devices of one node: "0,1,2,3"."""
    return ",".join(str(number) for number in range(case.devices_per_node))


REPLICA = {"tensor_parallel": (), "pipeline_parallel": ()}  # the axes of scripts that spread a model over devices


def replica(case: Case) -> tuple[int, int]:
    """(tensor, pipeline): one replica of the model has their product of devices."""
    return int(case.option("tensor_parallel", "1")), int(case.option("pipeline_parallel", "1"))


def replica_refused(case: Case) -> str | None:
    """Why the devices cannot be shared out among replicas, or None if they can."""
    tensor, pipeline = replica(case)
    if case.total_devices % (tensor * pipeline):
        return Message("core.does_not_divide", tensor=tensor, pipeline=pipeline, devices=case.total_devices)
    return None


def _rendezvous(case: Case, nodes: str, rank: str, processes: str) -> Argv:
    return (
        *(nodes, str(case.nodes), rank, "{node_rank}", processes, str(case.devices_per_node)),
        *("--master_addr", "{master_addr}", "--master_port", "{master_port}"),
    )


def torchrun(case: Case) -> Argv:
    """torchrun, started on every node."""
    return (
        "{python}",
        "-m",
        "torch.distributed.run",
        *_rendezvous(case, "--nnodes", "--node_rank", "--nproc_per_node"),
    )


def torch_launch(case: Case) -> Argv:
    """The launcher before torchrun, for scripts that want the argument `--local_rank`."""
    module = "torch.distributed.launch"
    return ("{python}", "-m", module, *_rendezvous(case, "--nnodes", "--node_rank", "--nproc_per_node"))


def oneflow_launch(case: Case) -> Argv:
    """OneFlow's launcher, started on every node.

    Without the node agent's address and port: where these stand and no rank, its import stops (env_util.py of 0.8.0).
    """
    module = "oneflow.distributed.launch"
    alone = ("env", "-u", "MASTER_ADDR", "-u", "MASTER_PORT")
    return (*alone, "{python}", "-m", module, *_rendezvous(case, "--nnodes", "--node_rank", "--nproc_per_node"))


def mpirun(case: Case, variables: Iterable[str] = ()) -> Argv:
    """Open MPI over ssh, started once; only the *variables* named reach the other nodes."""
    named = ("LD_LIBRARY_PATH", "PATH", "PYTHONUNBUFFERED", "OMP_NUM_THREADS", *variables)
    return (
        *("mpirun", "--allow-run-as-root", "-np", str(case.total_devices), "-H", "{hosts_slots}"),
        *("--bind-to", "none", "--map-by", "slot"),  # Open MPI 5 takes neither with one dash
        *(word for name in named for word in ("-x", name)),
        *("-mca", "pml", "ob1", "-mca", "btl", "^openib"),
    )


def horovodrun(case: Case, controller: str = "gloo") -> Argv:
    """Horovod's launcher, started once; *controller* is gloo or mpi."""
    return (
        *("{bin}/horovodrun", "-np", str(case.total_devices), "-H", "{hosts_slots}"),
        *("--start-timeout", "600", f"--{controller}"),
    )


def bfrun(case: Case) -> Argv:
    """Bluefog's launcher, started once; it starts mpirun."""
    return ("{bin}/bfrun", "-np", str(case.total_devices), "-H", "{hosts_slots}")


def paddle_launch(case: Case) -> Argv:
    """Paddle 2's and 3's launcher, started on every node. Its console shows what rank 0 prints."""
    hosts = ("--ips", "{hosts}") if case.nodes > 1 else ()
    which = ("--devices", devices(case)) if case.device == "gpu" else ("--nproc_per_node", str(case.devices_per_node))
    return ("{python}", "-m", "paddle.distributed.launch", *hosts, *which, "--log_dir", "{scratch}/log")


def paddle_launch_2020(case: Case) -> Argv:
    """Paddle 1.8's launcher, started on every node; it finds the devices in CUDA_VISIBLE_DEVICES."""
    hosts = ("--cluster_node_ips={hosts}", "--node_ip={host}") if case.nodes > 1 else ()
    return ("{python}", "-m", "paddle.distributed.launch", f"--selected_gpus={devices(case)}", *hosts)

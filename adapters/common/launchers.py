"""Each launcher's words for so many processes on these nodes, before a recipe's script.

Source: each launcher's help. The node agent fills what is in braces (`evalsuite.contracts.adapter.Command`).
"""

from collections.abc import Iterable, Mapping

from evalsuite.contracts.adapter import GPT_SIZES
from evalsuite.core.messages import Message
from evalsuite.core.model import Case

Argv = tuple[str, ...]


def devices(case: Case) -> str:
    """Of one node: "0,1,2,3"."""
    return ",".join(str(number) for number in range(case.devices_per_node))


REPLICA = {"tensor_parallel": (), "pipeline_parallel": ()}  # axes of scripts that spread a model over devices
GPT_SIZE = {"num_layers": (), "hidden_size": (), "attention_heads": (), "sequence_length": ("1024", "2048")}
GPT_345M = {**GPT_SIZES, "attention_heads": "16", "sequence_length": "1024"}


# Megatron-LM and its descendants write an index of their samples beside the data: a run links them into its own folder.
GPT_DATA = "{scratch}/gpt2_text_document"
GPT_LINKS = {f"gpt2_text_document.{end}": f"{{data}}/gpt2/gpt2_text_document.{end}" for end in ("bin", "idx")}


def replica(case: Case) -> tuple[int, int]:
    """(tensor, pipeline): a replica has their product of devices."""
    return int(case.option("tensor_parallel", "1")), int(case.option("pipeline_parallel", "1"))


def amp_refused_on_cpu(case: Case) -> str | None:
    return Message("adapters.amp_needs_cuda") if case.device == "cpu" and case.precision != "fp32" else None


def replica_refused(case: Case) -> str | None:
    """Why the devices make no whole replicas; None if they do."""
    tensor, pipeline = replica(case)
    if case.total_devices % (tensor * pipeline):
        return Message("core.does_not_divide", tensor=tensor, pipeline=pipeline, devices=case.total_devices)
    return None


def gpt_size(case: Case) -> Mapping[str, str]:
    return {name: case.option(name, default) for name, default in GPT_345M.items()}


def gpt_arguments(case: Case) -> Argv:
    """As Megatron-LM and its descendants take the size."""
    size = gpt_size(case)
    names = {"num_layers": "--num-layers", "hidden_size": "--hidden-size", "attention_heads": "--num-attention-heads"}
    return tuple(
        word for name, flag in {**names, "sequence_length": "--seq-length"}.items() for word in (flag, size[name])
    )


def gpt_refused(case: Case) -> str | None:
    """Why the devices make no whole replicas, or the heads divide the model into no whole parts; None if they do."""
    size, (tensor, pipeline) = gpt_size(case), replica(case)
    hidden, heads, layers = (int(size[name]) for name in ("hidden_size", "attention_heads", "num_layers"))
    if refused := replica_refused(case):
        return refused
    if hidden % heads or heads % tensor or layers % pipeline:
        return Message("core.gpt_size", hidden=hidden, heads=heads, layers=layers, tensor=tensor, pipeline=pipeline)
    return None


def _on_every_node(module: str, case: Case) -> Argv:
    return (
        *("{python}", "-m", module, "--nnodes", str(case.nodes), "--node_rank", "{node_rank}"),
        *("--nproc_per_node", str(case.devices_per_node)),
        *("--master_addr", "{master_addr}", "--master_port", "{master_port}"),
    )


def torchrun(case: Case) -> Argv:
    return _on_every_node("torch.distributed.run", case)


def torch_launch(case: Case) -> Argv:
    """Before torchrun, for scripts with the argument `--local_rank`."""
    return _on_every_node("torch.distributed.launch", case)


def oneflow_launch(case: Case) -> Argv:
    """Starts on every node. Its import stops where the agent's address and port are set without a rank
    (env_util.py of 0.8.0).
    """
    alone = ("env", "-u", "MASTER_ADDR", "-u", "MASTER_PORT")
    return (*alone, *_on_every_node("oneflow.distributed.launch", case))


def mpirun(case: Case, variables: Iterable[str] = ()) -> Argv:
    """Open MPI over ssh, started once. It hands other nodes what is named: *variables* and what the agent forwards."""
    named = ("LD_LIBRARY_PATH", "PATH", *variables)
    return (
        *("mpirun", "--allow-run-as-root", "-np", str(case.total_devices), "-H", "{hosts_slots}"),
        *("--bind-to", "none", "--map-by", "slot"),  # Open MPI 5 wants two dashes
        *(word for name in named for word in ("-x", name)),
        *(("{forwarded}",) if case.nodes > 1 else ()),
        *("-mca", "pml", "ob1", "-mca", "btl", "^openib"),
    )


FOR_HOROVOD = (  # of Python 3.8: for its build and horovodrun
    *("setuptools==59.8.0", "wheel==0.45.1", "packaging==24.2", "cffi==1.17.1", "cloudpickle==3.1.1"),
    *("psutil==6.1.1", "PyYAML==6.0.2"),
)


def horovodrun(case: Case, controller: str = "gloo") -> Argv:
    """Started once; *controller* is gloo or mpi. It hands on all variables but this one (common/util/env.py)."""
    hidden = case.nodes > 1 and case.device == "gpu"
    return (
        *("{bin}/horovodrun", "-np", str(case.total_devices), "-H", "{hosts_slots}"),
        *("--start-timeout", "600", f"--{controller}"),
        *(("env", "CUDA_VISIBLE_DEVICES={devices}") if hidden else ()),
    )


def tf_config(case: Case) -> dict[str, str]:
    """The variable by which TensorFlow's MultiWorkerMirroredStrategy learns its workers when it is made."""
    workers = '{"cluster": {"worker": {hosts_ports_json}}, "task": {"type": "worker", "index": {node_rank}}}'
    return {"TF_CONFIG": workers} if case.nodes > 1 else {}


def bfrun(case: Case) -> Argv:
    return ("{bin}/bfrun", "-np", str(case.total_devices), "-H", "{hosts_slots}")


def msrun(case: Case) -> Argv:
    """Of MindSpore 2, started on every node. It starts the first `python` of the path; ranks print there."""
    return (
        *("sh", "-c", 'PATH="$0:$PATH" exec msrun "$@"', "{bin}"),
        *(f"--worker_num={case.total_devices}", f"--local_worker_num={case.devices_per_node}"),
        *("--master_addr={master_address}", "--master_port={master_port}", "--node_rank={node_rank}"),
        *("--log_dir={scratch}/msrun/{node_rank}", "--join=True", "--cluster_time_out=7200"),
    )


def paddle_launch(case: Case) -> Argv:
    """Of Paddle 2 and 3, started on every node, a process for each device that it sees. Its console follows the file of
    the node's first rank in the folder of logs.

    Names make it take the wrong part: of `--ips h1,h2` each host is rank 0, and a `--master` by name waits for itself
    (launch/controllers/collective.py and master.py of 3.3.1).
    """
    meeting = ("--master", "{master_or_self}:{master_port}", "--nnodes", str(case.nodes), "--rank", "{node_rank}")
    return (
        *("{python}", "-m", "paddle.distributed.launch", *(meeting if case.nodes > 1 else ())),
        *("--nproc_per_node", str(case.devices_per_node), "--log_dir", "{scratch}/log/{node_rank}"),
    )


def paddle_launch_2020(case: Case) -> Argv:
    """Of Paddle 1.8, started on every node, a process for each device that it sees. Names of hosts will do."""
    hosts = ("--cluster_node_ips={hosts}", "--node_ip={host}") if case.nodes > 1 else ()
    return ("{python}", "-m", "paddle.distributed.launch", *hosts)

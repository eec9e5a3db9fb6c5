"""Bluefog: its own benchmark, with the communication of the optimiser as an axis; bfrun starts the processes, and
horovodrun those of the same script with Horovod's optimiser, in an environment that has both."""

from dataclasses import replace

from adapters.common import launchers
from adapters.common.reference import HOROVOD_ON_GPUS, PLAIN
from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.core.messages import Message
from evalsuite.core.model import Case

# `allreduce` averages parameters and `gradient_allreduce` averages gradients: compare Horovod with the latter.
OPTIMISERS = ("neighbor_allreduce", "hierarchical_neighbor_allreduce", "gradient_allreduce", "allreduce", "win_put")
HOROVOD = "horovod"  # of a recipe of its own

BATCHES = 10  # in one printed "Iter", by default; the dialect counts on it


def _command(case: Case) -> Command:
    """The default topology, which changes at every step, divides by zero in a single process."""
    static = case.total_devices == 1 or case.option("topology") == "static"
    return Command(
        argv=(
            *(launchers.horovodrun if case.option("optimiser") == HOROVOD else launchers.bfrun)(case),
            *("{python}", "{checkout}/examples/pytorch_benchmark.py", "--model", case.option("network", "resnet50")),
            *("--batch-size", str(case.batch_per_device)),
            *("--num-warmup-batches", str(max(1, case.protocol.warmup_steps))),
            *("--num-batches-per-iter", str(BATCHES), "--num-iters", str(case.protocol.measured_steps // BATCHES)),
            f"--dist-optimizer={case.option('optimiser', OPTIMISERS[0])}",
            *(("--disable-dynamic-topology",) if static else ()),
            *(("--atc-style",) if case.option("style") == "atc" else ()),
            *(("--no-cuda",) if case.device == "cpu" else ()),
        )
    )


def _unsupported(case: Case) -> str | None:
    if case.option("optimiser") == "hierarchical_neighbor_allreduce" and case.nodes == 1:
        return Message("adapters.bluefog_nodes")
    dynamic = case.option("optimiser", OPTIMISERS[0]) == OPTIMISERS[0] and case.option("topology") != "static"
    if dynamic and case.nodes > 1 and case.devices_per_node < 3:  # bluefog/common/topology_util.py:492
        return Message("adapters.bluefog_three")
    if case.protocol.measured_steps % BATCHES:
        return Message("adapters.mean_of_batches", batches=BATCHES)
    return None


BENCHMARK = Recipe(
    name="benchmark-resnet50",
    model="resnet50_v1.5",
    checkout="bluefog",
    dialect="horovod_synthetic",
    command=_command,
    spawn="once",
    unsupported=_unsupported,
    options={
        "optimiser": OPTIMISERS,
        "topology": ("dynamic", "static"),
        "style": ("awc", "atc"),
        "network": ("resnet50", "resnet18"),
    },
    facts={**PLAIN, "input_size": "224", "data": "synthetic"},  # pytorch_benchmark.py:151
    python="3.7",
    requirements=("torch==1.7.1", "torchvision==0.8.2", "setuptools==59.8.0", "wheel==0.42.0", "packaging==24.0"),
    built=("bluefog==0.3.0",),
    # setup.py:498 and 226: it asks for NCCL's headers, in BLUEFOG_NCCL_HOME or the system's
    build_environment_gpu={"BLUEFOG_WITH_NCCL": "1"},
    import_name="bluefog.torch",
    package="bluefog",
    system=("mpirun", "mpicc"),
    system_gpu=("nvcc",),
    outside="it neither evaluates nor saves",
)
WITH_HOROVOD = replace(
    BENCHMARK,
    name="benchmark-resnet50-horovod",
    command=lambda case: _command(replace(case, options=(*case.options, ("optimiser", HOROVOD)))),
    options={"optimiser": (HOROVOD,), "network": ("resnet50", "resnet18")},
    features=("Horovod",),
    built=("bluefog==0.3.0", "horovod==0.28.1"),
    build_environment={"HOROVOD_WITH_PYTORCH": "1", "HOROVOD_WITH_GLOO": "1"},
    build_environment_gpu={"BLUEFOG_WITH_NCCL": "1", **HOROVOD_ON_GPUS},
    import_name="horovod.torch",
    system=("mpirun", "mpicc", "cmake"),
)
ADAPTER = Adapter(name="bluefog", title="Bluefog", recipes=(BENCHMARK, WITH_HOROVOD))

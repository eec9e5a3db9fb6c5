"""PaddlePaddle: paddle.vision's ResNet-50 (which is v1.5), DataParallel under paddle.distributed.launch."""

from evalsuite.adapter import Adapter, Command, Recipe, reference_arguments, reference_unsupported
from evalsuite.model import Case


def _command(case: Case) -> Command:
    """The launcher finds its own ports on one node, and takes a master only for several."""
    master = ("--master", "{master_addr}:{master_port}", "--rank", "{node_rank}") if case.nodes > 1 else ()
    launcher = (
        *("-m", "paddle.distributed.launch", "--nnodes", str(case.nodes), *master),
        *("--nproc_per_node", str(case.devices_per_node), "--log_dir", "paddle_launch"),
    )
    return Command(
        argv=(
            "{python}",
            *(launcher if case.total_devices > 1 else ()),
            "{workloads}/paddlepaddle_resnet50.py",
            *reference_arguments(case),
        )
    )


ADAPTER = Adapter(
    name="paddlepaddle",
    title="PaddlePaddle",
    recipes=(
        Recipe(
            name="reference-resnet50",
            model="resnet50_v1.5",
            kind="reference",
            dialect="paddleclas",
            command=_command,
            spawn="per_node",
            unsupported=reference_unsupported,
            requirements=("paddlepaddle==3.3.1", "setuptools==80.9.0"),  # it imports setuptools without saying so
            requirements_gpu=("paddlepaddle-gpu==3.3.1", "setuptools==80.9.0"),
            import_name="paddle",
            package="paddlepaddle",
            source="paddle.vision.models.resnet50",
        ),
    ),
)

"""PyTorch: torchvision's ResNet-50 (which is v1.5), DistributedDataParallel under torchrun."""

from evalsuite.adapter import (
    REFERENCE_ENVIRONMENT,
    Adapter,
    Command,
    Recipe,
    reference_arguments,
    reference_unsupported,
)
from evalsuite.model import Case


def _command(case: Case) -> Command:
    """One device is trained on without a launcher, as users do: torchrun would only add an idle process."""
    launcher = (
        *("-m", "torch.distributed.run", "--nnodes", str(case.nodes), "--node_rank", "{node_rank}"),
        *("--nproc_per_node", str(case.devices_per_node)),
        *("--master_addr", "{master_addr}", "--master_port", "{master_port}"),
    )
    return Command(
        argv=(
            "{python}",
            *(launcher if case.total_devices > 1 else ()),
            "{workloads}/pytorch_resnet50.py",
            *reference_arguments(case),
        ),
        environment=REFERENCE_ENVIRONMENT,
    )


ADAPTER = Adapter(
    name="pytorch",
    title="PyTorch",
    recipes=(
        Recipe(
            name="reference-resnet50",
            model="resnet50_v1.5",
            kind="reference",
            dialect="pytorch_examples",
            command=_command,
            options={"image_size": ()},
            amp="torch.autocast: bfloat16 on CPU, float16 with loss scaling on GPU",
            xla="torch.compile",
            printed_by="rank0",
            outside="it neither evaluates nor saves",
            spawn="per_node",
            unsupported=reference_unsupported,
            requirements=("torch==2.13.0", "torchvision==0.28.0"),
            import_name="torch",
            package="torch",
            source="torchvision.models.resnet50",
        ),
    ),
)

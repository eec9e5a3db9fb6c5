"""PyTorch under torchrun: torchvision's ResNet-50 (which is v1.5) and MobileNetV2, BERT of torch.nn's encoder."""

from dataclasses import replace

from evalsuite.adapter import (
    REFERENCE_ENVIRONMENT,
    Adapter,
    Command,
    Recipe,
    reference_arguments,
    reference_bert_arguments,
    reference_bert_unsupported,
    reference_cifar10_arguments,
    reference_cifar10_unsupported,
    reference_unsupported,
)
from evalsuite.model import Case

# Each run compiles for itself: a run that was ended while compiling leaves half a library in the shared cache,
# and every later run then stops at "ImportError: … file too short".
INDUCTOR = {"TORCHINDUCTOR_CACHE_DIR": "{scratch}/inductor"}


def _command(case: Case, script: str, arguments: tuple[str, ...]) -> Command:
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
            f"{{workloads}}/{script}",
            *arguments,
        ),
        environment={**REFERENCE_ENVIRONMENT, **(INDUCTOR if case.xla else {})},
    )


def _resnet50(case: Case) -> Command:
    return _command(case, "pytorch_resnet50.py", reference_arguments(case))


def _bert(case: Case) -> Command:
    return _command(case, "pytorch_bert.py", reference_bert_arguments(case))


def _cifar10(case: Case) -> Command:
    return _command(case, "pytorch_cifar10.py", reference_cifar10_arguments(case))


_BASE = Recipe(
    name="reference-resnet50",
    model="resnet50_v1.5",
    kind="reference",
    dialect="pytorch_examples",
    command=_resnet50,
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
)
_BERT = replace(
    _BASE,
    unit="sequences/s",
    command=_bert,
    options={"sequence_length": ()},
    unsupported=reference_bert_unsupported,
    source="torch.nn.TransformerEncoder",
)
_CIFAR10 = replace(
    _BASE,
    command=_cifar10,
    options={"image_size": ("32",)},
    unsupported=reference_cifar10_unsupported,
)
ADAPTER = Adapter(
    name="pytorch",
    title="PyTorch",
    recipes=(
        _BASE,
        replace(_BERT, name="reference-bert-base", model="bert_base"),
        replace(_BERT, name="reference-bert-tiny", model="bert_tiny"),
        replace(_CIFAR10, name="reference-resnet50-cifar10", model="resnet50_cifar10"),
        replace(
            _CIFAR10,
            name="reference-mobilenetv2-cifar10",
            model="mobilenetv2_cifar10",
            source="torchvision.models.mobilenet_v2",
        ),
    ),
)

"""PyTorch under torchrun: torchvision's ResNet-50 (v1.5) and MobileNetV2, BERT of torch.nn's encoder."""

from adapters.common.reference import (
    REFERENCE_ENVIRONMENT,
    REFERENCE_FACTS,
    SPLIT_CLASSIFIER,
    WORKLOADS,
    of_script,
    reference_patterns,
    reference_recipes,
    reference_resnet50,
)
from evalsuite.contracts.adapter import Adapter, Command
from evalsuite.core.model import Case

# A cache for each run: one that is ended while compiling leaves half a library there, and every later run
# stops at "ImportError: … file too short".
INDUCTOR = {"TORCHINDUCTOR_CACHE_DIR": "{scratch}/inductor"}


def _command(case: Case, script: str, arguments: tuple[str, ...]) -> Command:
    launcher = (
        *("-m", "torch.distributed.run", "--nnodes", str(case.nodes), "--node_rank", "{node_rank}"),
        *("--nproc_per_node", str(case.devices_per_node)),
        *("--master_addr", "{master_addr}", "--master_port", "{master_port}"),
    )
    return Command(
        argv=("{python}", *(launcher if case.total_devices > 1 else ()), f"{{workloads}}/{script}", *arguments),
        environment={**REFERENCE_ENVIRONMENT, **(INDUCTOR if case.xla else {})},
    )


_RESNET50 = reference_resnet50(
    *("pytorch", _command),
    dialect="pytorch_examples",
    amp="torch.autocast: bfloat16 on CPU, float16 with loss scaling on GPU",
    xla="torch.compile",
    spawn="per_node",
    requirements=("torch==2.13.0", "torchvision==0.28.0"),
    other_wheels=(("torch==2.7.1", "torchvision==0.22.1"),),  # the last on PyPI that a V100 runs
    import_name="torch",
    source="torchvision.models.resnet50",
)
_OTHERS = reference_recipes(
    *("pytorch", _RESNET50, _command, tuple(WORKLOADS)),
    sources={
        "bert": "torch.nn.TransformerEncoder",
        "resnet50_cifar10": _RESNET50.source,
        "mobilenetv2_cifar10": "torchvision.models.mobilenet_v2",
    },
    laid=("accumulation", "fsdp"),
)
ADAPTER = Adapter(
    name="pytorch",
    title="PyTorch",
    recipes=(
        _RESNET50,
        *_OTHERS,
        reference_patterns(_RESNET50, "pytorch_patterns.py"),
        *of_script(
            (each for each in _OTHERS if each.model.startswith("face_")),
            # each process sees other gradients of the head, so a loss scale would have to be agreed on
            *(_command, "pytorch_split_face", "split"),
            facts={**REFERENCE_FACTS, "parallel_layout": SPLIT_CLASSIFIER},
        ),
        *of_script(
            (each for each in _OTHERS if each.model.endswith("_cifar10")),
            *(_command, "pytorch_host_reduce", "host-reduce"),
        ),
    ),
)

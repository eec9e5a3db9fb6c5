"""PyTorch under torchrun: torchvision's ResNet-50 (v1.5) and MobileNetV2, BERT of torch.nn's encoder."""

from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.contracts.reference import (
    REFERENCE_ENVIRONMENT,
    REFERENCE_FACTS,
    host_reduced,
    reference_arguments,
    reference_bert,
    reference_cifar10,
    reference_cifar10_arguments,
    reference_face,
    reference_face_arguments,
    reference_gpt2,
    reference_patterns,
    reference_text_arguments,
    reference_unsupported,
    reference_wide_deep,
    reference_wide_deep_arguments,
    split_face,
)
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
    return _command(case, "pytorch_bert.py", reference_text_arguments(case))


def _gpt2(case: Case) -> Command:
    return _command(case, "pytorch_gpt2.py", reference_text_arguments(case))


def _face(case: Case) -> Command:
    return _command(case, "pytorch_face.py", reference_face_arguments(case))


def _split_face(case: Case) -> Command:
    return _command(case, "pytorch_split_face.py", reference_face_arguments(case))


def _wide_deep(case: Case) -> Command:
    return _command(case, "pytorch_wide_deep.py", reference_wide_deep_arguments(case))


def _host_reduce(case: Case) -> Command:
    return _command(case, "pytorch_host_reduce.py", reference_cifar10_arguments(case))


def _cifar10(case: Case) -> Command:
    return _command(case, "pytorch_cifar10.py", reference_cifar10_arguments(case))


_RESNET50 = Recipe(
    name="reference-resnet50",
    model="resnet50_v1.5",
    kind="reference",
    dialect="pytorch_examples",
    command=_resnet50,
    options={"image_size": ()},
    facts=REFERENCE_FACTS,
    amp="torch.autocast: bfloat16 on CPU, float16 with loss scaling on GPU",
    xla="torch.compile",
    printed_by="rank0",
    outside="it neither evaluates nor saves",
    spawn="per_node",
    unsupported=reference_unsupported,
    requirements=("torch==2.13.0", "torchvision==0.28.0"),
    other_wheels=(("torch==2.7.1", "torchvision==0.22.1"),),  # the last on PyPI that a V100 runs
    import_name="torch",
    package="torch",
    source="torchvision.models.resnet50",
    equivalence="pytorch_equivalence.py",
)
_BERT = reference_bert(_RESNET50, command=_bert, source="torch.nn.TransformerEncoder")
_CIFAR10 = reference_cifar10(_RESNET50, _cifar10, mobilenetv2_source="torchvision.models.mobilenet_v2")
_FACE = reference_face(_RESNET50, command=_face, source="adapters/workloads/pytorch_face.py")
ADAPTER = Adapter(
    name="pytorch",
    title="PyTorch",
    recipes=(
        _RESNET50,
        *_BERT,
        *reference_gpt2(_BERT[1], command=_gpt2, source="adapters/workloads/pytorch_gpt2.py"),
        *_FACE,
        *(split_face(each, _split_face, "adapters/workloads/pytorch_split_face.py") for each in _FACE),
        *reference_wide_deep(_RESNET50, command=_wide_deep, source="adapters/workloads/pytorch_wide_deep.py"),
        *_CIFAR10,
        reference_patterns(_RESNET50, "pytorch_patterns.py"),
        *(host_reduced(each, _host_reduce, "adapters/workloads/pytorch_host_reduce.py") for each in _CIFAR10),
    ),
)

"""PaddlePaddle under its launcher: paddle.vision's ResNet-50 (v1.5) and MobileNetV2, BERT of paddle.nn's encoder."""

from dataclasses import replace

from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.contracts.reference import (
    REFERENCE_ENVIRONMENT,
    REFERENCE_FACTS,
    reference_arguments,
    reference_bert,
    reference_bert_unsupported,
    reference_cifar10,
    reference_cifar10_arguments,
    reference_face,
    reference_face_arguments,
    reference_gpt2,
    reference_gpt2_unsupported,
    reference_text_arguments,
    reference_unsupported,
    reference_wide_deep,
    reference_wide_deep_arguments,
)
from evalsuite.core.messages import Message
from evalsuite.core.model import Case


def _command(case: Case, script: str, arguments: tuple[str, ...]) -> Command:
    """The launcher finds its ports on one node; it takes a master only for several."""
    master = ("--master", "{master_addr}:{master_port}", "--rank", "{node_rank}") if case.nodes > 1 else ()
    launcher = (
        *("-m", "paddle.distributed.launch", "--nnodes", str(case.nodes), *master),
        *("--nproc_per_node", str(case.devices_per_node), "--log_dir", "{scratch}/paddle_launch"),
    )
    return Command(
        argv=(
            "{python}",
            *(launcher if case.total_devices > 1 else ()),
            f"{{workloads}}/{script}",
            *arguments,
        ),
        environment=REFERENCE_ENVIRONMENT,
    )


def _resnet50(case: Case) -> Command:
    return _command(case, "paddlepaddle_resnet50.py", reference_arguments(case))


def _bert(case: Case) -> Command:
    return _command(case, "paddlepaddle_bert.py", reference_text_arguments(case))


def _gpt2(case: Case) -> Command:
    return _command(case, "paddlepaddle_gpt2.py", reference_text_arguments(case))


def _face(case: Case) -> Command:
    return _command(case, "paddlepaddle_face.py", reference_face_arguments(case))


def _wide_deep(case: Case) -> Command:
    return _command(case, "paddlepaddle_wide_deep.py", reference_wide_deep_arguments(case))


def _cifar10(case: Case) -> Command:
    return _command(case, "paddlepaddle_cifar10.py", reference_cifar10_arguments(case))


def _no_amp_on_cpu(case: Case) -> str | None:
    """paddle/amp/auto_cast.py (3.3.1): "amp_guard can only be enabled on CUDAPlace, XPUPlace, and CustomPlace"."""
    if case.precision == "amp" and case.device == "cpu":
        return Message("adapters.paddle_autocast")
    return None


_RESNET50 = Recipe(
    name="reference-resnet50",
    model="resnet50_v1.5",
    kind="reference",
    dialect="paddleclas",
    command=_resnet50,
    options={"image_size": ()},
    facts=REFERENCE_FACTS,
    amp="paddle.amp O1: float16 with loss scaling on GPU, none on CPU",
    xla="paddle.jit.to_static",
    printed_by="rank0",
    outside="it neither evaluates nor saves",
    spawn="per_node",
    unsupported=lambda case: _no_amp_on_cpu(case) or reference_unsupported(case),
    requirements=("paddlepaddle==3.3.1", "setuptools==80.9.0"),  # imported without being required
    requirements_gpu=("paddlepaddle-gpu==2.6.2", "setuptools==80.9.0"),  # the newest on PyPI
    import_name="paddle",
    package="paddlepaddle",
    source="paddle.vision.models.resnet50",
    equivalence="paddlepaddle_equivalence.py",
)
_BERT = reference_bert(
    _RESNET50,
    dialect="paddlenlp_bert",
    command=_bert,
    unsupported=lambda case: _no_amp_on_cpu(case) or reference_bert_unsupported(case),
    source="paddle.nn.TransformerEncoder",
)
ADAPTER = Adapter(
    name="paddlepaddle",
    title="PaddlePaddle",
    recipes=(
        _RESNET50,
        *(replace(each, requirements_gpu=None) for each in _BERT),  # wants layer_norm_eps, which is newer than 2.6.2
        *reference_gpt2(
            _BERT[1],
            command=_gpt2,
            source="adapters/workloads/paddlepaddle_gpt2.py",
            unsupported=lambda case: _no_amp_on_cpu(case) or reference_gpt2_unsupported(case),
        ),
        *reference_face(
            _RESNET50,
            command=_face,
            source="adapters/workloads/paddlepaddle_face.py",
        ),
        *reference_wide_deep(
            _RESNET50,
            command=_wide_deep,
            source="adapters/workloads/paddlepaddle_wide_deep.py",
            unsupported=_no_amp_on_cpu,
        ),
        *reference_cifar10(_RESNET50, _cifar10, mobilenetv2_source="paddle.vision.models.mobilenet_v2"),
    ),
)

"""PaddlePaddle under its launcher: paddle.vision's ResNet-50 (v1.5) and MobileNetV2, BERT of paddle.nn's encoder."""

from dataclasses import replace

from adapters.common import launchers
from adapters.common.reference import (
    REFERENCE_ENVIRONMENT,
    reference_recipes,
    reference_resnet50,
    reference_unsupported,
)
from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.core.messages import Message
from evalsuite.core.model import Case


def _command(case: Case, script: str, arguments: tuple[str, ...]) -> Command:
    launcher = launchers.paddle_launch(case) if case.total_devices > 1 else ("{python}",)
    return Command(argv=(*launcher, f"{{workloads}}/{script}", *arguments), environment=REFERENCE_ENVIRONMENT)


def _no_amp_on_cpu(case: Case) -> str | None:
    """paddle/amp/auto_cast.py (3.3.1): "amp_guard can only be enabled on CUDAPlace, XPUPlace, and CustomPlace"."""
    return Message("adapters.paddle_autocast") if case.precision == "amp" and case.device == "cpu" else None


_RESNET50 = reference_resnet50(
    *("paddlepaddle", _command),
    dialect="paddleclas_2021",
    amp="paddle.amp O1: float16 with loss scaling on GPU, none on CPU",
    xla="paddle.jit.to_static",
    spawn="per_node",
    unsupported=lambda case: _no_amp_on_cpu(case) or reference_unsupported(case),
    requirements=("paddlepaddle==3.3.1", "setuptools==80.9.0"),  # imported without being required
    requirements_gpu=("paddlepaddle-gpu==2.6.2", "setuptools==80.9.0"),  # the newest on PyPI
    import_name="paddle",
    source="paddle.vision.models.resnet50",
)
_OTHERS = reference_recipes(
    *("paddlepaddle", _RESNET50, _command, ("bert", "gpt2", "llama", "face", "wide_deep", "cifar10")),
    sources={
        "bert": "paddle.nn.TransformerEncoder",
        "resnet50_cifar10": _RESNET50.source,
        "mobilenetv2_cifar10": "paddle.vision.models.mobilenet_v2",
    },
    refusal=_no_amp_on_cpu,
)


def _with_lines(recipe: Recipe) -> Recipe:
    if recipe.unit not in ("sequences/s", "tokens/s"):
        return replace(recipe, dialect="paddleclas")
    pins = None if recipe.model.startswith("bert_") else recipe.requirements_gpu  # layer_norm_eps is newer than 2.6.2
    return replace(recipe, dialect="paddlenlp_bert", requirements_gpu=pins)


ADAPTER = Adapter(
    name="paddlepaddle",
    title="PaddlePaddle",
    recipes=(_RESNET50, *map(_with_lines, _OTHERS)),
)

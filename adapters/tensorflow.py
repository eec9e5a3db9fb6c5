"""TensorFlow: ResNet-50 v1.5, BERT and MobileNetV2 of Keras, MultiWorkerMirroredStrategy, a process per device."""

from adapters.common.reference import REFERENCE_ENVIRONMENT, reference_patterns, reference_recipes, reference_resnet50
from evalsuite.contracts.adapter import Adapter, Command
from evalsuite.core.model import Case


def _command(case: Case, script: str, arguments: tuple[str, ...]) -> Command:
    hosts = ("--hosts", "{hosts}") if case.nodes > 1 else ()  # TF_CONFIG has every worker
    return Command(
        argv=("{python}", f"{{workloads}}/{script}", *arguments, *hosts),
        environment={**REFERENCE_ENVIRONMENT, "TF_CPP_MIN_LOG_LEVEL": "1"},  # no notes on processor features
    )


_RESNET50 = reference_resnet50(
    *("tensorflow", _command),
    dialect="tf_time_history",
    amp="Keras mixed precision: bfloat16 on CPU, float16 with loss scaling on GPU",
    xla="XLA (jit_compile)",
    spawn="per_device",
    # 2.15 is the last release with Keras 2; with Keras 3 MultiWorkerMirroredStrategy
    # stops at "unsupported type PerReplica".
    requirements=("tensorflow-cpu==2.15.1",),
    requirements_gpu=("tensorflow[and-cuda]==2.15.1",),
    import_name="tensorflow",
)
_SOURCES = {"resnet50_cifar10": _RESNET50.source, "mobilenetv2_cifar10": "adapters/workloads/tensorflow_mobilenetv2.py"}
ADAPTER = Adapter(
    name="tensorflow",
    title="TensorFlow",
    recipes=(
        _RESNET50,
        *reference_recipes("tensorflow", _RESNET50, _command, sources=_SOURCES),
        reference_patterns(_RESNET50, "tensorflow_patterns.py"),
    ),
)

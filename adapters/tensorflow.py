"""TensorFlow: ResNet-50 v1.5, BERT and MobileNetV2 of Keras, MultiWorkerMirroredStrategy, a process per device."""

from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.contracts.reference import (
    REFERENCE_ENVIRONMENT,
    REFERENCE_FACTS,
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
)
from evalsuite.core.model import Case


def _command(case: Case, script: str, arguments: tuple[str, ...]) -> Command:
    hosts = ("--hosts", "{hosts}") if case.nodes > 1 else ()  # TF_CONFIG has every worker
    return Command(
        argv=("{python}", f"{{workloads}}/{script}", *arguments, *hosts),
        environment={**REFERENCE_ENVIRONMENT, "TF_CPP_MIN_LOG_LEVEL": "1"},  # no notes on processor features
    )


def _resnet50(case: Case) -> Command:
    return _command(case, "tensorflow_resnet50.py", reference_arguments(case))


def _bert(case: Case) -> Command:
    return _command(case, "tensorflow_bert.py", reference_text_arguments(case))


def _gpt2(case: Case) -> Command:
    return _command(case, "tensorflow_gpt2.py", reference_text_arguments(case))


def _face(case: Case) -> Command:
    return _command(case, "tensorflow_face.py", reference_face_arguments(case))


def _wide_deep(case: Case) -> Command:
    return _command(case, "tensorflow_wide_deep.py", reference_wide_deep_arguments(case))


def _cifar10(case: Case) -> Command:
    return _command(case, "tensorflow_cifar10.py", reference_cifar10_arguments(case))


_RESNET50 = Recipe(
    name="reference-resnet50",
    model="resnet50_v1.5",
    kind="reference",
    dialect="tf_time_history",
    command=_resnet50,
    options={"image_size": ()},
    facts=REFERENCE_FACTS,
    amp="Keras mixed precision: bfloat16 on CPU, float16 with loss scaling on GPU",
    xla="XLA (jit_compile)",
    printed_by="every_rank",
    outside="it neither evaluates nor saves",
    spawn="per_device",
    unsupported=reference_unsupported,
    # 2.15 is the last release with Keras 2; with Keras 3 MultiWorkerMirroredStrategy
    # stops at "unsupported type PerReplica".
    requirements=("tensorflow-cpu==2.15.1",),
    requirements_gpu=("tensorflow[and-cuda]==2.15.1",),
    import_name="tensorflow",
    package="tensorflow-cpu",
    source="adapters/workloads/tensorflow_resnet50.py",
    equivalence="tensorflow_equivalence.py",
)
_BERT = reference_bert(_RESNET50, command=_bert, source="adapters/workloads/tensorflow_bert.py")
ADAPTER = Adapter(
    name="tensorflow",
    title="TensorFlow",
    recipes=(
        _RESNET50,
        *_BERT,
        *reference_gpt2(_BERT[1], command=_gpt2, source="adapters/workloads/tensorflow_gpt2.py"),
        *reference_face(_RESNET50, command=_face, source="adapters/workloads/tensorflow_face.py"),
        *reference_wide_deep(_RESNET50, command=_wide_deep, source="adapters/workloads/tensorflow_wide_deep.py"),
        reference_patterns(_RESNET50, "tensorflow_patterns.py"),
        *reference_cifar10(_RESNET50, _cifar10, mobilenetv2_source="adapters/workloads/tensorflow_mobilenetv2.py"),
    ),
)

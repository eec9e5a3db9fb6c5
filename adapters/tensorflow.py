"""TensorFlow: ResNet-50 v1.5 of Keras layers, MultiWorkerMirroredStrategy with one process per device."""

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
    hosts = ("--hosts", "{hosts}") if case.nodes > 1 else ()  # TF_CONFIG names every worker
    return Command(
        argv=("{python}", "{workloads}/tensorflow_resnet50.py", *reference_arguments(case), *hosts),
        environment={**REFERENCE_ENVIRONMENT, "TF_CPP_MIN_LOG_LEVEL": "1"},  # without the notes on processor features
    )


ADAPTER = Adapter(
    name="tensorflow",
    title="TensorFlow",
    recipes=(
        Recipe(
            name="reference-resnet50",
            model="resnet50_v1.5",
            kind="reference",
            dialect="tf_time_history",
            command=_command,
            options={"image_size": ()},
            amp="Keras mixed precision: bfloat16 on CPU, float16 with loss scaling on GPU",
            xla="XLA (jit_compile)",
            printed_by="every_rank",
            outside="it neither evaluates nor saves",
            spawn="per_device",
            unsupported=reference_unsupported,
            # 2.15 is the last release whose own Keras is Keras 2: with Keras 3 MultiWorkerMirroredStrategy
            # stops at "unsupported type PerReplica".
            requirements=("tensorflow-cpu==2.15.1",),
            requirements_gpu=("tensorflow[and-cuda]==2.15.1",),
            import_name="tensorflow",
            package="tensorflow-cpu",
            source="adapters/workloads/tensorflow_resnet50.py",
        ),
    ),
)

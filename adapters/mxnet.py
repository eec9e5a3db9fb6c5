"""MXNet: the model zoo's ResNetV1 with v1.5 bottlenecks, KVStore dist_sync with one server per node."""

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
    argv = ("{python}", "{workloads}/mxnet_resnet50.py", *reference_arguments(case))
    return Command(argv=argv, environment=REFERENCE_ENVIRONMENT)


def _unsupported(case: Case) -> str | None:
    if case.xla:
        return "MXNet has no XLA, and hybridize(), its own graph mode, is always on in this workload."
    return reference_unsupported(case)


ADAPTER = Adapter(
    name="mxnet",
    title="MXNet",
    recipes=(
        Recipe(
            name="reference-resnet50",
            model="resnet50_v1.5",
            kind="reference",
            dialect="mxnet_speedometer",
            command=_command,
            options={"image_size": ()},
            amp="mxnet.contrib.amp: bfloat16 on CPU, float16 with loss scaling on GPU",
            printed_by="every_rank",
            outside="it neither evaluates nor saves",
            spawn="per_device",
            unsupported=_unsupported,
            requirements=("mxnet==1.9.1", "numpy==1.23.5"),  # it uses np.bool, which numpy 1.24 removed
            requirements_gpu=("mxnet-cu112==1.9.1", "numpy==1.23.5"),
            import_name="mxnet",
            package="mxnet",
            source="mxnet.gluon.model_zoo.vision.ResNetV1",
        ),
    ),
)

"""MXNet: ResNetV1 with v1.5 bottlenecks, BERT and MobileNetV2 of Gluon blocks, KVStore dist_sync, a server per node."""

from adapters.common.reference import (
    REFERENCE_ENVIRONMENT,
    reference_recipes,
    reference_resnet50,
    reference_unsupported,
)
from evalsuite.contracts.adapter import Adapter, Command
from evalsuite.core.messages import Message
from evalsuite.core.model import Case


def _command(case: Case, script: str, arguments: tuple[str, ...]) -> Command:
    """The scheduler of the store can bind to no name (ps-lite's zmq_van.h)."""
    meeting = ("env", "MASTER_ADDR={master_address}") if case.nodes > 1 else ()
    argv = (*meeting, "{python}", f"{{workloads}}/{script}", *arguments)
    return Command(argv=argv, environment=REFERENCE_ENVIRONMENT)


def _no_xla(case: Case) -> str | None:
    return Message("adapters.mxnet_xla") if case.xla else None


_RESNET50 = reference_resnet50(
    *("mxnet", _command),
    dialect="mxnet_speedometer",
    scope="own",  # of dist_sync: each worker's Speedometer counts its own batches
    amp="mxnet.contrib.amp: bfloat16 on CPU, float16 with loss scaling on GPU",
    xla=None,
    spawn="per_device",
    unsupported=lambda case: _no_xla(case) or reference_unsupported(case),
    requirements=("mxnet==1.9.1", "numpy==1.23.5"),  # np.bool is gone from numpy 1.24
    requirements_gpu=("mxnet-cu112==1.9.1", "numpy==1.23.5"),
    import_name="mxnet",
    source="mxnet.gluon.model_zoo.vision.ResNetV1, with the bottlenecks of v1.5",
)
_SOURCES = {"resnet50_cifar10": _RESNET50.source, "mobilenetv2_cifar10": "adapters/workloads/mxnet_mobilenetv2.py"}
ADAPTER = Adapter(
    name="mxnet",
    title="MXNet",
    recipes=(
        _RESNET50,
        *reference_recipes("mxnet", _RESNET50, _command, ("bert", "cifar10"), sources=_SOURCES, refusal=_no_xla),
    ),
)

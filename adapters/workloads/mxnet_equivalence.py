"""The MXNet workloads as `evalsuite equivalence` asks for them: the same parts, from a start that is given."""

import re

import common
import equivalence
import mxnet as mx
import mxnet_loop
import mxnet_resnet50
import numpy
from equivalence import Answer, Setting, Task

JOB = mxnet_loop.Job(mx, mx.cpu(), None, common.place())
FIRST_STAGE = 4  # of the children of ResNetV1.features, behind convolution, batch norm, activation and pool
IN_BOTTLENECK = {
    **{f"body.{3 * part}": f"conv{part + 1}" for part in range(3)},
    **{f"body.{3 * part + 1}": f"bn{part + 1}" for part in range(3)},
    **{f"shortcut.{part}": f"downsample.{part}" for part in range(2)},
}
OUTSIDE = {"features.0": "conv1", "features.1": "bn1", "output": "fc"}
OWN_NAMES = {"weight": "weight", "gamma": "weight", "beta": "bias", "bias": "bias"}


def shapes(model: str) -> dict[str, tuple]:
    return {name: weight.shape for name, weight in _weights(_network(model, "float32")).items()}


def answered(task: Task) -> Answer:
    done = [_done(task, setting) for setting in equivalence.settings(task.model)]
    return Answer(
        version=mx.__version__,
        script=mxnet_resnet50.__file__,
        settings=done,
        flops_per_item=_flops(task),
        timed=mxnet_loop.TIMED,
        modes={"layout": "NCHW", "execution": "graph"},
    )


def _network(model: str, dtype: str):
    network = mxnet_resnet50.resnet50(mx)
    network.initialize(ctx=JOB.context)
    network.cast(dtype)
    side = equivalence.IMAGE_SIZE
    mxnet_loop.prepare(JOB, network, [mx.nd.zeros((1, 3, side, side), dtype=dtype)])
    return network


def _weights(network) -> dict[str, object]:
    """Canonical name → gluon parameter, of all that are trained."""
    own = network._collect_params_with_prefix().items()
    return {_canonical(name): weight for name, weight in own if weight.grad_req != "null"}


def _canonical(name: str) -> str:
    """`features.4.0.body.3.weight` → `layer1.0.conv2.weight`"""
    layer, _, own = name.rpartition(".")
    block = re.fullmatch(r"features\.(\d+)\.(\d+)\.((?:body|shortcut)\.\d+)", layer)
    if block:
        stage = int(block[1]) - FIRST_STAGE + 1
        return f"layer{stage}.{block[2]}.{IN_BOTTLENECK[block[3]]}.{OWN_NAMES[own]}"
    return f"{OUTSIDE[layer]}.{OWN_NAMES[own]}"


def _started(task: Task, dtype: str):
    network = _network(task.model, dtype)
    for name, weight in _weights(network).items():
        weight.set_data(mx.nd.array(task.weights[name], dtype=dtype))
    return network


def _done(task: Task, setting: Setting) -> dict:
    arguments = equivalence.arguments_of(task.model)
    network = _started(task, setting.dtype)
    network.hybridize(static_alloc=True, static_shape=True)
    inputs = [mx.nd.array(task.start["images"], dtype=setting.dtype)]
    losses_of = mxnet_resnet50.losses_of_batch(JOB, mx.nd.array(task.start["labels"], dtype="float32"))
    trainer = mxnet_resnet50.trainer(JOB, network, setting.learning_rate, setting.weight_decay)
    with mx.autograd.record():
        losses = losses_of(network(*inputs))
    losses.backward()
    norms = {
        name: float(numpy.linalg.norm(weight.grad().asnumpy().ravel())) / arguments.batch_size  # of the sum, as here
        for name, weight in _weights(network).items()
    }
    step = mxnet_loop.stepper(JOB, network, inputs, losses_of, trainer, arguments)
    done = [float(step().mean().asscalar()) for _ in range(setting.steps)]
    return equivalence.setting_done(setting, done, norms)


def _flops(task: Task) -> int:
    """Two for each multiplication with a weight of a convolution or a dense layer, by the shapes of their outputs."""
    found = []

    def counted(layer, _, output):
        found.append(2 * output[0].size * layer.weight.data()[0].size)

    def watch(layer):
        if isinstance(layer, (mx.gluon.nn.Conv2D, mx.gluon.nn.Dense)):
            layer.register_forward_hook(counted)

    network = _started(task, "float32")
    network.apply(watch)
    network(mx.nd.array(task.start["images"], dtype="float32"))
    return sum(found)


if __name__ == "__main__":
    equivalence.run("mxnet", shapes, answered)

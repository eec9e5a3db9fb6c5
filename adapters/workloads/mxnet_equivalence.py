"""The MXNet workloads as `evalsuite equivalence` asks for them: the same parts, from a start that is given."""

import re

import bert
import cifar10
import common
import equivalence
import mxnet as mx
import mxnet_bert
import mxnet_cifar10
import mxnet_loop
import mxnet_resnet50
import numpy
from equivalence import Placed, Setting, Task, whole

JOB = mxnet_loop.Job(mx, mx.cpu(), None, common.place())
FIRST_STAGE = 4  # of the children of ResNetV1.features, behind convolution, batch norm, activation and pool
IN_BOTTLENECK = {
    **{f"body.{3 * part}": f"conv{part + 1}" for part in range(3)},
    **{f"body.{3 * part + 1}": f"bn{part + 1}" for part in range(3)},
    **{f"shortcut.{part}": f"downsample.{part}" for part in range(2)},
}
OUTSIDE = {"features.0": "conv1", "features.1": "bn1", "output": "fc"}
IN_BERT = {
    **{"attended": "self_attn.out_proj", "widen": "linear1", "narrow": "linear2"},
    **{"norm_attended": "norm1", "norm_fed": "norm2", "pooler": "pooler.0"},
}
ATTENTION = {"attention": "written out in float64, MXNet's operators in float32"}
SCRIPTS = {
    "resnet50_v1.5": mxnet_resnet50,
    "resnet50_cifar10": mxnet_cifar10,
    "mobilenetv2_cifar10": mxnet_cifar10,
    "bert_tiny": mxnet_bert,
}
OWN_NAMES = {"weight": "weight", "gamma": "weight", "beta": "bias", "bias": "bias"}


def shapes(model: str) -> dict[str, tuple]:
    return {name: weight.shape for name, weight in _named(_network(model, "float32"), model).items()}


def _network(model: str, dtype: str):
    if equivalence.kind(model) == "bert":
        network = mxnet_bert.bert_model(mx, equivalence.size(model), written_out=dtype == "float64")
        inputs = mxnet_bert.inputs_of(JOB, bert.batch(equivalence.arguments_of(model), 0))
    else:
        network = _of_images(model)
        side = equivalence.IMAGE_SIZE
        inputs = [mx.nd.zeros((1, 3, side, side), dtype=dtype)]
    network.initialize(ctx=JOB.context)
    network.cast(dtype)
    mxnet_loop.prepare(JOB, network, inputs)
    return network


def _of_images(model: str):
    if model == "mobilenetv2_cifar10":
        return mxnet_cifar10.model(mx, model.removesuffix("_cifar10"), dropout=0.0)[0]
    return mxnet_cifar10.model(mx, "resnet50")[0] if equivalence.is_small(model) else mxnet_resnet50.resnet50(mx)


def _named(network, model: str) -> dict[str, Placed]:
    own = network._collect_params_with_prefix().items()
    trained = [(name, weight) for name, weight in own if weight.grad_req != "null" and name != "scores.weight"]
    if equivalence.kind(model) == "bert":
        return dict(_of_bert(name, weight, equivalence.size(model)) for name, weight in trained)
    canonical = _as_it_is if model == "mobilenetv2_cifar10" else _of_resnet
    return {canonical(name): whole(weight, weight.shape) for name, weight in trained}


def _as_it_is(name: str) -> str:
    """`features.1.conv.0.1.gamma` → `features.1.conv.0.1.weight`"""
    layer, _, own = name.rpartition(".")
    return f"{layer}.{OWN_NAMES[own]}"


def _of_resnet(name: str) -> str:
    """`features.4.0.body.3.weight` → `layer1.0.conv2.weight`"""
    layer, _, own = name.rpartition(".")
    block = re.fullmatch(r"features\.(\d+)\.(\d+)\.((?:body|shortcut)\.\d+)", layer)
    if block:
        stage = int(block[1]) - FIRST_STAGE + 1
        return f"layer{stage}.{block[2]}.{IN_BOTTLENECK[block[3]]}.{OWN_NAMES[own]}"
    return f"{OUTSIDE[layer]}.{OWN_NAMES[own]}"


def _of_bert(name: str, weight, size: bert.Size) -> tuple[str, Placed]:
    """`encoder.0.widen.weight` → `encoder.layers.0.linear1.weight`"""
    layer, _, own = name.rpartition(".")
    if layer == "scores":
        return "bias", whole(weight, weight.shape)
    *above, last = layer.split(".")
    inside = f"encoder.layers.{above[1]}." if above[:1] == ["encoder"] else ".".join([*above, ""])
    if last == "queries_keys_values":
        return f"{inside}self_attn.in_proj_{own}", _by_heads(weight, size)
    return f"{inside}{IN_BERT.get(last, last)}.{OWN_NAMES[own]}", whole(weight, weight.shape)


def _by_heads(weight, size: bert.Size) -> Placed:
    """Queries, keys and values stand together for each head here, and not for all heads."""

    def laid(array: numpy.ndarray) -> list[numpy.ndarray]:
        parts = array.reshape(3, size.heads, size.hidden // size.heads, *array.shape[1:])
        return [parts.swapaxes(0, 1).reshape(array.shape)]

    return Placed(tuple(weight.shape), (weight,), laid)


def _started(task: Task, dtype: str):
    network = _network(task.model, dtype)
    for name, weight in _named(network, task.model).items():
        for piece, array in zip(weight.pieces, weight.laid(task.weights[name]), strict=True):
            piece.set_data(mx.nd.array(array, dtype=dtype))
    return network


def _inputs_and_losses(task: Task, dtype: str):
    if equivalence.kind(task.model) == "bert":
        batch = equivalence.batch_of(task)
        return mxnet_bert.inputs_of(JOB, batch), mxnet_bert.losses_of(JOB, batch)
    labels = mx.nd.array(task.start["labels"], dtype="float32")
    return [mx.nd.array(task.start["images"], dtype=dtype)], mxnet_resnet50.losses_of_batch(JOB, labels)


def _done(task: Task, setting: Setting) -> dict:
    arguments = equivalence.arguments_of(task.model)
    network = _started(task, setting.dtype)
    network.hybridize(static_alloc=True, static_shape=True)
    inputs, losses_of = _inputs_and_losses(task, setting.dtype)
    trainer = SCRIPTS[task.model].trainer(JOB, network, setting.learning_rate, setting.weight_decay)
    with mx.autograd.record():
        losses = losses_of(network(*inputs))
    losses.backward()
    norms = {  # the gradients here are of the sum, not of the mean
        name: equivalence.norm_of(piece.grad().asnumpy() for piece in weight.pieces) / arguments.batch_size
        for name, weight in _named(network, task.model).items()
    }
    step = _stepper(task, network, inputs, losses_of, trainer)
    done = [float(step().mean().asscalar()) for _ in range(setting.steps)]
    return equivalence.setting_done(setting, done, norms)


def _stepper(task: Task, network, inputs, losses_of, trainer):
    arguments = equivalence.arguments_of(task.model)
    if not equivalence.is_small(task.model):
        return mxnet_loop.stepper(JOB, network, inputs, losses_of, trainer, arguments)
    step, labels = mxnet_cifar10.stepper(JOB, network, trainer, arguments), mx.nd.array(task.start["labels"])
    return lambda: step(*inputs, labels, cifar10.Parts())


if __name__ == "__main__":
    modes = {"layout": "NCHW", "execution": "graph"}
    modes["further"] = lambda task, done: ATTENTION if equivalence.kind(task.model) == "bert" else {}
    equivalence.run(*("mxnet", mx.__version__, shapes, _done), scripts=SCRIPTS, timed=mxnet_loop.TIMED, **modes)

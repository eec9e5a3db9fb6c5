"""The PaddlePaddle workloads as `evalsuite equivalence` asks for them: the same parts, from a start that is given."""

from dataclasses import replace

import bert
import equivalence
import numpy
import paddle
import paddlepaddle_bert
import paddlepaddle_loop
import paddlepaddle_resnet50
from equivalence import Answer, Setting, Task

JOB = paddlepaddle_loop.Job(paddle, 0, 1)


def shapes(model: str) -> dict[str, tuple]:
    """Dense weights lie as (in, out) here; the canonical layout is PyTorch's, (out, in)."""
    network = _network(model)
    turned = _turned(network)
    return {name: weight.shape[::-1] if name in turned else weight.shape for name, weight in _weights(network)}


def answered(task: Task) -> Answer:
    paddle.set_device("cpu")
    done = [_done(task, setting) for setting in equivalence.settings(task.model)]
    return Answer(
        version=paddle.__version__,
        script=_script(task.model).__file__,
        settings=done,
        flops_per_item=_flops(task),
        timed=paddlepaddle_loop.TIMED,
        modes={"layout": "NCHW", "execution": "eager"},
    )


def _script(model: str):
    return paddlepaddle_bert if equivalence.is_bert(model) else paddlepaddle_resnet50


def _network(model: str):
    if equivalence.is_bert(model):
        return paddlepaddle_bert.bert_model(paddle, replace(bert.SIZES[model.removeprefix("bert_")], dropout=0.0))
    return paddlepaddle_resnet50.resnet50(paddle)


def _weights(network) -> list[tuple[str, object]]:
    return [(name, weight) for name, weight in network.named_parameters() if not weight.stop_gradient]


def _turned(network) -> set[str]:
    return {f"{name}.weight" for name, layer in network.named_sublayers() if isinstance(layer, paddle.nn.Linear)}


def _started(task: Task, dtype: str):
    paddle.set_default_dtype(dtype)
    network = _network(task.model)
    turned = _turned(network)
    for name, weight in _weights(network):
        array = task.weights[name]
        weight.set_value(numpy.ascontiguousarray(array.T if name in turned else array).astype(dtype))
    return network


def _inputs_and_loss(task: Task, dtype: str):
    if equivalence.is_bert(task.model):
        batch = equivalence.batch_of(task)
        return paddlepaddle_bert.inputs_of(paddle, batch), paddlepaddle_bert.loss_of(paddle, batch)
    images = paddle.to_tensor(task.start["images"].astype(dtype))
    return [images], paddlepaddle_resnet50.loss_of(paddle, paddle.to_tensor(task.start["labels"]))


def _done(task: Task, setting: Setting) -> dict:
    network = _started(task, setting.dtype)
    inputs, loss_of = _inputs_and_loss(task, setting.dtype)
    optimiser = _script(task.model).optimiser(paddle, network, setting.learning_rate, setting.weight_decay)
    loss_of(network(*inputs)).backward()
    norms = {name: float(numpy.linalg.norm(weight.grad.numpy().ravel())) for name, weight in _weights(network)}
    optimiser.clear_grad()
    step = paddlepaddle_loop.stepper(JOB, network, inputs, loss_of, optimiser, equivalence.arguments_of(task.model))
    return equivalence.setting_done(setting, [float(step()) for _ in range(setting.steps)], norms)


def _flops(task: Task) -> int | None:
    """Two for each multiplication with a weight of a convolution or a dense layer, by the shapes of their outputs."""
    if equivalence.is_bert(task.model):
        return None
    found = []

    def counted(layer, _, output):
        inner = layer.weight.shape[0] if isinstance(layer, paddle.nn.Linear) else layer.weight[0].size
        found.append(2 * int(output[0].size) * int(inner))

    network = _started(task, "float32")
    for layer in network.sublayers():
        if isinstance(layer, (paddle.nn.Conv2D, paddle.nn.Linear)):
            layer.register_forward_post_hook(counted)
    inputs, _ = _inputs_and_loss(task, "float32")
    network(*inputs)
    return sum(found)


if __name__ == "__main__":
    equivalence.run("paddlepaddle", shapes, answered)

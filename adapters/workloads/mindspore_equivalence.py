"""The MindSpore workload as `evalsuite equivalence` asks for it: the same parts, from a start that is given.

In float32 alone: MindSpore's convolution and batch normalisation take no float64 on a CPU (2.7.1).
"""

import equivalence
import mindspore_loop
import mindspore_resnet50
from equivalence import Setting, Task

mindspore = mindspore_loop.started(equivalence.arguments_of("resnet50_v1.5"))
OWN_NAMES = {"gamma": "weight", "beta": "bias"}


def shapes(model: str) -> dict[str, tuple]:
    return {name: weight.shape for name, weight in _named(mindspore_resnet50.resnet50(mindspore)).items()}


def _named(network) -> dict:
    own = ((weight.name.rpartition("."), weight) for weight in network.trainable_params())
    return {f"{layer}.{OWN_NAMES.get(last, last)}": weight for (layer, _, last), weight in own}


def _started(task: Task):
    network = mindspore_resnet50.resnet50(mindspore)
    for name, weight in _named(network).items():
        weight.set_data(mindspore.Tensor(task.weights[name], mindspore.float32))
    return network.set_train()


def _inputs(task: Task) -> tuple:
    images = mindspore.Tensor(task.start["images"], mindspore.float32)
    return images, mindspore.Tensor(task.start["labels"], mindspore.int32)


def _done(task: Task, setting: Setting) -> dict:
    network, inputs, loss = _started(task), _inputs(task), mindspore.nn.CrossEntropyLoss()
    weights = mindspore.ParameterTuple(network.trainable_params())
    gradients_of = mindspore.ops.GradOperation(get_by_list=True)
    gradients = gradients_of(mindspore.nn.WithLossCell(network, loss), weights)(*inputs)
    norms = {
        name: equivalence.norm_of([gradient.asnumpy()])
        for name, gradient in zip(_named(network), gradients, strict=True)
    }
    optimiser = mindspore_resnet50.optimiser(mindspore, network, setting.learning_rate, setting.weight_decay)
    step = mindspore_loop.stepper(mindspore, network, inputs, loss, optimiser)
    return equivalence.setting_done(setting, [float(step().asnumpy()) for _ in range(setting.steps)], norms)


if __name__ == "__main__":
    modes = {"layout": "NCHW", "execution": "graph", "scripts": {"resnet50_v1.5": mindspore_resnet50}}
    own = {"timed": mindspore_loop.TIMED, "dtypes": ("float32",)}
    equivalence.run(*("mindspore", mindspore.__version__, shapes, _done), **own, **modes)

"""The OneFlow workload as `evalsuite equivalence` asks for it: the same parts, from a start that is given."""

import equivalence
import oneflow_loop
import oneflow_resnet50
from equivalence import Setting, Task

ARGUMENTS = equivalence.arguments_of("resnet50_v1.5")
oneflow = oneflow_loop.started(ARGUMENTS)


def shapes(model: str) -> dict[str, tuple]:
    return {name: tuple(weight.shape) for name, weight in oneflow_resnet50.resnet50(oneflow).named_parameters()}


def _started(task: Task, dtype):
    network = oneflow_resnet50.resnet50(oneflow).to(dtype)
    with oneflow.no_grad():
        for name, weight in network.named_parameters():  # its names are the canonical ones
            weight.copy_(oneflow.tensor(task.weights[name], dtype=dtype))
    return network


def _done(task: Task, setting: Setting) -> dict:
    dtype = getattr(oneflow, setting.dtype)
    network, images = _started(task, dtype), oneflow.tensor(task.start["images"], dtype=dtype)
    loss_of = oneflow_resnet50.loss_of(oneflow, oneflow.tensor(task.start["labels"]))
    optimiser = oneflow_resnet50.optimiser(oneflow, network, setting.learning_rate, setting.weight_decay)
    loss_of(network(images)).backward()
    norms = {name: equivalence.norm_of([weight.grad.numpy()]) for name, weight in network.named_parameters()}
    step = oneflow_loop.stepper(oneflow, network, images, loss_of, optimiser, ARGUMENTS)
    return equivalence.setting_done(setting, [float(step().numpy()) for _ in range(setting.steps)], norms)


if __name__ == "__main__":
    modes = {"layout": "NCHW", "execution": "eager", "scripts": {"resnet50_v1.5": oneflow_resnet50}}
    equivalence.run(*("oneflow", oneflow.__version__, shapes, _done), timed=oneflow_loop.TIMED, **modes)

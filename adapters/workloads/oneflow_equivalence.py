"""The OneFlow workload as `evalsuite equivalence` asks for it: the same parts, from a start that is given."""

import equivalence
import oneflow_loop
import oneflow_resnet50
from equivalence import Answer, Setting, Task

ARGUMENTS = equivalence.arguments_of("resnet50_v1.5")
oneflow = oneflow_loop.started(ARGUMENTS)


def shapes(model: str) -> dict[str, tuple]:
    return {name: tuple(weight.shape) for name, weight in oneflow_resnet50.resnet50(oneflow).named_parameters()}


def answered(task: Task) -> Answer:
    return Answer(
        version=oneflow.__version__,
        script=oneflow_resnet50.__file__,
        settings=[_done(task, setting) for setting in equivalence.settings(task.model)],
        flops_per_item=_flops(task),
        timed=oneflow_loop.TIMED,
        modes={"layout": "NCHW", "execution": "eager"},
    )


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


def _flops(task: Task) -> int:
    found = []

    def counted(layer, _, output):
        found.append(2 * output[0].numel() * layer.weight[0].numel())

    network = _started(task, oneflow.float32)
    for layer in network.modules():
        if isinstance(layer, (oneflow.nn.Conv2d, oneflow.nn.Linear)):
            layer.register_forward_hook(counted)
    network(oneflow.tensor(task.start["images"], dtype=oneflow.float32))
    return sum(found)


if __name__ == "__main__":
    equivalence.run("oneflow", shapes, answered)

"""The PyTorch workloads as `evalsuite equivalence` asks for them: the same parts, from a start that is given."""

from dataclasses import replace

import bert
import cifar10
import equivalence
import face
import gpt2
import llama
import pytorch_bert
import pytorch_cifar10
import pytorch_face
import pytorch_gpt2
import pytorch_llama
import pytorch_loop
import pytorch_resnet50
import pytorch_wide_deep
import torch
import wide_deep
from equivalence import Answer, Setting, Task

CPU = torch.device("cpu")
SCRIPTS = {
    "resnet50_v1.5": pytorch_resnet50,
    "resnet50_cifar10": pytorch_cifar10,
    "mobilenetv2_cifar10": pytorch_cifar10,
    "bert_tiny": pytorch_bert,
    "gpt2_tiny": pytorch_gpt2,
    "llama_tiny": pytorch_llama,
    "wide_and_deep_tiny": pytorch_wide_deep,
    "face_tiny": pytorch_face,
}


def shapes(model: str) -> dict[str, tuple]:
    return {name: tuple(weight.shape) for name, weight in _named(_network(model)).items()}


def answered(task: Task) -> Answer:
    torch.set_num_threads(1)
    done = [_done(task, setting) for setting in equivalence.settings(task.model)]
    return Answer(
        version=torch.__version__,
        script=SCRIPTS[task.model].__file__,
        settings=done,
        flops_per_item=_flops(task),
        timed=cifar10.TIMED if equivalence.is_small(task.model) else pytorch_loop.TIMED,
        modes=equivalence.modes(task.model, "NCHW", "eager"),
    )


def _network(model: str):
    if equivalence.is_gpt2(model):
        return pytorch_gpt2.Gpt2(replace(gpt2.SIZES[model.removeprefix("gpt2_")], dropout=0.0))
    if equivalence.is_llama(model):
        return pytorch_llama.Llama(llama.SIZES[equivalence.size_of(model)])
    if equivalence.is_bert(model):
        return pytorch_bert.Bert(replace(bert.SIZES[model.removeprefix("bert_")], dropout=0.0))
    if equivalence.is_wide_deep(model):
        return pytorch_wide_deep.WideDeep(replace(wide_deep.SIZES[equivalence.size_of(model)], dropout=0.0))
    if equivalence.is_face(model):
        return pytorch_face.Face(face.SIZES[equivalence.size_of(model)])
    if model == "mobilenetv2_cifar10":
        return pytorch_cifar10.model(equivalence.small_name(model), dropout=0.0)
    return pytorch_cifar10.model("resnet50") if equivalence.is_small(model) else pytorch_resnet50.model()


def _named(network) -> dict[str, torch.nn.Parameter]:
    return {name: weight for name, weight in network.named_parameters() if weight.requires_grad}


def _started(task: Task, dtype: torch.dtype):
    network = _network(task.model).to(dtype)
    with torch.no_grad():
        for name, weight in _named(network).items():
            weight.copy_(torch.from_numpy(task.weights[name]))
    return network


def _inputs_and_loss(task: Task, dtype: torch.dtype):
    if equivalence.is_gpt2(task.model) or equivalence.is_llama(task.model):
        batch = equivalence.tokens_of(task)
        return pytorch_gpt2.inputs_of(batch, CPU), pytorch_gpt2.loss_of(batch, CPU)
    if equivalence.is_bert(task.model):
        batch = equivalence.batch_of(task)
        return pytorch_bert.inputs_of(batch, CPU), pytorch_bert.loss_of(batch, CPU)
    if equivalence.is_wide_deep(task.model):
        clicks = equivalence.clicks_of(task)
        return pytorch_wide_deep.inputs_of(clicks, CPU, dtype), pytorch_wide_deep.loss_of(clicks, CPU)
    images, labels = torch.from_numpy(task.start["images"]).to(dtype), torch.from_numpy(task.start["labels"])
    return [images], (pytorch_face if equivalence.is_face(task.model) else pytorch_resnet50).loss_of(labels)


def _done(task: Task, setting: Setting) -> dict:
    dtype = getattr(torch, setting.dtype)
    network = _started(task, dtype)
    inputs, loss_of = _inputs_and_loss(task, dtype)
    optimiser = _optimiser(task.model, network, setting)
    arguments = equivalence.arguments_of(task.model)
    loss_of(network(*inputs)).backward()
    norms = {name: float(weight.grad.double().norm()) for name, weight in _named(network).items()}
    step = pytorch_loop.stepper(network, inputs, loss_of, optimiser, CPU, arguments)
    return equivalence.setting_done(setting, [step().item() for _ in range(setting.steps)], norms)


def _optimiser(model: str, network, setting: Setting) -> torch.optim.Optimizer:
    if equivalence.is_wide_deep(model):
        return pytorch_wide_deep.optimiser(network, setting.learning_rate)
    of_images = pytorch_face if equivalence.is_face(model) else pytorch_resnet50
    made_by = pytorch_bert if equivalence.of_words(model) else of_images
    return made_by.optimiser(network, setting.learning_rate, setting.weight_decay)


def _flops(task: Task) -> int | None:
    """Two for each multiplication with a weight of a convolution or a dense layer, by the shapes of their outputs."""
    if equivalence.of_words(task.model):
        return None
    found = []

    def counted(layer, _, output):
        found.append(2 * output[0].numel() * layer.weight[0].numel())

    network = _started(task, torch.float32)
    for layer in network.modules():
        if isinstance(layer, (torch.nn.Conv2d, torch.nn.Linear)):
            layer.register_forward_hook(counted)
    inputs, _ = _inputs_and_loss(task, torch.float32)
    network(*inputs)
    return sum(found)


if __name__ == "__main__":
    equivalence.run("pytorch", shapes, answered)

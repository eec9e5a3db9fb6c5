"""The PyTorch workloads as `evalsuite equivalence` asks for them: the same parts, from a start that is given."""

import argparse
import os
import tempfile

import equivalence
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
from equivalence import Setting, Task
from torch import distributed, multiprocessing

CPU = torch.device("cpu")
torch.set_num_threads(1)
VARIANTS = {  # of Llama: processes, arguments
    "recompute": (1, {"recompute": True}),
    "accumulation 2": (1, {"accumulation": 2}),
    "DDP 2": (2, {}),
    "FSDP 2": (2, {"fsdp": 2}),
}
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


def _variants(task: Task, done: list[dict]) -> dict[str, str]:
    if equivalence.kind(task.model) != "llama":
        return {}
    with tempfile.TemporaryDirectory() as folder:
        found = {name: _variant(task, *variant, f"{folder}/{name}") for name, variant in VARIANTS.items()}
    return {"as_well": equivalence.proven_alike(done[0]["losses"], found)}


def _network(model: str):
    if (kind := equivalence.kind(model)) in equivalence.SIZED:
        return getattr(SCRIPTS[model], kind.title().replace("_", ""))(equivalence.size(model))
    if model == "mobilenetv2_cifar10":
        return pytorch_cifar10.model(model.removesuffix("_cifar10"), dropout=0.0)
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
    script = SCRIPTS[task.model]
    if not equivalence.of_images(task.model):
        batch, more = equivalence.batch_of(task), () if equivalence.of_words(task.model) else (dtype,)
        return script.inputs_of(batch, CPU, *more), script.loss_of(batch, CPU)
    images, labels = torch.from_numpy(task.start["images"]).to(dtype), torch.from_numpy(task.start["labels"])
    return [images], (pytorch_face if equivalence.kind(task.model) == "face" else pytorch_resnet50).loss_of(labels)


def _done(task: Task, setting: Setting) -> dict:
    dtype = getattr(torch, setting.dtype)
    network = _started(task, dtype)
    inputs, loss_of = _inputs_and_loss(task, dtype)
    optimiser = _optimiser(task.model, network, setting)
    arguments = equivalence.arguments_of(task.model)
    loss_of(network(*inputs)).backward()
    norms = {name: float(weight.grad.double().norm()) for name, weight in _named(network).items()}
    if equivalence.kind(task.model) == "llama":
        step = pytorch_llama.stepper(network, [equivalence.batch_of(task)], optimiser, CPU, arguments)
    else:
        step = pytorch_loop.stepper(network, inputs, loss_of, optimiser, CPU, arguments)
    return equivalence.setting_done(setting, [step().item() for _ in range(setting.steps)], norms)


def _variant(task: Task, processes: int, changes: dict, file: str) -> list[float]:
    """The losses of the same steps on the same batch, which the processes share."""
    multiprocessing.spawn(_trained, (task, processes, changes, file), processes)
    return torch.load(file).tolist()


def _trained(rank: int, task: Task, processes: int, changes: dict, file: str) -> None:
    distributed.init_process_group("gloo", f"file://{file}.join", rank=rank, world_size=processes)
    arguments = argparse.Namespace(**{**vars(equivalence.arguments_of(task.model)), **changes})
    network, setting = _started(task, torch.float64), equivalence.settings(task.model)[0]
    network.recompute = arguments.recompute
    model = pytorch_llama.laid(network, CPU, arguments, processes)
    batch = llama.parts(equivalence.batch_of(task), processes)[rank]
    optimiser = _optimiser(task.model, model, setting)
    step = pytorch_llama.stepper(model, llama.parts(batch, arguments.accumulation), optimiser, CPU, arguments)
    losses = torch.stack([step() for _ in range(setting.steps)])
    distributed.all_reduce(losses)
    if rank == 0:
        torch.save(losses / processes, file)
    os._exit(0)  # the end of a process group of gloo's waits for ever, once in a while


def _optimiser(model: str, network, setting: Setting) -> torch.optim.Optimizer:
    if equivalence.kind(model) == "wide_deep":
        return pytorch_wide_deep.optimiser(network, setting.learning_rate)
    of_images = pytorch_face if equivalence.kind(model) == "face" else pytorch_resnet50
    made_by = pytorch_bert if equivalence.of_words(model) else of_images
    return made_by.optimiser(network, setting.learning_rate, setting.weight_decay)


if __name__ == "__main__":
    modes = {"layout": "NCHW", "execution": "eager", "further": _variants}
    equivalence.run(*("pytorch", torch.__version__, shapes, _done), scripts=SCRIPTS, timed=pytorch_loop.TIMED, **modes)

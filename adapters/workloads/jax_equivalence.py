"""The JAX workloads as `evalsuite equivalence` asks for them: the same parts, from a start that is given."""

import functools
import multiprocessing
import socket
from concurrent import futures

import equivalence
import jax_llama
import jax_loop
import jax_resnet50
import llama
import numpy
from equivalence import Placed, Setting, Task, whole

jax = jax_loop.started(equivalence.arguments_of("resnet50_v1.5"))
jax.config.update("jax_enable_x64", True)


def shapes(model: str) -> dict[str, tuple]:
    return {name: weight.shape for name, weight in _named(_started(model)[0], model).items()}


def _variants(task: Task, done: list[dict]) -> dict[str, str]:
    if equivalence.kind(task.model) != "llama":
        return {}
    own = equivalence.settings(task.model)[0]
    variants = {"recompute": {"recompute": True}, "accumulation 2": {"accumulation": 2}}
    found = {name: _done(task, own, **changes)["losses"] for name, changes in variants.items()}
    found["DDP 2"] = _divided(task)
    return {"as_well": equivalence.proven_alike(done[0]["losses"], found)}


def _divided(task: Task) -> list[float]:
    """The losses of the same steps on the same batch, which two processes share."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with futures.ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        losses, _ = pool.map(_part, [task, task], [port, port], [0, 1])
    return losses


def _part(task: Task, port: int, rank: int) -> list[float]:
    jax.distributed.initialize(f"127.0.0.1:{port}", 2, rank)
    return _done(task, equivalence.settings(task.model)[0])["losses"]


def _started(model: str, dtype: str = "float32"):
    """(weights, what layers remember)"""
    if equivalence.kind(model) == "llama":
        return jax_llama.started(jax, llama.SIZES[equivalence.size_of(model)], dtype), {}
    return jax_resnet50.started(jax, dtype)


@functools.cache
def _loss_of(model: str, **changes: bool):
    """The loss, and its gradients, compiled once for each type."""
    if equivalence.kind(model) == "llama":
        loss = jax_llama.loss_of(jax, llama.SIZES[equivalence.size_of(model)], **changes)
    else:
        loss = jax_resnet50.loss_of(jax)
    return loss, jax.jit(jax.grad(loss, has_aux=True))


def _named(weights, model: str) -> dict[str, Placed]:
    """Kernels of images lie as (height, width, in, out) here and their dense weights as (in, out)."""
    if equivalence.kind(model) == "llama":
        return {name: whole(weight, weight.shape) for name, weight in weights.items()}
    return {name: _placed(weight) for name, weight in weights.items()}


def _placed(weight) -> Placed:
    shape = weight.shape
    if len(shape) == 4:
        return Placed((shape[3], shape[2], *shape[:2]), (weight,), lambda array: [array.transpose(2, 3, 1, 0)])
    return Placed(shape[::-1], (weight,), lambda array: [array.T]) if len(shape) == 2 else whole(weight, shape)


def _inputs(task: Task, dtype: str):
    if equivalence.kind(task.model) == "llama":
        own = llama.parts(equivalence.batch_of(task), jax.process_count())[jax.process_index()]
        return jax_llama.inputs_of(jax, own)
    images = numpy.ascontiguousarray(task.start["images"].transpose(0, 2, 3, 1))
    return jax.numpy.asarray(images, dtype), jax.numpy.asarray(task.start["labels"])


def _done(task: Task, setting: Setting, accumulation: int = 1, **changes: bool) -> dict:
    weights, memory = _started(task.model, setting.dtype)
    for name, weight in _named(weights, task.model).items():
        weights[name] = jax.numpy.asarray(weight.laid(task.weights[name])[0], setting.dtype)
    inputs, (loss_of, gradients_of) = _inputs(task, setting.dtype), _loss_of(task.model, **changes)
    gradients, _ = gradients_of(weights, memory, inputs)
    norms = {name: equivalence.norm_of([gradient]) for name, gradient in gradients.items()}
    rates = setting.learning_rate, setting.weight_decay
    of_llama = equivalence.kind(task.model) == "llama"
    updated = jax_llama.adamw(jax, *rates) if of_llama else jax_resnet50.sgd(*rates)
    moments = (jax_llama if of_llama else jax_resnet50).moments_of(jax, weights)
    step = jax_llama.stepper(jax, loss_of, updated, inputs, accumulation)
    state, losses = (weights, memory, moments), []
    for _ in range(setting.steps):
        state, loss = step(state)
        losses.append(float(loss))
    return equivalence.setting_done(setting, losses, norms)


if __name__ == "__main__":
    modes = {"layout": "NHWC", "execution": "graph, XLA", "further": _variants}
    scripts = {"resnet50_v1.5": jax_resnet50, "llama_tiny": jax_llama}
    equivalence.run(*("jax", jax.__version__, shapes, _done), scripts=scripts, timed=jax_loop.TIMED, **modes)

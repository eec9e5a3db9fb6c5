"""The JAX workloads as `evalsuite equivalence` asks for them: the same parts, from a start that is given."""

import functools

import equivalence
import jax_llama
import jax_loop
import jax_resnet50
import llama
import numpy
from equivalence import Answer, Placed, Setting, Task, whole

jax = jax_loop.started(equivalence.arguments_of("resnet50_v1.5"))
jax.config.update("jax_enable_x64", True)


def shapes(model: str) -> dict[str, tuple]:
    return {name: weight.shape for name, weight in _named(_started(model)[0], model).items()}


def answered(task: Task) -> Answer:
    return Answer(
        version=jax.__version__,
        script=(jax_llama if equivalence.is_llama(task.model) else jax_resnet50).__file__,
        settings=[_done(task, setting) for setting in equivalence.settings(task.model)],
        flops_per_item=None if equivalence.is_llama(task.model) else _flops(task),
        timed=jax_loop.TIMED,
        modes=equivalence.modes(task.model, "NHWC", "graph, XLA"),
    )


def _started(model: str, dtype: str = "float32"):
    """(weights, what layers remember)"""
    if equivalence.is_llama(model):
        return jax_llama.started(jax, llama.SIZES[equivalence.size_of(model)], dtype), {}
    return jax_resnet50.started(jax, dtype)


@functools.cache
def _loss_of(model: str):
    """The loss, and its gradients, compiled once for each type."""
    of_llama = equivalence.is_llama(model)
    loss = jax_llama.loss_of(jax, llama.SIZES[equivalence.size_of(model)]) if of_llama else jax_resnet50.loss_of(jax)
    return loss, jax.jit(jax.grad(loss, has_aux=True))


def _named(weights, model: str) -> dict[str, Placed]:
    """Kernels of images lie as (height, width, in, out) here and their dense weights as (in, out)."""
    if equivalence.is_llama(model):
        return {name: whole(weight, weight.shape) for name, weight in weights.items()}
    return {name: _placed(weight) for name, weight in weights.items()}


def _placed(weight) -> Placed:
    shape = weight.shape
    if len(shape) == 4:
        return Placed((shape[3], shape[2], *shape[:2]), (weight,), lambda array: [array.transpose(2, 3, 1, 0)])
    return Placed(shape[::-1], (weight,), lambda array: [array.T]) if len(shape) == 2 else whole(weight, shape)


def _inputs(task: Task, dtype: str):
    if equivalence.is_llama(task.model):
        return jax_llama.inputs_of(jax, equivalence.tokens_of(task))
    images = numpy.ascontiguousarray(task.start["images"].transpose(0, 2, 3, 1))
    return jax.numpy.asarray(images, dtype), jax.numpy.asarray(task.start["labels"])


def _done(task: Task, setting: Setting) -> dict:
    weights, memory = _started(task.model, setting.dtype)
    for name, weight in _named(weights, task.model).items():
        weights[name] = jax.numpy.asarray(weight.laid(task.weights[name])[0], setting.dtype)
    inputs, (loss_of, gradients_of) = _inputs(task, setting.dtype), _loss_of(task.model)
    gradients, _ = gradients_of(weights, memory, inputs)
    norms = {name: equivalence.norm_of([gradient]) for name, gradient in gradients.items()}
    rates = setting.learning_rate, setting.weight_decay
    of_llama = equivalence.is_llama(task.model)
    updated = jax_llama.adamw(jax, *rates) if of_llama else jax_resnet50.sgd(*rates)
    moments = (jax_llama if of_llama else jax_resnet50).moments_of(jax, weights)
    step = jax_loop.stepper(jax, loss_of, updated, inputs)
    state, losses = (weights, memory, moments), []
    for _ in range(setting.steps):
        state, loss = step(state)
        losses.append(float(loss))
    return equivalence.setting_done(setting, losses, norms)


def _flops(task: Task) -> int:
    weights, memory = jax_resnet50.started(jax)
    program = jax.make_jaxpr(jax_resnet50.loss_of(jax))(weights, memory, _inputs(task, "float32"))
    return sum(_multiplied(each) for each in _operations(program.jaxpr)) // equivalence.IMAGES


def _operations(program):
    for each in program.eqns:
        inner = [value for value in each.params.values() if hasattr(value, "jaxpr") or hasattr(value, "eqns")]
        for value in inner:
            yield from _operations(getattr(value, "jaxpr", value))
        yield each


def _multiplied(operation) -> int:
    out, operands = operation.outvars[0].aval, [each.aval for each in operation.invars]
    if operation.primitive.name == "conv_general_dilated":
        return 2 * int(numpy.prod(out.shape)) * int(numpy.prod(operands[1].shape[:3]))
    if operation.primitive.name == "dot_general":
        return 2 * int(numpy.prod(out.shape)) * int(operands[1].shape[0])
    return 0


if __name__ == "__main__":
    equivalence.run("jax", shapes, answered)

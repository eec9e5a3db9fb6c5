"""The JAX workload as `evalsuite equivalence` asks for it: the same parts, from a start that is given."""

import equivalence
import jax_loop
import jax_resnet50
import numpy
from equivalence import Answer, Placed, Setting, Task, whole

jax = jax_loop.started(equivalence.arguments_of("resnet50_v1.5"))
jax.config.update("jax_enable_x64", True)
gradients_of = jax.jit(jax.grad(jax_resnet50.loss_of(jax), has_aux=True))  # compiled once for each type


def shapes(model: str) -> dict[str, tuple]:
    return {name: weight.shape for name, weight in _named(jax_resnet50.started(jax)[0]).items()}


def answered(task: Task) -> Answer:
    return Answer(
        version=jax.__version__,
        script=jax_resnet50.__file__,
        settings=[_done(task, setting) for setting in equivalence.settings(task.model)],
        flops_per_item=_flops(task),
        timed=jax_loop.TIMED,
        modes={"layout": "NHWC", "execution": "graph, XLA"},
    )


def _named(weights) -> dict[str, Placed]:
    """Kernels lie as (height, width, in, out) here and dense weights as (in, out)."""
    return {name: _placed(weight) for name, weight in weights.items()}


def _placed(weight) -> Placed:
    shape = weight.shape
    if len(shape) == 4:
        return Placed((shape[3], shape[2], *shape[:2]), (weight,), lambda array: [array.transpose(2, 3, 1, 0)])
    return Placed(shape[::-1], (weight,), lambda array: [array.T]) if len(shape) == 2 else whole(weight, shape)


def _inputs(task: Task, dtype: str):
    images = numpy.ascontiguousarray(task.start["images"].transpose(0, 2, 3, 1))
    return jax.numpy.asarray(images, dtype), jax.numpy.asarray(task.start["labels"])


def _done(task: Task, setting: Setting) -> dict:
    weights, memory = jax_resnet50.started(jax, setting.dtype)
    for name, weight in _named(weights).items():
        weights[name] = jax.numpy.asarray(weight.laid(task.weights[name])[0], setting.dtype)
    inputs, loss_of = _inputs(task, setting.dtype), jax_resnet50.loss_of(jax)
    gradients, _ = gradients_of(weights, memory, inputs)
    norms = {name: equivalence.norm_of([gradient]) for name, gradient in gradients.items()}
    updated = jax_resnet50.sgd(setting.learning_rate, setting.weight_decay)
    step = jax_loop.stepper(jax, loss_of, updated, inputs)
    state, losses = (weights, memory, jax_resnet50.moments_of(jax, weights)), []
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

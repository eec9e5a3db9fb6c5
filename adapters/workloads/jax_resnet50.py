"""ResNet-50 v1.5 in JAX: convolutions of jax.lax, one program for the whole step, on one device.

Prints the line of clu's LoggingWriter, as Flax's ImageNet example does, every step.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import common
import jax_loop

EPSILON, KEPT = 1e-5, 0.9  # of batch normalisation: beside the variance, and of the running statistics at each step
BLOCKS = (3, 4, 6, 3)


@dataclass(frozen=True)
class Convolution:
    """One convolution with the batch norm behind it, called as torchvision's."""

    name: str
    norm: str
    inside: int
    out: int
    kernel: int
    stride: int = 1


def main() -> None:
    arguments = common.arguments()
    jax = jax_loop.started(arguments)
    weights, memory = started(jax)
    common.announce_case("jax", jax.__version__, arguments, 1)
    common.announce_model("jax.lax convolutions", *_what_was_built(weights), "NHWC")
    step = jax_loop.stepper(jax, loss_of(jax), sgd(), _batch(jax, arguments))
    jax_loop.train(jax, step, (weights, memory, moments_of(jax, weights)), arguments)


def sgd(learning_rate: float = common.LEARNING_RATE, weight_decay: float = common.WEIGHT_DECAY):
    return jax_loop.sgd(learning_rate, weight_decay)


def convolutions() -> Iterator[Convolution]:
    """Of arXiv:1512.03385 table 1, the stride on the 3×3 convolution, in the order of a bottleneck."""
    yield Convolution("conv1", "bn1", 3, 64, 7, 2)
    inside = 64
    for stage, blocks in enumerate(BLOCKS):
        narrow = 64 * 2**stage
        for block in range(blocks):
            name, stride = f"layer{stage + 1}.{block}", 2 if block == 0 and stage > 0 else 1
            if block == 0:
                widening = f"{name}.downsample.0", f"{name}.downsample.1"
                yield Convolution(*widening, inside, 4 * narrow, 1, stride)
            yield Convolution(f"{name}.conv1", f"{name}.bn1", inside, narrow, 1)
            yield Convolution(f"{name}.conv2", f"{name}.bn2", narrow, narrow, 3, stride)
            yield Convolution(f"{name}.conv3", f"{name}.bn3", narrow, 4 * narrow, 1)
            inside = 4 * narrow


def started(jax, dtype: str = "float32"):
    """(weights, running statistics), by name; kernels lie as (height, width, in, out)."""
    jnp, chance = jax.numpy, jax.random.key(common.SEED)
    weights, memory = {}, {}
    for number, each in enumerate(convolutions()):
        shape = (each.kernel, each.kernel, each.inside, each.out)
        deviation = (2 / (each.kernel**2 * each.out)) ** 0.5
        noise = jax.random.normal(jax.random.fold_in(chance, number), shape, dtype)
        weights[f"{each.name}.weight"] = deviation * noise
        weights |= {f"{each.norm}.weight": jnp.ones(each.out, dtype), f"{each.norm}.bias": jnp.zeros(each.out, dtype)}
        memory |= {f"{each.norm}.mean": jnp.zeros(each.out, dtype), f"{each.norm}.var": jnp.ones(each.out, dtype)}
    width = each.out
    weights["fc.weight"] = jax.random.normal(chance, (width, common.CLASSES), dtype) * 0.01
    weights["fc.bias"] = jnp.zeros(common.CLASSES, dtype)
    return weights, memory


def moments_of(jax, weights):
    return jax.tree.map(jax.numpy.zeros_like, weights)


def loss_of(jax):
    """weights, running statistics, (images, labels) → (mean loss, statistics after it)"""

    def loss(weights, memory, inputs):
        images, labels = inputs
        logits, memory = _forward(jax, weights, memory, images)
        chosen = jax.numpy.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1)
        return -chosen.mean(), memory

    return loss


def _forward(jax, weights, memory, images):
    """(logits, running statistics after it)"""
    jnp, lax, relu = jax.numpy, jax.lax, jax.nn.relu
    known, after = {each.name: each for each in convolutions()}, {}

    def normalised(x, name: str):
        each = known[name]
        side = each.kernel // 2
        kernel, around = weights[f"{name}.weight"], [(side, side)] * 2
        x = lax.conv_general_dilated(x, kernel, (each.stride,) * 2, around, dimension_numbers=("NHWC", "HWIO", "NHWC"))
        mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
        seen = x.size // x.shape[-1]
        for kind, value in (("mean", mean), ("var", variance * (seen / (seen - 1)))):
            known_before = memory[f"{each.norm}.{kind}"]
            after[f"{each.norm}.{kind}"] = KEPT * known_before + (1 - KEPT) * lax.stop_gradient(value)
        scale = weights[f"{each.norm}.weight"] * lax.rsqrt(variance + EPSILON)
        return (x - mean) * scale + weights[f"{each.norm}.bias"]

    x = relu(normalised(images, "conv1"))
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), ((0, 0), (1, 1), (1, 1), (0, 0)))
    for stage, blocks in enumerate(BLOCKS):
        for block in range(blocks):
            name = f"layer{stage + 1}.{block}"
            shortcut = normalised(x, f"{name}.downsample.0") if block == 0 else x
            y = relu(normalised(x, f"{name}.conv1"))
            y = relu(normalised(y, f"{name}.conv2"))
            x = relu(normalised(y, f"{name}.conv3") + shortcut)
    return x.mean((1, 2)) @ weights["fc.weight"] + weights["fc.bias"], after


def _batch(jax, arguments):
    chance = jax.random.key(common.SEED)
    shape = (arguments.batch_size, arguments.image_size, arguments.image_size, 3)
    return jax.random.normal(chance, shape), jax.random.randint(chance, shape[:1], 0, common.CLASSES)


def _what_was_built(weights) -> tuple[int, set[int]]:
    """Trainable parameters, and the kernel sides of the strided convolutions on the bottlenecks' main path."""
    main_path = (each for each in convolutions() if each.name.startswith("layer") and "downsample" not in each.name)
    return sum(weight.size for weight in weights.values()), {each.kernel for each in main_path if each.stride == 2}


if __name__ == "__main__":
    main()

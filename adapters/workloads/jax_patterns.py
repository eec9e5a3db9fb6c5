"""Patterns in noise (`patterns.py`) in JAX: one compiled program a step."""

import jax_loop
import numpy
import patterns


def trainer(jax):
    def scores(weights, images):
        sides = ("NHWC", "HWIO", "NHWC")
        strides = (patterns.BLOCK, patterns.BLOCK)
        features = jax.lax.conv_general_dilated(images, weights["kernel"], strides, "VALID", dimension_numbers=sides)
        return jax.nn.relu(features).reshape(len(images), -1) @ weights["linear"]

    def loss_of(weights, images, labels):
        chances = jax.nn.log_softmax(scores(weights, images))
        return -jax.numpy.take_along_axis(chances, labels[:, None], axis=1).mean()

    updated = jax_loop.sgd(patterns.LEARNING_RATE, 0.0)

    @jax.jit
    def advance(state, images, labels):
        weights, moments = state
        loss, gradients = jax.value_and_grad(loss_of)(weights, images, labels)
        return updated(weights, gradients, moments), loss

    classes_of = jax.jit(lambda weights, images: scores(weights, images).argmax(1))

    class Trainer:
        def __init__(self, weights: patterns.Weights) -> None:
            held = {name: jax.numpy.asarray(each) for name, each in weights.items()}
            self._state = (held, {name: jax.numpy.zeros_like(each) for name, each in held.items()})

        def step(self, images: numpy.ndarray, labels: numpy.ndarray) -> float:
            self._state, loss = advance(self._state, images, labels)
            return float(loss)

        def classes(self, images: numpy.ndarray) -> numpy.ndarray:
            return numpy.asarray(classes_of(self._state[0], images))

        def state(self) -> dict[str, numpy.ndarray]:
            weights, moments = self._state
            named = {**weights, **{f"{name}_moment": each for name, each in moments.items()}}
            return {name: numpy.asarray(each) for name, each in named.items()}

        def restore(self, state: patterns.Weights) -> None:
            weights, moments = self._state
            self._state = (
                {name: jax.numpy.asarray(state[name]) for name in weights},
                {name: jax.numpy.asarray(state[f"{name}_moment"]) for name in moments},
            )

    return Trainer


def main() -> None:
    known = patterns.arguments()
    jax = jax_loop.started(known)
    patterns.train("jax", jax.__version__, known, trainer(jax))


if __name__ == "__main__":
    main()

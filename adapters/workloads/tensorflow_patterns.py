"""Patterns in noise (`patterns.py`) in TensorFlow: one graph a step, Keras's SGD."""

import common
import numpy
import patterns


def main() -> None:
    known = patterns.arguments()
    common.bind_to_own_cores()
    common.limit_threads(known.threads)
    import tensorflow as tf  # its pools are sized on import

    tf.config.threading.set_intra_op_parallelism_threads(known.threads)
    patterns.train("tensorflow", tf.__version__, known, trainer(tf))


def trainer(tf):
    class Trainer:
        def __init__(self, weights: patterns.Weights) -> None:
            self._weights = {name: tf.Variable(each) for name, each in weights.items()}
            self._optimiser = tf.keras.optimizers.SGD(patterns.LEARNING_RATE, momentum=common.MOMENTUM)
            self._optimiser.build([*self._weights.values()])
            self._advance, self._classes = tf.function(self._trained), tf.function(self._chosen)

        def _scores(self, images):
            features = tf.nn.relu(tf.nn.conv2d(images, self._weights["kernel"], patterns.BLOCK, "VALID"))
            return tf.reshape(features, (len(images), -1)) @ self._weights["linear"]

        def _trained(self, images, labels):
            with tf.GradientTape() as tape:
                each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, self._scores(images))
                loss = tf.reduce_mean(each)
            held = [*self._weights.values()]
            self._optimiser.apply_gradients(zip(tape.gradient(loss, held), held, strict=True))
            return loss

        def _chosen(self, images):
            return tf.argmax(self._scores(images), axis=1)

        def step(self, images: numpy.ndarray, labels: numpy.ndarray) -> float:
            return float(self._advance(tf.constant(images), tf.constant(labels)))

        def classes(self, images: numpy.ndarray) -> numpy.ndarray:
            return self._classes(tf.constant(images)).numpy()

        def _held(self) -> dict[str, tf.Variable]:
            moments = zip(self._weights, self._optimiser.momentums, strict=True)
            return {**self._weights, **{f"{name}_moment": each for name, each in moments}}

        def state(self) -> dict[str, numpy.ndarray]:
            return {name: each.numpy() for name, each in self._held().items()}

        def restore(self, state: patterns.Weights) -> None:
            for name, each in self._held().items():
                each.assign(state[name])

    return Trainer


if __name__ == "__main__":
    main()

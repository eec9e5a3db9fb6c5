"""Wide & Deep in TensorFlow: keras Embedding, Adam over all rows, MultiWorkerMirroredStrategy, a process per device.

Prints the TimeHistory line of tensorflow/models official/utils/misc/keras_utils.py through absl, in every
process, every step; its rate counts the whole job.
"""

import common
import tensorflow_loop
import wide_deep


def main() -> None:
    arguments, place = wide_deep.arguments(), common.place()
    job = tensorflow_loop.started(arguments, place)
    size, batch = wide_deep.SIZES[arguments.size], wide_deep.batch(arguments, place.rank)
    inputs = inputs_of(job.tf, batch, "float32")
    with job.strategy.scope():
        model = wide_deep_model(job.tf, size)
        model(*inputs)  # makes the variables
        optimiser = tensorflow_loop.with_scaling(job, adam(job.tf, arguments), arguments)
    if place.rank == 0:
        wide_deep.announce_case("tensorflow", job.tf.__version__, arguments, place.world_size)
        parameters = tensorflow_loop.trainable(job, model)
        wide_deep.announce_model(size, "tf.keras layers", parameters, "tf.keras.optimizers.Adam")
    step = tensorflow_loop.stepper(job, model, inputs, loss_of_batch(job, batch), optimiser, arguments)
    tensorflow_loop.train(job, step, arguments)


def inputs_of(tf, batch: wide_deep.Batch, dtype: str) -> tuple:
    return tf.constant(batch.numbers, dtype), tf.constant(batch.wide), tf.constant(batch.deep)


def adam(tf, arguments, learning_rate: float = wide_deep.LEARNING_RATE):
    """Adam with epsilon beside the corrected root of the second moment, as in the other frameworks.

    Keras's own adds it before the correction, where it counts 1/√(1 − β₂ᵗ) times as much: 32 times at step 1.
    """

    class Adam(tf.keras.optimizers.Adam):
        def update_step(self, gradient, variable):
            rate, step, first, second = (
                tf.cast(each, variable.dtype)
                for each in (self.learning_rate, self.iterations + 1, self.beta_1, self.beta_2)
            )
            place = self._index_dict[self._var_key(variable)]
            mean, square = self._momentums[place], self._velocities[place]
            mean.assign_add((gradient - mean) * (1 - first))
            square.assign_add((tf.square(gradient) - square) * (1 - second))
            root = tf.sqrt(square / (1 - tf.pow(second, step))) + self.epsilon
            variable.assign_sub(rate * (mean / (1 - tf.pow(first, step))) / root)

    return Adam(learning_rate, epsilon=wide_deep.ADAM_EPSILON, jit_compile=arguments.compile)


def loss_of_batch(job, batch: wide_deep.Batch):
    """The mean over samples, as this process's share of the whole job's."""
    tf, clicked = job.tf, job.tf.constant(batch.clicked)

    def loss_of(odds):
        odds = tensorflow_loop.at_least_float32(tf, odds)
        losses = tf.nn.sigmoid_cross_entropy_with_logits(tf.cast(clicked, odds.dtype), odds)
        return tf.reduce_mean(losses) / job.place.world_size

    return loss_of


def wide_deep_model(tf, size: wide_deep.Size):
    layers = tf.keras.layers

    def table(width: int):
        start = tf.keras.initializers.RandomNormal(stddev=wide_deep.DEVIATION)
        return layers.Embedding(size.vocabulary, width, embeddings_initializer=start)

    class WideDeep(tf.keras.Model):
        """The log-odds of a click, one number for each sample."""

        def __init__(self) -> None:
            super().__init__()
            self.wide, self.deep = table(1), table(wide_deep.EMBEDDING)
            self.hidden = [layers.Dense(size.hidden, "relu") for _ in range(size.layers)]
            self.dropout, self.score = layers.Dropout(size.dropout), layers.Dense(1)

        def call(self, numbers, wide, deep, training=None):
            rows = tf.reshape(self.deep(deep), (-1, wide_deep.DEEP_FIELDS * wide_deep.EMBEDDING))
            x = tf.concat([rows, tf.cast(numbers, rows.dtype)], 1)
            for layer in self.hidden:
                x = self.dropout(layer(x), training=training)
            return tf.squeeze(tf.reduce_sum(self.wide(wide), 1) + self.score(x), 1)

    return WideDeep()


if __name__ == "__main__":
    main()

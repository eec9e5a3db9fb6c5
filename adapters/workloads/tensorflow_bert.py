"""BERT pre-training in TensorFlow: keras MultiHeadAttention, MultiWorkerMirroredStrategy, one process per device.

Prints the TimeHistory line of tensorflow/models official/utils/misc/keras_utils.py through absl, in every
process, every step; its rate counts the whole job. The optimiser is tf.keras.optimizers.AdamW with
epsilon where the paper has it.
"""

import bert
import common
import tensorflow_loop


def main() -> None:
    arguments, place = bert.arguments(), common.place()
    job = tensorflow_loop.started(arguments, place)
    size, batch = bert.SIZES[arguments.size], bert.batch(arguments, place.rank)
    inputs = inputs_of(job.tf, batch)
    with job.strategy.scope():
        model = bert_model(job.tf, size)
        model(*inputs)  # makes the variables
        optimiser = tensorflow_loop.with_scaling(job, optimiser_of(job.tf, arguments), arguments)
    if place.rank == 0:
        bert.announce_case("tensorflow", job.tf.__version__, arguments, place.world_size)
        parameters = tensorflow_loop.trainable(job, model)
        bert.announce_model(size, "tf.keras.layers.MultiHeadAttention", parameters, "tf.keras.optimizers.AdamW")
    loss_of = loss_of_batch(job, batch)
    step = tensorflow_loop.stepper(job, model, inputs, loss_of, optimiser, arguments)
    tensorflow_loop.train(job, step, arguments)


def inputs_of(tf, batch: bert.Batch) -> tuple:
    return tuple(tf.constant(rows) for rows in (batch.words, batch.segments, batch.masked))


def optimiser_of(tf, arguments, learning_rate: float = bert.LEARNING_RATE, weight_decay: float = bert.WEIGHT_DECAY):
    """AdamW with epsilon beside the corrected root of the second moment, as in the other frameworks.

    Keras's own adds it before the correction, where it counts 1/√(1 − β₂ᵗ) times as much: 32 times at step 1.
    """

    class AdamW(tf.keras.optimizers.AdamW):
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

    return AdamW(
        learning_rate,
        weight_decay=weight_decay,
        epsilon=bert.ADAM_EPSILON,
        jit_compile=arguments.compile,
    )


def loss_of_batch(job, batch: bert.Batch):
    """The mean over masked words plus the mean over sequences, as this process's share of the whole job's."""
    tf = job.tf
    cross_entropy = tf.nn.sparse_softmax_cross_entropy_with_logits
    hidden_words, follows = tf.constant(batch.hidden_words), tf.constant(batch.follows)

    def loss_of(output):
        words, next_sentence = (tensorflow_loop.at_least_float32(tf, scores) for scores in output)
        masked = tf.reduce_mean(cross_entropy(hidden_words, words))
        return (masked + tf.reduce_mean(cross_entropy(follows, next_sentence))) / job.place.world_size

    return loss_of


def bert_model(tf, size: bert.Size):
    layers = tf.keras.layers

    def matrix():
        return tf.keras.initializers.TruncatedNormal(stddev=bert.DEVIATION)

    def dense(width: int, activation=None):
        return layers.Dense(width, activation, kernel_initializer=matrix())

    def embedding(rows: int):
        return layers.Embedding(rows, size.hidden, embeddings_initializer=matrix())

    def norm():
        return layers.LayerNormalization(epsilon=bert.LAYER_NORM_EPSILON)

    class EncoderLayer(layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.attention = layers.MultiHeadAttention(
                size.heads, size.hidden // size.heads, dropout=size.dropout, kernel_initializer=matrix()
            )
            self.widen, self.narrow = dense(size.feed_forward, tf.nn.gelu), dense(size.hidden)
            self.norms, self.dropout = [norm(), norm()], layers.Dropout(size.dropout)

        def call(self, x, training=None):
            attended = self.attention(x, x, training=training)
            x = self.norms[0](x + self.dropout(attended, training=training))
            return self.norms[1](x + self.dropout(self.narrow(self.widen(x)), training=training))

    class Bert(tf.keras.Model):
        """Scores of the masked words and of the next sentence."""

        def __init__(self) -> None:
            super().__init__()
            self.words, self.positions = embedding(bert.WORDS), embedding(bert.POSITIONS)
            self.segments = embedding(bert.SEGMENTS)
            self.norm, self.dropout = norm(), layers.Dropout(size.dropout)
            self.encoder = [EncoderLayer() for _ in range(size.layers)]
            self.pooler = dense(size.hidden, "tanh")
            self.transform, self.transform_norm = dense(size.hidden, tf.nn.gelu), norm()
            self.bias = self.add_weight("bias", (bert.WORDS,), initializer="zeros")
            self.next_sentence = dense(2)

        def call(self, words, segments, masked, training=None):
            places = tf.range(tf.shape(words)[1])
            x = self.norm(self.words(words) + self.positions(places) + self.segments(segments))
            x = self.dropout(x, training=training)
            for layer in self.encoder:
                x = layer(x, training=training)
            at_masks = self.transform_norm(self.transform(tf.gather(x, masked, batch_dims=1)))
            table = tf.cast(self.words.embeddings, at_masks.dtype)
            scores = tf.einsum("bmh,vh->bmv", at_masks, table) + tf.cast(self.bias, at_masks.dtype)
            return scores, self.next_sentence(self.pooler(x[:, 0]))

    return Bert()


if __name__ == "__main__":
    main()

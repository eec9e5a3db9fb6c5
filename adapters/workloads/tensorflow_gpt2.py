"""GPT-2 in TensorFlow: keras MultiHeadAttention, MultiWorkerMirroredStrategy, one process per device.

Prints the TimeHistory line of tensorflow/models official/utils/misc/keras_utils.py through absl, in every
process, every step; its rate counts the whole job. The optimiser is the AdamW of `tensorflow_bert.py`.
"""

import common
import gpt2
import tensorflow_bert
import tensorflow_loop


def main() -> None:
    arguments, place = gpt2.arguments(), common.place()
    job = tensorflow_loop.started(arguments, place)
    size, batch = gpt2.SIZES[arguments.size], gpt2.batch(arguments, place.rank)
    inputs = inputs_of(job.tf, batch)
    with job.strategy.scope():
        model = gpt2_model(job.tf, size)
        model(*inputs)  # makes the variables
        optimiser = tensorflow_bert.optimiser_of(job.tf, arguments)
        optimiser = tensorflow_loop.with_scaling(job, optimiser, arguments)
    if place.rank == 0:
        gpt2.announce_case("tensorflow", job.tf.__version__, arguments, place.world_size)
        parameters = tensorflow_loop.trainable(job, model)
        gpt2.announce_model(size, "tf.keras.layers.MultiHeadAttention", parameters, "tf.keras.optimizers.AdamW")
    step = tensorflow_loop.stepper(job, model, inputs, loss_of_batch(job, batch), optimiser, arguments)
    tensorflow_loop.train(job, step, arguments)


def inputs_of(tf, batch: gpt2.Batch) -> tuple:
    return (tf.constant(batch.tokens),)


def loss_of_batch(job, batch: gpt2.Batch):
    """The mean over all tokens, as this process's share of the whole job's."""
    tf, following = job.tf, job.tf.constant(batch.following)

    def loss_of(scores):
        scores = tensorflow_loop.at_least_float32(tf, scores)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(following, scores)
        return tf.reduce_mean(losses) / job.place.world_size

    return loss_of


def gpt2_model(tf, size: gpt2.Size):
    layers = tf.keras.layers

    def matrix():
        return tf.keras.initializers.RandomNormal(stddev=gpt2.DEVIATION)

    def embedding(rows: int):
        return layers.Embedding(rows, size.hidden, embeddings_initializer=matrix())

    def norm():
        return layers.LayerNormalization(epsilon=gpt2.LAYER_NORM_EPSILON)

    def gelu(x):
        return tf.nn.gelu(x, approximate=True)

    class DecoderLayer(layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.attention = layers.MultiHeadAttention(
                size.heads, size.hidden // size.heads, dropout=size.dropout, kernel_initializer=matrix()
            )
            self.widen = layers.Dense(4 * size.hidden, gelu, kernel_initializer=matrix())
            self.narrow = layers.Dense(size.hidden, kernel_initializer=matrix())
            self.norms, self.dropout = [norm(), norm()], layers.Dropout(size.dropout)

        def call(self, x, training=None):
            before = self.norms[0](x)
            attended = self.attention(before, before, use_causal_mask=True, training=training)
            x = x + self.dropout(attended, training=training)
            return x + self.dropout(self.narrow(self.widen(self.norms[1](x))), training=training)

    class Gpt2(tf.keras.Model):
        """Scores of the next token, behind each token of each sequence."""

        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.positions = embedding(gpt2.TOKENS), embedding(gpt2.POSITIONS)
            self.dropout, self.norm = layers.Dropout(size.dropout), norm()
            self.decoder = [DecoderLayer() for _ in range(size.layers)]

        def call(self, tokens, training=None):
            x = self.tokens(tokens) + self.positions(tf.range(tf.shape(tokens)[1]))
            x = self.dropout(x, training=training)
            for layer in self.decoder:
                x = layer(x, training=training)
            x = self.norm(x)
            return tf.einsum("bth,vh->btv", x, tf.cast(self.tokens.embeddings, x.dtype))

    return Gpt2()


if __name__ == "__main__":
    main()

"""BERT pre-training in MXNet: Gluon blocks around MXNet's own self-attention operators, KVStore dist_sync.

Prints through mx.callback.Speedometer itself, in every process, every step; its rate counts this process only.
The optimiser is AdamW around MXNet's own operator; each worker applies it to the sum of the gradients that the servers
hand back. With AMP the self-attention operators stay in float32.
"""

import bert
import common
import mxnet_adamw
import mxnet_loop


def main() -> None:
    arguments, place = bert.arguments(), common.place()
    with mxnet_loop.job(arguments, place) as job:
        _train(job, arguments)


def _train(job, arguments) -> None:
    mx, place, size = job.mx, job.place, bert.SIZES[arguments.size]
    batch = bert.batch(arguments, place.rank)
    network = bert_model(mx, size, mixed=job.amp is not None)
    network.initialize(mx.init.Normal(bert.DEVIATION), ctx=job.context)
    network.hybridize(static_alloc=True, static_shape=True)
    inputs = inputs_of(job, batch)
    mxnet_loop.prepare(job, network, inputs)
    if place.rank == 0:
        bert.announce_case("mxnet", mx.__version__, arguments, place.world_size)
        definition = "gluon blocks, contrib.interleaved_matmul_selfatt"
        bert.announce_model(size, definition, mxnet_loop.trainable(network), "AdamW on contrib.adamw_update")
    mxnet_loop.train(job, network, inputs, losses_of(job, batch), trainer(job, network), arguments)


def trainer(job, network, learning_rate: float = bert.LEARNING_RATE, weight_decay: float = bert.WEIGHT_DECAY):
    settings = {"learning_rate": learning_rate, "epsilon": bert.ADAM_EPSILON, "wd": weight_decay}
    return mxnet_loop.trainer(job, network, mxnet_adamw.adamw(job.mx, **settings))


def inputs_of(job, batch: bert.Batch) -> list:
    """Words and segments as (place, sequence), the places, and where the masked words are as (place, sequence)."""
    mx = job.mx
    masked = [place for places in batch.masked for place in places]
    sequences = [row for row, places in enumerate(batch.masked) for _ in places]
    arrays = [
        mx.nd.array(batch.words).T,
        mx.nd.array(batch.segments).T,
        mx.nd.arange(len(batch.words[0])),
        mx.nd.array([masked, sequences], dtype="int32"),
    ]
    return [array.as_in_context(job.context) for array in arrays]


def losses_of(job, batch: bert.Batch):
    """A loss for each sequence: the mean over its masked words, plus that of the next sentence."""
    mx = job.mx
    cross_entropy = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    hidden_words = mx.nd.array(batch.hidden_words).as_in_context(job.context)
    follows = mx.nd.array(batch.follows).as_in_context(job.context)

    def losses(output):
        words, next_sentence = map(mxnet_loop.at_least_float32, output)
        of_words = cross_entropy(words, hidden_words.reshape((-1,))).reshape(hidden_words.shape)
        return of_words.mean(axis=1) + cross_entropy(next_sentence, follows)

    return losses


def _attended(F, all_three, size: bert.Size, dropout):
    """Self-attention, from queries, keys and values that stand together for each head."""
    weights = F.softmax(F.contrib.interleaved_matmul_selfatt_qk(all_three, heads=size.heads))
    return F.contrib.interleaved_matmul_selfatt_valatt(all_three, dropout(weights), heads=size.heads)


def _written_out(F, all_three, size: bert.Size, dropout):
    """The same of operators that take every type."""
    parts = F.split(all_three.reshape((0, 0, size.heads, 3, -1)), axis=3, num_outputs=3, squeeze_axis=True)
    queries, keys, values = (F.transpose(part, (1, 2, 0, 3)).reshape((-3, 0, 0)) for part in parts)
    scores = F.batch_dot(queries, keys, transpose_b=True) / (size.hidden / size.heads) ** 0.5
    attended = F.batch_dot(dropout(F.softmax(scores)), values).reshape((-4, -1, size.heads, 0, 0))
    return F.transpose(attended, (2, 0, 1, 3)).reshape((0, 0, -3))


def bert_model(mx, size: bert.Size, mixed: bool = False, written_out: bool = False):
    """*mixed*: for AMP. *written_out*: for float64, which MXNet's own self-attention operators refuse on a CPU."""
    nn = mx.gluon.nn

    def norm():
        return nn.LayerNorm(epsilon=bert.LAYER_NORM_EPSILON, in_channels=size.hidden)

    def dense(width: int, in_units: int = size.hidden, **named):
        return nn.Dense(width, flatten=False, in_units=in_units, **named)

    class EncoderLayer(mx.gluon.HybridBlock):
        """Takes (places, sequences, hidden), which is what MXNet's self-attention operators want."""

        def __init__(self) -> None:
            super().__init__()
            self.queries_keys_values, self.attended = dense(3 * size.hidden), dense(size.hidden)
            self.widen, self.gelu = dense(size.feed_forward), nn.GELU()
            self.narrow = dense(size.hidden, size.feed_forward)
            self.norm_attended, self.norm_fed = norm(), norm()
            self.dropout = nn.Dropout(size.dropout)

        def hybrid_forward(self, F, x):
            all_three = self.queries_keys_values(x)
            if mixed:  # AMP has no rule for these operators
                all_three = F.amp_cast(all_three, dtype="float32")
            attended = (_written_out if written_out else _attended)(F, all_three, size, self.dropout)
            x = self.norm_attended(x + self.dropout(self.attended(attended)))
            return self.norm_fed(x + self.dropout(self.narrow(self.gelu(self.widen(x)))))

    class Bert(mx.gluon.HybridBlock):
        """Scores of the masked words (a row for each) and of the next sentence (a row for each sequence)."""

        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(bert.WORDS, size.hidden)
            self.positions = nn.Embedding(bert.POSITIONS, size.hidden)
            self.segments = nn.Embedding(bert.SEGMENTS, size.hidden)
            self.norm, self.dropout = norm(), nn.Dropout(size.dropout)
            self.encoder = nn.HybridSequential()
            for _ in range(size.layers):
                self.encoder.add(EncoderLayer())
            self.pooler = dense(size.hidden, activation="tanh")
            self.transform = nn.HybridSequential()
            self.transform.add(dense(size.hidden), nn.GELU(), norm())
            self.scores = dense(bert.WORDS, params=self.words.params)
            self.next_sentence = dense(2)

        def hybrid_forward(self, F, words, segments, places, masked):
            x = F.broadcast_add(self.words(words) + self.segments(segments), self.positions(places).expand_dims(1))
            x = self.encoder(self.dropout(self.norm(x)))
            first = F.slice_axis(x, axis=0, begin=0, end=1).reshape((-3, 0))
            scores = self.scores(self.transform(F.gather_nd(x, masked)))
            return scores, self.next_sentence(self.pooler(first))

    return Bert()


if __name__ == "__main__":
    main()

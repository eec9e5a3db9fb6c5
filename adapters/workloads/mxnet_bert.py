"""BERT pre-training in MXNet: Gluon blocks around MXNet's own self-attention operators, KVStore dist_sync.

Prints through mx.callback.Speedometer itself, in every process, every step; its rate counts this process only.
MXNet 1.9 ships no AdamW: the optimiser is its Adam, whose weight decay is added to the gradient (L2). With AMP the
self-attention operators stay in float32.
"""

import bert
import common
import mxnet_loop


def main() -> None:
    arguments, place = bert.arguments(), common.place()
    with mxnet_loop.job(arguments, place) as job:
        _train(job, arguments)


def _train(job, arguments) -> None:
    mx, place, size = job.mx, job.place, bert.SIZES[arguments.size]
    batch = bert.batch(arguments, place.rank)
    network = bert_model(mx, size)
    network.initialize(mx.init.Normal(bert.DEVIATION), ctx=job.context)
    network.hybridize(static_alloc=True, static_shape=True)
    trainer = mxnet_loop.trainer(
        job,
        network,
        "adam",
        learning_rate=bert.LEARNING_RATE,
        epsilon=bert.ADAM_EPSILON,
        wd=bert.WEIGHT_DECAY,
    )
    inputs = _inputs(job, batch)
    mxnet_loop.prepare(job, network, inputs)
    if place.rank == 0:
        bert.announce_case("mxnet", mx.__version__, arguments, place.world_size)
        definition = "gluon blocks, contrib.interleaved_matmul_selfatt"
        bert.announce_model(size, definition, mxnet_loop.trainable(network), "mx.optimizer.Adam")
    mxnet_loop.train(job, network, inputs, _losses_of(job, batch), trainer, arguments)


def _inputs(job, batch: bert.Batch) -> list:
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


def _losses_of(job, batch: bert.Batch):
    """A loss for each sequence: the mean over its masked words, plus that of the next sentence."""
    mx = job.mx
    cross_entropy = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    hidden_words = mx.nd.array(batch.hidden_words).as_in_context(job.context)
    follows = mx.nd.array(batch.follows).as_in_context(job.context)

    def losses_of(output):
        words, next_sentence = (scores.astype("float32") for scores in output)
        of_words = cross_entropy(words, hidden_words.reshape((-1,))).reshape(hidden_words.shape)
        return of_words.mean(axis=1) + cross_entropy(next_sentence, follows)

    return losses_of


def bert_model(mx, size: bert.Size):
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
            self.dropout = nn.Dropout(bert.DROPOUT)

        def hybrid_forward(self, F, x):
            mixed = F.amp_cast(self.queries_keys_values(x), dtype="float32")  # AMP has no rule for these operators
            weights = F.softmax(F.contrib.interleaved_matmul_selfatt_qk(mixed, heads=size.heads))
            attended = F.contrib.interleaved_matmul_selfatt_valatt(mixed, self.dropout(weights), heads=size.heads)
            x = self.norm_attended(x + self.dropout(self.attended(attended)))
            return self.norm_fed(x + self.dropout(self.narrow(self.gelu(self.widen(x)))))

    class Bert(mx.gluon.HybridBlock):
        """Scores of the masked words (a row for each) and of the next sentence (a row for each sequence)."""

        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(bert.WORDS, size.hidden)
            self.positions = nn.Embedding(bert.POSITIONS, size.hidden)
            self.segments = nn.Embedding(bert.SEGMENTS, size.hidden)
            self.norm, self.dropout = norm(), nn.Dropout(bert.DROPOUT)
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

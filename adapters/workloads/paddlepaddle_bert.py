"""BERT pre-training in PaddlePaddle: paddle.nn.TransformerEncoder, DataParallel under paddle.distributed.launch.

Prints the line of PaddleNLP examples/language_model/bert/static/run_pretrain.py on rank 0, every step; its `ips`
counts one card. The optimiser is paddle.optimizer.AdamW.
"""

import time

import bert
import common
import paddlepaddle_loop


def main() -> None:
    arguments = bert.arguments()
    job = paddlepaddle_loop.started(arguments)
    size = bert.SIZES[arguments.size]
    model = bert_model(job.paddle, size)
    if job.rank == 0:
        bert.announce_case("paddlepaddle", job.paddle.__version__, arguments, job.world_size)
        parameters = paddlepaddle_loop.trainable(model)
        bert.announce_model(size, "paddle.nn.TransformerEncoder", parameters, "paddle.optimizer.AdamW")
    batch = bert.batch(arguments, job.rank)
    train(job, model, inputs_of(job.paddle, batch), loss_of(job.paddle, batch), arguments)


def inputs_of(paddle, batch: bert.Batch) -> list:
    return [paddle.to_tensor(rows) for rows in (batch.words, batch.segments, batch.masked)]


def optimiser(paddle, model, learning_rate: float = bert.LEARNING_RATE, weight_decay: float = bert.WEIGHT_DECAY):
    return paddle.optimizer.AdamW(
        learning_rate,
        epsilon=bert.ADAM_EPSILON,
        parameters=model.parameters(),
        weight_decay=weight_decay,
    )


def loss_of(paddle, batch: bert.Batch):
    hidden_words, follows = paddle.to_tensor(batch.hidden_words).flatten(), paddle.to_tensor(batch.follows)
    cross_entropy = paddle.nn.functional.cross_entropy
    return lambda output: cross_entropy(output[0], hidden_words) + cross_entropy(output[1], follows)


def train(job, model, inputs, goal, arguments) -> None:
    """Trains on the same inputs in every step; *goal* gives the model's output its loss."""
    step = paddlepaddle_loop.stepper(job, model, inputs, goal, optimiser(job.paddle, model), arguments)
    begun = time.perf_counter()
    for number in range(1, arguments.steps + 1):
        reader_s = time.perf_counter() - begun
        loss = common.finite(float(step()), number)
        paddlepaddle_loop.wait(job, arguments)
        batch_s = time.perf_counter() - begun
        begun = time.perf_counter()
        if job.rank == 0:
            print(_line(number, loss, reader_s, batch_s, arguments.batch_size), flush=True)


def _line(number: int, loss: float, reader_s: float, batch_s: float, batch_size: int) -> str:
    """`total step: 270, epoch: 0, batch: 269, loss: 10.842868, avg_reader_cost: 0.00010 sec, …`"""
    return (
        f"total step: {number}, epoch: 0, batch: {number - 1}, loss: {loss:.6f}, "
        f"avg_reader_cost: {reader_s:.5f} sec, avg_batch_cost: {batch_s:.5f} sec, "
        f"avg_samples: {batch_size:.5f}, ips: {batch_size / batch_s:.5f} sequences/sec"
    )


def bert_model(paddle, size: bert.Size):
    nn = paddle.nn
    matrix = nn.initializer.Normal(std=bert.DEVIATION)

    def embedding(rows: int):
        return nn.Embedding(rows, size.hidden, weight_attr=matrix)

    def linear(width: int):
        return nn.Linear(size.hidden, width, weight_attr=matrix)

    def norm():
        return nn.LayerNorm(size.hidden, bert.LAYER_NORM_EPSILON)

    class Bert(nn.Layer):
        """Scores of the masked words (a row for each) and of the next sentence (a row for each sequence)."""

        def __init__(self) -> None:
            super().__init__()
            self.words, self.positions = embedding(bert.WORDS), embedding(bert.POSITIONS)
            self.segments = embedding(bert.SEGMENTS)
            self.norm, self.dropout = norm(), nn.Dropout(size.dropout)
            layer = nn.TransformerEncoderLayer(
                size.hidden,
                size.heads,
                size.feed_forward,
                size.dropout,
                "gelu",
                act_dropout=0.0,  # behind GELU, where BERT has none
                weight_attr=matrix,
                layer_norm_eps=bert.LAYER_NORM_EPSILON,
            )
            self.encoder = nn.TransformerEncoder(layer, size.layers)
            self.pooler = nn.Sequential(linear(size.hidden), nn.Tanh())
            self.transform = nn.Sequential(linear(size.hidden), nn.GELU(), norm())
            self.bias = self.create_parameter([bert.WORDS], is_bias=True)
            self.next_sentence = linear(2)

        def forward(self, words, segments, masked):
            places = self.positions.weight[: words.shape[1]]
            x = self.dropout(self.norm(self.words(words) + places + self.segments(segments)))
            x = self.encoder(x)
            places = masked.unsqueeze(2).expand([-1, -1, size.hidden])
            at_masks = paddle.take_along_axis(x, places, 1).flatten(0, 1)
            scores = paddle.matmul(self.transform(at_masks), self.words.weight, transpose_y=True) + self.bias
            return scores, self.next_sentence(self.pooler(x[:, 0]))

    return Bert()


if __name__ == "__main__":
    main()

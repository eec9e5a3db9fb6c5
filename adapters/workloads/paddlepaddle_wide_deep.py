"""Wide & Deep in PaddlePaddle: paddle.nn.Embedding with dense gradients, Adam, DataParallel under its launcher.

Prints the line of PaddleClas on rank 0, every step (`paddlepaddle_steps.py`); its `ips` counts one card.
"""

import itertools

import paddlepaddle_loop
import paddlepaddle_steps
import wide_deep


def main() -> None:
    arguments = wide_deep.arguments()
    job = paddlepaddle_loop.started(arguments)
    size, batch = wide_deep.SIZES[arguments.size], wide_deep.batch(arguments, job.rank)
    model = wide_deep_model(job.paddle, size)
    if job.rank == 0:
        wide_deep.announce_case("paddlepaddle", job.paddle.__version__, arguments, job.world_size)
        parameters = paddlepaddle_loop.trainable(model)
        wide_deep.announce_model(size, "paddle.nn layers", parameters, "paddle.optimizer.Adam")
    inputs, goal = inputs_of(job.paddle, batch, "float32"), loss_of(job.paddle, batch)
    updates = optimiser(job.paddle, model)
    step = paddlepaddle_loop.stepper(job, model, inputs, goal, updates, arguments)
    paddlepaddle_steps.train(job, step, arguments, wide_deep.LEARNING_RATE)


def inputs_of(paddle, batch: wide_deep.Batch, dtype: str) -> list:
    numbers = paddle.to_tensor(batch.numbers, dtype=dtype)
    return [numbers, *(paddle.to_tensor(rows) for rows in (batch.wide, batch.deep))]


def optimiser(paddle, model, learning_rate: float = wide_deep.LEARNING_RATE):
    return paddle.optimizer.Adam(learning_rate, epsilon=wide_deep.ADAM_EPSILON, parameters=model.parameters())


def loss_of(paddle, batch: wide_deep.Batch):
    clicked = paddle.to_tensor(batch.clicked)
    cross_entropy = paddle.nn.functional.binary_cross_entropy_with_logits
    return lambda odds: cross_entropy(odds, clicked.astype(odds.dtype))


def wide_deep_model(paddle, size: wide_deep.Size):
    nn, functional = paddle.nn, paddle.nn.functional

    def table(width: int):
        start = nn.initializer.Normal(std=wide_deep.DEVIATION)
        return nn.Embedding(size.vocabulary, width, weight_attr=start)

    def dense(inside: int, out: int):
        return nn.Linear(inside, out, weight_attr=nn.initializer.XavierUniform())

    class WideDeep(nn.Layer):
        """The log-odds of a click, one number for each sample."""

        def __init__(self) -> None:
            super().__init__()
            self.wide, self.deep = table(1), table(wide_deep.EMBEDDING)
            widths = [wide_deep.INPUTS, *[size.hidden] * size.layers]
            self.hidden = nn.LayerList([dense(*two) for two in itertools.pairwise(widths)])
            self.dropout, self.score = nn.Dropout(size.dropout), dense(size.hidden, 1)

        def forward(self, numbers, wide, deep):
            x = paddle.concat([self.deep(deep).flatten(1), numbers], 1)
            for layer in self.hidden:
                x = self.dropout(functional.relu(layer(x)))
            return (self.wide(wide).sum(1) + self.score(x)).flatten()

    return WideDeep()


if __name__ == "__main__":
    main()

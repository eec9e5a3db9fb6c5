"""GPT-2 in PaddlePaddle: scaled_dot_product_attention, DataParallel under paddle.distributed.launch.

Prints the line of PaddleNLP examples/language_model/bert/static/run_pretrain.py on rank 0, every step; its `ips`
counts one card. The optimiser is paddle.optimizer.AdamW. Layers are called as in openai/gpt-2.
"""

import gpt2
import paddlepaddle_bert
import paddlepaddle_loop


def main() -> None:
    arguments = gpt2.arguments()
    job = paddlepaddle_loop.started(arguments)
    size, batch = gpt2.SIZES[arguments.size], gpt2.batch(arguments, job.rank)
    model = gpt2_model(job.paddle, size)
    if job.rank == 0:
        gpt2.announce_case("paddlepaddle", job.paddle.__version__, arguments, job.world_size)
        parameters = paddlepaddle_loop.trainable(model)
        gpt2.announce_model(size, "paddle.nn layers", parameters, "paddle.optimizer.AdamW")
    inputs, goal = inputs_of(job.paddle, batch), loss_of(job.paddle, batch)
    paddlepaddle_bert.train(job, model, inputs, goal, arguments)


def inputs_of(paddle, batch: gpt2.Batch) -> list:
    return [paddle.to_tensor(batch.tokens)]


def loss_of(paddle, batch: gpt2.Batch):
    following = paddle.to_tensor(batch.following).flatten()
    return lambda scores: paddle.nn.functional.cross_entropy(scores.flatten(0, 1), following)


def gpt2_model(paddle, size: gpt2.Size):
    nn, functional = paddle.nn, paddle.nn.functional
    matrix = nn.initializer.Normal(std=gpt2.DEVIATION)

    def linear(inside: int, out: int):
        return nn.Linear(inside, out, weight_attr=matrix)

    def norm():
        return nn.LayerNorm(size.hidden, gpt2.LAYER_NORM_EPSILON)

    class Attention(nn.Layer):
        """Of each token to those before it and to itself."""

        def __init__(self) -> None:
            super().__init__()
            self.c_attn, self.c_proj = linear(size.hidden, 3 * size.hidden), linear(size.hidden, size.hidden)

        def forward(self, x):
            parts = (part.unflatten(2, [size.heads, -1]) for part in self.c_attn(x).chunk(3, 2))
            dropout = size.dropout if self.training else 0.0
            attended = functional.scaled_dot_product_attention(
                *parts, dropout_p=dropout, is_causal=True, training=self.training
            )
            return self.c_proj(attended.flatten(2))

    class FeedForward(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.c_fc, self.c_proj = linear(size.hidden, 4 * size.hidden), linear(4 * size.hidden, size.hidden)

        def forward(self, x):
            return self.c_proj(functional.gelu(self.c_fc(x), approximate=True))

    class DecoderLayer(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.ln_1, self.ln_2, self.dropout = norm(), norm(), nn.Dropout(size.dropout)
            self.attn, self.mlp = Attention(), FeedForward()

        def forward(self, x):
            x = x + self.dropout(self.attn(self.ln_1(x)))
            return x + self.dropout(self.mlp(self.ln_2(x)))

    class Gpt2(nn.Layer):
        """Scores of the next token, behind each token of each sequence."""

        def __init__(self) -> None:
            super().__init__()
            self.wte = nn.Embedding(gpt2.TOKENS, size.hidden, weight_attr=matrix)
            self.wpe = nn.Embedding(gpt2.POSITIONS, size.hidden, weight_attr=matrix)
            self.dropout = nn.Dropout(size.dropout)
            self.h = nn.LayerList([DecoderLayer() for _ in range(size.layers)])
            self.ln_f = norm()

        def forward(self, tokens):
            x = self.dropout(self.wte(tokens) + self.wpe.weight[: tokens.shape[1]])
            for layer in self.h:
                x = layer(x)
            return paddle.matmul(self.ln_f(x), self.wte.weight, transpose_y=True)

    return Gpt2()


if __name__ == "__main__":
    main()

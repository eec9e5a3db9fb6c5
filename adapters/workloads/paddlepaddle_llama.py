"""Llama in PaddlePaddle: scaled_dot_product_attention, DataParallel under paddle.distributed.launch.

Prints the line of the BERT workload on rank 0, every step; its `ips` counts sequences of one card. The optimiser is
paddle.optimizer.AdamW.
"""

import llama
import paddlepaddle_bert
import paddlepaddle_gpt2
import paddlepaddle_loop

inputs_of, loss_of = paddlepaddle_gpt2.inputs_of, paddlepaddle_gpt2.loss_of


def main() -> None:
    arguments = llama.arguments()
    job = paddlepaddle_loop.started(arguments)
    model = llama_model(job.paddle, llama.SIZES[arguments.size], recompute=arguments.recompute)
    if job.rank == 0:
        parameters = paddlepaddle_loop.trainable(model)
        llama.announce("paddlepaddle", job.paddle.__version__, arguments, job.world_size, parameters)
    batch = llama.batch(arguments, job.rank)
    paddlepaddle_bert.train(job, model, inputs_of(job.paddle, batch), loss_of(job.paddle, batch), arguments)


def llama_model(paddle, size: llama.Size, *, recompute: bool = False):
    nn, functional = paddle.nn, paddle.nn.functional
    head, narrow, shared = size.head, size.groups * size.head, size.heads // size.groups  # no property is compiled
    matrix = nn.initializer.Normal(std=llama.DEVIATION)

    def linear(inside: int, out: int):
        return nn.Linear(inside, out, weight_attr=matrix, bias_attr=False)

    def turned(x, cosine, sine):
        """Rotary positions: the two halves of a head are real and imaginary parts."""
        first, second = x.chunk(2, -1)
        return paddle.concat((first * cosine - second * sine, second * cosine + first * sine), -1)

    class Norm(nn.Layer):
        """That of PaddlePaddle is a kernel of GPUs alone."""

        def __init__(self) -> None:
            super().__init__()
            self.weight = self.create_parameter([size.hidden], default_initializer=nn.initializer.Constant(1.0))

        def forward(self, x):
            return x * paddle.rsqrt(x.square().mean(-1, keepdim=True) + llama.NORM_EPSILON) * self.weight

    class Layer(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.q_proj, self.o_proj = linear(size.hidden, size.hidden), linear(size.hidden, size.hidden)
            self.k_proj, self.v_proj = linear(size.hidden, narrow), linear(size.hidden, narrow)
            self.gate_proj, self.up_proj = linear(size.hidden, size.width), linear(size.hidden, size.width)
            self.down_proj = linear(size.width, size.hidden)
            self.input_layernorm, self.post_attention_layernorm = Norm(), Norm()

        def forward(self, x, cosine, sine):
            seen = self.input_layernorm(x)
            q, k, v = (part(seen).unflatten(2, [-1, head]) for part in (self.q_proj, self.k_proj, self.v_proj))
            k, v = (each.repeat_interleave(shared, 2) for each in (turned(k, cosine, sine), v))
            attended = functional.scaled_dot_product_attention(turned(q, cosine, sine), k, v, is_causal=True)
            x = x + self.o_proj(attended.flatten(2))
            seen = self.post_attention_layernorm(x)
            return x + self.down_proj(functional.silu(self.gate_proj(seen)) * self.up_proj(seen))

    class Llama(nn.Layer):
        """Scores of the next token, behind each token of each sequence."""

        def __init__(self) -> None:
            super().__init__()
            self.embed_tokens = nn.Embedding(llama.TOKENS, size.hidden, weight_attr=matrix)
            self.layers = nn.LayerList([Layer() for _ in range(size.layers)])
            self.norm, self.lm_head = Norm(), linear(size.hidden, llama.TOKENS)

        def forward(self, tokens):
            x = self.embed_tokens(tokens)
            parts = llama.ROTARY_BASE ** -(paddle.arange(0, head, 2, dtype="float64") / head)
            angles = paddle.outer(paddle.arange(tokens.shape[1], dtype="float64"), parts)
            turns = [each.astype(x.dtype).unsqueeze(1) for each in (angles.cos(), angles.sin())]
            for layer in self.layers:
                x = paddle.distributed.fleet.utils.recompute(layer, x, *turns) if recompute else layer(x, *turns)
            return self.lm_head(self.norm(x))

    return Llama()


if __name__ == "__main__":
    main()

"""GPT-2 in PyTorch: scaled_dot_product_attention, AdamW, DistributedDataParallel under torchrun.

Prints the line of pytorch/examples imagenet/main.py on rank 0, every step; its time is that of one step of the
whole job. Layers are called as in openai/gpt-2.
"""

import os

import common
import gpt2
import pytorch_bert
import pytorch_loop
import torch
from torch import nn


class Attention(nn.Module):
    """Of each token to those before it and to itself."""

    def __init__(self, size: gpt2.Size) -> None:
        super().__init__()
        self.heads, self.dropout = size.heads, size.dropout
        self.c_attn, self.c_proj = nn.Linear(size.hidden, 3 * size.hidden), nn.Linear(size.hidden, size.hidden)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = (part.unflatten(2, (self.heads, -1)).transpose(1, 2) for part in self.c_attn(x).chunk(3, 2))
        dropout = self.dropout if self.training else 0.0
        attended = nn.functional.scaled_dot_product_attention(*parts, dropout_p=dropout, is_causal=True)
        return self.c_proj(attended.transpose(1, 2).flatten(2))


class FeedForward(nn.Module):
    def __init__(self, size: gpt2.Size) -> None:
        super().__init__()
        self.c_fc, self.c_proj = nn.Linear(size.hidden, 4 * size.hidden), nn.Linear(4 * size.hidden, size.hidden)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.c_proj(nn.functional.gelu(self.c_fc(x), approximate="tanh"))


class Layer(nn.Module):
    def __init__(self, size: gpt2.Size) -> None:
        super().__init__()
        self.ln_1, self.ln_2 = (nn.LayerNorm(size.hidden, gpt2.LAYER_NORM_EPSILON) for _ in range(2))
        self.attn, self.mlp, self.dropout = Attention(size), FeedForward(size), nn.Dropout(size.dropout)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.dropout(self.attn(self.ln_1(x)))
        return x + self.dropout(self.mlp(self.ln_2(x)))


class Gpt2(nn.Module):
    """Scores of the next token, behind each token of each sequence."""

    def __init__(self, size: gpt2.Size) -> None:
        super().__init__()
        self.wte, self.wpe = nn.Embedding(gpt2.TOKENS, size.hidden), nn.Embedding(gpt2.POSITIONS, size.hidden)
        self.dropout = nn.Dropout(size.dropout)
        self.h = nn.ModuleList(Layer(size) for _ in range(size.layers))
        self.ln_f = nn.LayerNorm(size.hidden, gpt2.LAYER_NORM_EPSILON)
        self.apply(_started_as_gpt2_is)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.dropout(self.wte(tokens) + self.wpe.weight[: tokens.shape[1]])
        for layer in self.h:
            x = layer(x)
        return nn.functional.linear(self.ln_f(x), self.wte.weight)


def _started_as_gpt2_is(module: nn.Module) -> None:
    if isinstance(module, (nn.Linear, nn.Embedding)):
        nn.init.normal_(module.weight, std=gpt2.DEVIATION)


def main() -> None:
    arguments, place = gpt2.arguments(), common.place()
    with pytorch_loop.job(arguments, place) as device:
        size = gpt2.SIZES[arguments.size]
        model = Gpt2(size).to(device)
        if place.rank == 0:
            gpt2.announce_case("pytorch", torch.__version__, arguments, place.world_size)
            parameters = pytorch_loop.trainable(model)
            gpt2.announce_model(size, "torch.nn layers", parameters, "torch.optim.AdamW")
        batch = gpt2.batch(arguments, place.rank)
        inputs, goal = inputs_of(batch, device), loss_of(batch, device)
        pytorch_loop.train(model, inputs, goal, pytorch_bert.optimiser(model), device, arguments, place)


def inputs_of(batch: gpt2.Batch, device: torch.device) -> list[torch.Tensor]:
    return [torch.tensor(batch.tokens, device=device)]


def loss_of(batch: gpt2.Batch, device: torch.device):
    following = torch.tensor(batch.following, device=device).flatten()
    return lambda scores: nn.functional.cross_entropy(scores.flatten(0, 1), following)


if __name__ == "__main__":
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    main()

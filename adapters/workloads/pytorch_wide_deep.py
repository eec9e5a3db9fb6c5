"""Wide & Deep in PyTorch: torch.nn.Embedding with dense gradients, Adam, DistributedDataParallel under torchrun.

Prints the line of pytorch/examples imagenet/main.py on rank 0, every step; its time is that of one step of the
whole job.
"""

import itertools
import os

import common
import pytorch_loop
import torch
import wide_deep
from torch import nn


class WideDeep(nn.Module):
    """The log-odds of a click, one number for each sample."""

    def __init__(self, size: wide_deep.Size) -> None:
        super().__init__()
        self.wide = nn.Embedding(size.vocabulary, 1)
        self.deep = nn.Embedding(size.vocabulary, wide_deep.EMBEDDING)
        widths = [wide_deep.INPUTS, *[size.hidden] * size.layers]
        self.hidden = nn.ModuleList(nn.Linear(inside, out) for inside, out in itertools.pairwise(widths))
        self.dropout, self.score = nn.Dropout(size.dropout), nn.Linear(size.hidden, 1)
        self.apply(_started)

    def forward(self, numbers: torch.Tensor, wide: torch.Tensor, deep: torch.Tensor) -> torch.Tensor:
        x = torch.cat([self.deep(deep).flatten(1), numbers], 1)
        for layer in self.hidden:
            x = self.dropout(nn.functional.relu(layer(x)))
        return (self.wide(wide).sum(1) + self.score(x)).flatten()


def _started(module: nn.Module) -> None:
    if isinstance(module, nn.Embedding):
        nn.init.normal_(module.weight, std=wide_deep.DEVIATION)
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        nn.init.zeros_(module.bias)


def main() -> None:
    arguments, place = wide_deep.arguments(), common.place()
    with pytorch_loop.job(arguments, place) as device:
        size = wide_deep.SIZES[arguments.size]
        model = WideDeep(size).to(device)
        if place.rank == 0:
            wide_deep.announce_case("pytorch", torch.__version__, arguments, place.world_size)
            wide_deep.announce_model(size, "torch.nn layers", pytorch_loop.trainable(model), "torch.optim.Adam")
        batch = wide_deep.batch(arguments, place.rank)
        inputs, goal = inputs_of(batch, device, torch.float32), loss_of(batch, device)
        pytorch_loop.train(model, inputs, goal, optimiser(model), device, arguments, place)


def inputs_of(batch: wide_deep.Batch, device: torch.device, dtype: torch.dtype) -> list[torch.Tensor]:
    ids = [torch.tensor(rows, device=device) for rows in (batch.wide, batch.deep)]
    return [torch.tensor(batch.numbers, device=device, dtype=dtype), *ids]


def optimiser(model, learning_rate: float = wide_deep.LEARNING_RATE):
    return torch.optim.Adam(model.parameters(), lr=learning_rate, eps=wide_deep.ADAM_EPSILON)


def loss_of(batch: wide_deep.Batch, device: torch.device):
    clicked = torch.tensor(batch.clicked, device=device)
    return lambda odds: nn.functional.binary_cross_entropy_with_logits(odds, clicked.to(odds.dtype))


if __name__ == "__main__":
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    main()

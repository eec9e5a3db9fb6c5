"""BERT pre-training in PyTorch: torch.nn.TransformerEncoder, AdamW, DistributedDataParallel under torchrun.

Prints the line of pytorch/examples imagenet/main.py on rank 0, every step; its time is that of one step of the
whole job. The optimiser is torch.optim.AdamW.
"""

import os

import bert
import common
import pytorch_loop
import torch
from torch import nn


class Bert(nn.Module):
    """Scores of the masked words (a row for each) and of the next sentence (a row for each sequence)."""

    def __init__(self, size: bert.Size) -> None:
        super().__init__()
        self.words = nn.Embedding(bert.WORDS, size.hidden)
        self.positions = nn.Embedding(bert.POSITIONS, size.hidden)
        self.segments = nn.Embedding(bert.SEGMENTS, size.hidden)
        self.norm = nn.LayerNorm(size.hidden, bert.LAYER_NORM_EPSILON)
        self.dropout = nn.Dropout(size.dropout)
        layer = nn.TransformerEncoderLayer(
            size.hidden,
            size.heads,
            size.feed_forward,
            size.dropout,
            "gelu",
            bert.LAYER_NORM_EPSILON,
            batch_first=True,
        )
        layer.dropout = nn.Identity()  # behind GELU, where BERT has none
        self.encoder = nn.TransformerEncoder(layer, size.layers, enable_nested_tensor=False)
        self.pooler = nn.Sequential(nn.Linear(size.hidden, size.hidden), nn.Tanh())
        self.transform = nn.Sequential(
            nn.Linear(size.hidden, size.hidden),
            nn.GELU(),
            nn.LayerNorm(size.hidden, bert.LAYER_NORM_EPSILON),
        )
        self.bias = nn.Parameter(torch.zeros(bert.WORDS))
        self.next_sentence = nn.Linear(size.hidden, 2)
        self.apply(_started_as_bert_is)

    def forward(self, words: torch.Tensor, segments: torch.Tensor, masked: torch.Tensor):
        positions = self.positions.weight[: words.shape[1]]
        x = self.dropout(self.norm(self.words(words) + positions + self.segments(segments)))
        x = self.encoder(x)
        at_masks = x.gather(1, masked.unsqueeze(2).expand(-1, -1, x.shape[2])).flatten(0, 1)
        scores = nn.functional.linear(self.transform(at_masks), self.words.weight, self.bias)
        return scores, self.next_sentence(self.pooler(x[:, 0]))


def _started_as_bert_is(module: nn.Module) -> None:
    if isinstance(module, nn.MultiheadAttention):
        nn.init.normal_(module.in_proj_weight, std=bert.DEVIATION)
    if isinstance(module, (nn.Linear, nn.Embedding)):
        nn.init.normal_(module.weight, std=bert.DEVIATION)


def main() -> None:
    arguments, place = bert.arguments(), common.place()
    with pytorch_loop.job(arguments, place) as device:
        size = bert.SIZES[arguments.size]
        model = Bert(size).to(device)
        if place.rank == 0:
            bert.announce_case("pytorch", torch.__version__, arguments, place.world_size)
            parameters = pytorch_loop.trainable(model)
            bert.announce_model(size, "torch.nn.TransformerEncoder", parameters, "torch.optim.AdamW")
        batch = bert.batch(arguments, place.rank)
        inputs = inputs_of(batch, device)
        pytorch_loop.train(model, inputs, loss_of(batch, device), optimiser(model), device, arguments, place)


def inputs_of(batch: bert.Batch, device: torch.device) -> list[torch.Tensor]:
    return [torch.tensor(rows, device=device) for rows in (batch.words, batch.segments, batch.masked)]


def optimiser(model, learning_rate: float = bert.LEARNING_RATE, weight_decay: float = bert.WEIGHT_DECAY):
    return torch.optim.AdamW(model.parameters(), lr=learning_rate, eps=bert.ADAM_EPSILON, weight_decay=weight_decay)


def loss_of(batch: bert.Batch, device: torch.device):
    hidden_words = torch.tensor(batch.hidden_words, device=device).flatten()
    follows = torch.tensor(batch.follows, device=device)
    cross_entropy = nn.functional.cross_entropy
    return lambda output: cross_entropy(output[0], hidden_words) + cross_entropy(output[1], follows)


if __name__ == "__main__":
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    main()

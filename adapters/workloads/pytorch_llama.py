"""Llama in PyTorch: scaled_dot_product_attention, AdamW, DistributedDataParallel or FSDP2 under torchrun.

Prints the line of pytorch/examples imagenet/main.py on rank 0, every step; its time is that of one step of the
whole job.
"""

import contextlib
import os
import time
from collections.abc import Callable, Sequence

import common
import gpt2
import llama
import pytorch_bert
import pytorch_gpt2
import pytorch_loop
import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint

inputs_of, loss_of = pytorch_gpt2.inputs_of, pytorch_gpt2.loss_of


def linear(inwards: int, outwards: int) -> nn.Linear:
    made = nn.Linear(inwards, outwards, bias=False)
    nn.init.normal_(made.weight, std=llama.DEVIATION)
    return made


class Layer(nn.Module):
    def __init__(self, size: llama.Size) -> None:
        super().__init__()
        narrow = size.groups * size.head
        self.head = size.head
        self.q_proj, self.o_proj = linear(size.hidden, size.hidden), linear(size.hidden, size.hidden)
        self.k_proj, self.v_proj = linear(size.hidden, narrow), linear(size.hidden, narrow)
        self.gate_proj, self.up_proj = linear(size.hidden, size.width), linear(size.hidden, size.width)
        self.down_proj = linear(size.width, size.hidden)
        self.input_layernorm, self.post_attention_layernorm = (
            nn.RMSNorm(size.hidden, llama.NORM_EPSILON) for _ in range(2)
        )

    def forward(self, x: torch.Tensor, angles: torch.Tensor) -> torch.Tensor:
        seen = self.input_layernorm(x)
        q, k, v = (
            part(seen).unflatten(2, (-1, self.head)).transpose(1, 2) for part in (self.q_proj, self.k_proj, self.v_proj)
        )
        q, k = turned(q, angles), turned(k, angles)
        attended = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.o_proj(attended.transpose(1, 2).flatten(2))
        seen = self.post_attention_layernorm(x)
        return x + self.down_proj(nn.functional.silu(self.gate_proj(seen)) * self.up_proj(seen))


def turned(x: torch.Tensor, angles: torch.Tensor) -> torch.Tensor:
    """Rotary positions: the two halves of a head are real and imaginary parts."""
    first, second = x.chunk(2, -1)
    cosine, sine = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), -1)


class Llama(nn.Module):
    """Scores of the next token, behind each token of each sequence."""

    def __init__(self, size: llama.Size, recompute: bool = False) -> None:
        super().__init__()
        self.size, self.recompute = size, recompute
        self.embed_tokens = nn.Embedding(llama.TOKENS, size.hidden)
        nn.init.normal_(self.embed_tokens.weight, std=llama.DEVIATION)
        self.layers = nn.ModuleList(Layer(size) for _ in range(size.layers))
        self.norm, self.lm_head = nn.RMSNorm(size.hidden, llama.NORM_EPSILON), linear(size.hidden, llama.TOKENS)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embed_tokens(tokens)
        parts = torch.arange(0, self.size.head, 2, dtype=torch.float64, device=tokens.device) / self.size.head
        places = torch.arange(tokens.shape[1], dtype=torch.float64, device=tokens.device)
        angles = (places[:, None] * llama.ROTARY_BASE**-parts).to(x.dtype)
        for layer in self.layers:
            x = checkpoint(layer, x, angles, use_reentrant=False) if self.recompute else layer(x, angles)
        return self.lm_head(self.norm(x))


def main() -> None:
    arguments, place = llama.arguments(), common.place()
    with pytorch_loop.job(arguments, place) as device:
        model = Llama(llama.SIZES[arguments.size], arguments.recompute).to(device)
        if place.rank == 0:
            llama.announce("pytorch", torch.__version__, arguments, place.world_size, pytorch_loop.trainable(model))
        batches = llama.parts(llama.batch(arguments, place.rank), arguments.accumulation)
        model = laid(model, device, arguments, place.world_size)
        step = stepper(model, batches, pytorch_bert.optimiser(model), device, arguments)
        train(step, device, arguments, place)


def laid(model: Llama, device: torch.device, arguments, processes: int):
    """*model* over the devices: copies of it, and each in shards on as many devices as are asked for."""
    if arguments.fsdp > 1:
        sides = processes // arguments.fsdp, arguments.fsdp
        mesh = init_device_mesh(device.type, sides, mesh_dim_names=("copies", "shards"))
        for part in (*model.layers, model):
            fully_shard(part, mesh=mesh)
    elif processes > 1:
        model = DistributedDataParallel(model, [device.index] if device.type == "cuda" else None)
    return torch.compile(model) if arguments.compile else model


def stepper(model, batches: Sequence[gpt2.Batch], optimiser, device: torch.device, arguments) -> Callable:
    """One optimiser step on *batches*, whose gradients are added up: () → the mean loss before it.

    Copies exchange their gradients behind the last; shards behind each, for none has room for those of the whole.
    """
    mixed, scaler = pytorch_loop.autocast(device, arguments), pytorch_loop.scaler_for(device, arguments)
    known = [(inputs_of(batch, device), loss_of(batch, device)) for batch in batches]
    alone = getattr(model, "no_sync", contextlib.nullcontext)

    def step() -> torch.Tensor:
        optimiser.zero_grad()
        losses = []
        for number, (inputs, goal) in enumerate(known, 1):
            with alone() if number < len(known) else contextlib.nullcontext():
                with mixed:
                    loss = goal(model(*inputs)) / len(known)
                scaler.scale(loss).backward()
            losses.append(loss.detach())
        scaler.step(optimiser)
        scaler.update()
        return sum(losses)

    return step


def train(step: Callable, device: torch.device, arguments, place: common.Place) -> None:
    """Trains on the same inputs in every step; rank 0 prints a line for each."""
    time_s, data_s, losses = (common.Meter() for _ in range(3))
    begun = time.perf_counter()
    for number in range(1, arguments.steps + 1):
        data_s.update(time.perf_counter() - begun)
        losses.update(common.finite(step().item(), number))
        pytorch_loop.wait_for(device)
        time_s.update(time.perf_counter() - begun)
        begun = time.perf_counter()
        if place.rank == 0:
            print(pytorch_loop.line(number, arguments.steps, time_s, data_s, losses), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    main()

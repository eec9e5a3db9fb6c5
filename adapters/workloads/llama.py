"""What the Llama workloads share: one size, its arguments, one batch of the next-token task.

Standard library only. The model is Llama 2 (Touvron et al., 2023) as LlamaForCausalLM of transformers computes it:
token embeddings, decoder layers with RMSNorm before each half, rotary positions, fewer heads of keys and values than of
queries, SwiGLU, an RMSNorm behind the last, and an output layer of its own; nothing has a bias. It is the model of
`evalsuite data make llama-tiny`. The optimiser is the AdamW of the BERT workloads.
"""

import argparse
import random
import sys
from dataclasses import dataclass

import common
import gpt2

TOKENS = 2048
ROTARY_BASE = 10000.0
DEVIATION = 0.02  # of the normal distribution that matrices start from
NORM_EPSILON = 1e-5


@dataclass(frozen=True)
class Size:
    layers: int
    hidden: int
    heads: int
    groups: int  # heads of keys and values
    width: int  # of the feed-forward half
    parameters: int

    @property
    def head(self) -> int:
        return self.hidden // self.heads


SIZES = {"tiny": Size(layers=4, hidden=256, heads=8, groups=4, width=688, parameters=3_950_848)}


def arguments() -> argparse.Namespace:
    parser = common.parser("Llama (next token)", "sequences")
    parser.add_argument("--size", choices=tuple(SIZES), required=True)
    parser.add_argument("--sequence-length", type=int, default=256, help="tokens in a sequence")
    parser.add_argument("--recompute", action="store_true", help="layers are computed again in the backward pass")
    parser.add_argument("--accumulation", type=int, default=1, help="parts of a batch, whose gradients are added up")
    parser.add_argument("--fsdp", type=int, default=1, help="devices that share one copy; PyTorch alone")
    known = parser.parse_args()
    if known.batch_size % known.accumulation:
        parser.error(f"--accumulation {known.accumulation} does not divide --batch-size {known.batch_size}")
    return known


def batch(arguments: argparse.Namespace, rank: int) -> gpt2.Batch:
    """The batch that this process trains on again and again: random tokens, the same in every framework."""
    chance, length = random.Random(common.SEED + rank), arguments.sequence_length
    rows = [chance.choices(range(TOKENS), k=length + 1) for _ in range(arguments.batch_size)]
    return gpt2.Batch(tokens=[row[:-1] for row in rows], following=[row[1:] for row in rows])


def parts(whole: gpt2.Batch, number: int) -> list[gpt2.Batch]:
    """*whole* in as many equal parts."""
    size = len(whole.tokens) // number
    return [
        gpt2.Batch(tokens=whole.tokens[begin : begin + size], following=whole.following[begin : begin + size])
        for begin in range(0, len(whole.tokens), size)
    ]


def announce(framework: str, version: str, arguments: argparse.Namespace, world_size: int, parameters: int) -> None:
    """Says what is trained, and ends the process if that is no Llama of its size."""
    size, facts = SIZES[arguments.size], {"sequence_length": arguments.sequence_length}
    common.announce_case(framework, version, arguments, world_size, f"llama_{arguments.size}", **facts)
    shape = {"layers": size.layers, "hidden": size.hidden, "heads": size.heads, "groups": size.groups}
    recompute = "on" if arguments.recompute else "off"
    laid = {"recompute": recompute, "accumulation": arguments.accumulation, "fsdp": arguments.fsdp}
    common.announce(trainable_parameters=parameters, **shape, width=size.width, **laid)
    if parameters != size.parameters:
        sys.exit(f"not Llama {size.layers}x{size.hidden}: {size.parameters} trainable parameters were expected")

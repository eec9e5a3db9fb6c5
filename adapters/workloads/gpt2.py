"""What the GPT-2 workloads share: two sizes, their arguments, one batch of the next-token task.

Standard library only. The model is that of Radford et al., "Language Models are Unsupervised Multitask Learners"
(2019): embeddings of tokens and positions, decoder layers with the layer norm before each half and GELU by tanh, a
layer norm behind the last, and the token embeddings again as the output layer, without a bias. Dropout on the
embeddings, the attention's weights and behind each half. Every sequence is full. The optimiser is the AdamW of the BERT
workloads.
"""

import argparse
import random
import sys
from dataclasses import dataclass

import common

TOKENS = 50257
POSITIONS = 1024
DROPOUT = 0.1
DEVIATION = 0.02  # of the normal distribution that matrices start from
LAYER_NORM_EPSILON = 1e-5


@dataclass(frozen=True)
class Size:
    """One GPT-2. `parameters` are all that are trained, the tied token embeddings once."""

    layers: int
    hidden: int
    heads: int
    parameters: int
    dropout: float = DROPOUT


SIZES = {
    "124m": Size(layers=12, hidden=768, heads=12, parameters=124_439_808),
    "tiny": Size(layers=2, hidden=128, heads=2, parameters=6_960_768),
}


@dataclass(frozen=True)
class Batch:
    """One batch as lists of whole numbers, a list per sequence."""

    tokens: list[list[int]]
    following: list[list[int]]  # what comes behind each of them


def arguments() -> argparse.Namespace:
    parser = common.parser("GPT-2 (next token)", "sequences")
    parser.add_argument("--size", choices=tuple(SIZES), required=True)
    parser.add_argument("--sequence-length", type=int, default=128, help=f"tokens in a sequence, up to {POSITIONS}")
    return parser.parse_args()


def batch(arguments: argparse.Namespace, rank: int) -> Batch:
    """The batch that this process trains on again and again: random tokens, the same in every framework."""
    chance, length = random.Random(common.SEED + rank), arguments.sequence_length
    rows = [chance.choices(range(TOKENS), k=length + 1) for _ in range(arguments.batch_size)]
    return Batch(tokens=[row[:-1] for row in rows], following=[row[1:] for row in rows])


def announce_case(framework: str, version: str, arguments: argparse.Namespace, world_size: int) -> None:
    length = {"sequence_length": arguments.sequence_length}
    common.announce_case(framework, version, arguments, world_size, f"gpt2_{arguments.size}", **length)


def announce_model(size: Size, definition: str, parameters: int, optimiser: str) -> None:
    """Says what was built, and ends the process if that is no GPT-2 of *size*."""
    common.announce(
        definition=definition,
        trainable_parameters=parameters,
        counted="decoder,tied_embeddings_once",
        layers=size.layers,
        hidden=size.hidden,
        heads=size.heads,
        optimiser=optimiser,
    )
    if parameters != size.parameters:
        sys.exit(f"not GPT-2 {size.layers}x{size.hidden}: {size.parameters} trainable parameters were expected")

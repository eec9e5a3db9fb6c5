"""What the BERT workloads share: two sizes, their arguments, one batch of the pre-training task, what is counted.

Standard library only. The model is that of Devlin et al. (arXiv:1810.04805): embeddings of words, positions and
segments, an encoder with GELU and the layer norm behind each half (dropout on the attention's weights and before each
layer norm), a pooler, and two heads: masked words (dense,
GELU, layer norm, then the word embeddings again as the output layer, with a bias of its own) and whether the
second half follows the first. Every sequence is full, so there is no padding and no attention mask. The optimiser is
AdamW in all frameworks (arXiv:1711.05101): epsilon is added to the corrected root of the second moment, and decay
shrinks the weights beside the gradient. `evalsuite equivalence --model bert_tiny` proves that they compute the same.
"""

import argparse
import random
import sys
from dataclasses import dataclass

import common

WORDS = 30522  # the vocabulary of bert-base-uncased
POSITIONS = 512
SEGMENTS = 2
PREDICTIONS_IN_128 = 20  # masked words that are predicted in a sequence of 128, as the official scripts set it
DROPOUT = 0.1
DEVIATION = 0.02  # of the normal distribution that matrices start from
LAYER_NORM_EPSILON = 1e-12
LEARNING_RATE = 1e-4
WEIGHT_DECAY = 0.01
ADAM_EPSILON = 1e-6


@dataclass(frozen=True)
class Size:
    """One BERT. `parameters` are all that are trained: both heads too, and the tied word embeddings once."""

    layers: int
    hidden: int
    heads: int
    parameters: int
    dropout: float = DROPOUT

    @property
    def feed_forward(self) -> int:
        return 4 * self.hidden


SIZES = {
    "base": Size(layers=12, hidden=768, heads=12, parameters=110_106_428),
    "tiny": Size(layers=2, hidden=128, heads=2, parameters=4_433_468),
}


@dataclass(frozen=True)
class Batch:
    """One batch as lists of whole numbers, a list per sequence."""

    words: list[list[int]]
    segments: list[list[int]]
    masked: list[list[int]]  # the places of the masked words, rising
    hidden_words: list[list[int]]  # what stood there
    follows: list[int]  # 1: the second half follows the first


def arguments() -> argparse.Namespace:
    parser = common.parser("BERT (masked words and next sentence)", "sequences")
    parser.add_argument("--size", choices=tuple(SIZES), required=True)
    parser.add_argument("--sequence-length", type=int, default=128, help=f"words in a sequence, up to {POSITIONS}")
    return parser.parse_args()


def predictions(sequence_length: int) -> int:
    return max(1, sequence_length * PREDICTIONS_IN_128 // 128)


def batch(arguments: argparse.Namespace, rank: int) -> Batch:
    """The batch that this process trains on again and again: random words, the same in every framework."""
    chance = random.Random(common.SEED + rank)
    length, sequences = arguments.sequence_length, range(arguments.batch_size)
    count = predictions(length)
    halves = [0] * (length // 2) + [1] * (length - length // 2)
    return Batch(
        words=[chance.choices(range(WORDS), k=length) for _ in sequences],
        segments=[halves for _ in sequences],
        masked=[sorted(chance.sample(range(length), count)) for _ in sequences],
        hidden_words=[chance.choices(range(WORDS), k=count) for _ in sequences],
        follows=[chance.randrange(2) for _ in sequences],
    )


def announce_case(framework: str, version: str, arguments: argparse.Namespace, world_size: int) -> None:
    length = arguments.sequence_length
    sizes = {"sequence_length": length, "predictions_per_sequence": predictions(length)}
    common.announce_case(framework, version, arguments, world_size, f"bert_{arguments.size}", **sizes)


def announce_model(size: Size, definition: str, parameters: int, optimiser: str) -> None:
    """Says what was built, and ends the process if that is no BERT of *size*."""
    common.announce(
        definition=definition,
        trainable_parameters=parameters,
        counted="encoder,pooler,both_heads,tied_embeddings_once",
        layers=size.layers,
        hidden=size.hidden,
        heads=size.heads,
        optimiser=optimiser,
    )
    if parameters != size.parameters:
        sys.exit(f"not BERT {size.layers}x{size.hidden}: {size.parameters} trainable parameters were expected")

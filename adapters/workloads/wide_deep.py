"""What the Wide & Deep workloads share: two sizes, their arguments, one batch of clicks, what is counted.

Standard library only. The model is that of Cheng et al., "Wide & Deep Learning for Recommender Systems"
(arXiv:1606.07792), as Oneflow-Inc/models RecommenderSystems/wide_and_deep has it for Criteo's log: a weight for each id
of two crossed fields, added up; embeddings of 26 fields beside 13 numbers, through dense layers with ReLU and dropout,
to one score; the sum of both scores is the log-odds of a click. The optimiser is Adam over all rows of the tables,
without decay, so that a step costs the same whatever ids its batch holds.
"""

import argparse
import random
import sys
from dataclasses import dataclass

import common

WIDE_FIELDS = 2
DEEP_FIELDS = 26
NUMBERS = 13
EMBEDDING = 16  # numbers of a row of the deep table
INPUTS = DEEP_FIELDS * EMBEDDING + NUMBERS  # of the first dense layer
DROPOUT = 0.5
DEVIATION = 0.05  # of the normal distribution that the tables start from; dense layers start from Xavier's uniform one
LEARNING_RATE = 1e-3
ADAM_EPSILON = 1e-8


@dataclass(frozen=True)
class Size:
    """One Wide & Deep. `parameters` are all that are trained, those of both tables too."""

    vocabulary: int  # rows of each of the two tables
    layers: int
    hidden: int
    parameters: int
    dropout: float = DROPOUT


SIZES = {
    "full": Size(vocabulary=2_322_444, layers=7, hidden=1024, parameters=46_220_493),
    "tiny": Size(vocabulary=200_000, layers=3, hidden=512, parameters=4_145_985),
}


@dataclass(frozen=True)
class Batch:
    """One batch as lists, a list per sample."""

    numbers: list[list[float]]
    wide: list[list[int]]
    deep: list[list[int]]
    clicked: list[int]  # 1: a click


def arguments() -> argparse.Namespace:
    parser = common.parser("Wide & Deep (clicks)", "samples")
    parser.add_argument("--size", choices=tuple(SIZES), required=True)
    return parser.parse_args()


def batch(arguments: argparse.Namespace, rank: int) -> Batch:
    """The batch that this process trains on again and again: random ids and numbers, the same in every framework."""
    chance, samples = random.Random(common.SEED + rank), range(arguments.batch_size)
    rows = range(SIZES[arguments.size].vocabulary)
    return Batch(
        numbers=[[chance.random() for _ in range(NUMBERS)] for _ in samples],
        wide=[chance.choices(rows, k=WIDE_FIELDS) for _ in samples],
        deep=[chance.choices(rows, k=DEEP_FIELDS) for _ in samples],
        clicked=[chance.randrange(2) for _ in samples],
    )


def announce_case(framework: str, version: str, arguments: argparse.Namespace, world_size: int) -> None:
    model = "wide_and_deep" if arguments.size == "full" else f"wide_and_deep_{arguments.size}"
    fields = {"wide_fields": WIDE_FIELDS, "deep_fields": DEEP_FIELDS, "numbers": NUMBERS}
    common.announce_case(framework, version, arguments, world_size, model, **fields)


def announce_model(size: Size, definition: str, parameters: int, optimiser: str) -> None:
    """Says what was built, and ends the process if that is no Wide & Deep of *size*."""
    common.announce(
        definition=definition,
        trainable_parameters=parameters,
        counted="both_tables,dense_layers",
        vocabulary=size.vocabulary,
        embedding=EMBEDDING,
        layers=size.layers,
        hidden=size.hidden,
        optimiser=optimiser,
        updated_rows="all",
    )
    if parameters != size.parameters:
        sys.exit(f"not Wide & Deep {size.layers}x{size.hidden}: {size.parameters} trainable parameters were expected")

"""What the face-recognition workloads share: three sizes, their arguments, the labels of a batch, what is counted.

Standard library only. The network is the IResNet of deepinsight/insightface recognition/arcface_torch: on 112×112
pixels, blocks of batch norm, convolution, batch norm, PReLU, convolution (which has the stride), batch norm; batch norm
and a dense layer behind them, and a batch norm without a scale. The head is ArcFace (Deng et al., arXiv:1801.07698):
the cosine of the angle between a face and the centre of each identity, the margin added to the angle to its own, times
the scale, softmax. The optimiser is SGD with momentum, as there.
"""

import argparse
import math
import random
import sys
from dataclasses import dataclass

import common

IMAGE_SIZE = 112
SIDE = IMAGE_SIZE // 16  # of the last map
SCALE = 64.0
MARGIN = 0.5  # radians
# Where the angle and the margin are more than π together the cosine would rise again: from here it falls in a line.
LEAST_COSINE = math.cos(math.pi - MARGIN)
LINE = MARGIN * math.sin(math.pi - MARGIN)
LEAST_SQUARE = 1e-12  # of a sine: its root has no slope at 0
BATCH_NORM_EPSILON = 1e-5
SLOPE = 0.25  # that PReLU starts from
DEVIATION, CENTRE_DEVIATION = 0.1, 0.01  # of the normal distributions that convolutions and centres start from
LEARNING_RATE = 1e-6  # one batch seen again and again: with 1e-3 the loss is 0 after four steps, and numbers underflow
WEIGHT_DECAY = 5e-4


@dataclass(frozen=True)
class Size:
    """One network. `parameters` are all that are trained, those of the head too."""

    blocks: tuple[int, int, int, int]  # of each stage
    widths: tuple[int, int, int, int]
    features: int  # numbers that describe a face
    identities: int
    parameters: int


WIDTHS = (64, 128, 256, 512)
IDENTITIES = 93_431  # of MS1MV3
SIZES = {
    "r100": Size((3, 13, 30, 3), WIDTHS, features=512, identities=IDENTITIES, parameters=112_992_320),
    "r50": Size((3, 4, 14, 3), WIDTHS, features=512, identities=IDENTITIES, parameters=91_427_008),
    # No narrower: with 8 channels TensorFlow 2.15.1 with oneDNN writes beyond its memory (glibc's malloc check).
    "tiny": Size((1, 1, 2, 1), (16, 16, 32, 64), features=128, identities=1000, parameters=631_392),
}


def arguments() -> argparse.Namespace:
    parser = common.parser("face recognition (IResNet with ArcFace)", "images")
    parser.add_argument("--size", choices=tuple(SIZES), required=True)
    return parser.parse_args()


def labels(arguments: argparse.Namespace, rank: int) -> list[int]:
    """Of the batch that this process trains on again and again: random identities, the same in every framework."""
    chance = random.Random(common.SEED + rank)
    return chance.choices(range(SIZES[arguments.size].identities), k=arguments.batch_size)


def stages(size: Size):
    """(name of the block, its channels from and to, its stride), in order."""
    inward = size.widths[0]
    for stage, (blocks, width) in enumerate(zip(size.blocks, size.widths, strict=True), 1):
        for block in range(blocks):
            yield f"layer{stage}.{block}", inward, width, 1 if block else 2
            inward = width


def announce_case(framework: str, version: str, arguments: argparse.Namespace, world_size: int) -> None:
    common.announce_case(framework, version, arguments, world_size, f"face_{arguments.size}", image_size=IMAGE_SIZE)


def announce_model(size: Size, definition: str, parameters: int, layout: str, classifier: str = "whole") -> None:
    """Says what was built, and ends the process if that is not the network of *size*."""
    common.announce(
        definition=definition,
        trainable_parameters=parameters,
        counted="backbone,centres",
        blocks=",".join(map(str, size.blocks)),
        features=size.features,
        identities=size.identities,
        scale=SCALE,
        margin=MARGIN,
        classifier=classifier,
        layout=layout,
    )
    if parameters != size.parameters:
        sys.exit(f"not IResNet {size.blocks} with ArcFace: {size.parameters} trainable parameters were expected")

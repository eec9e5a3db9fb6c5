"""The arguments of `evalsuite largest-batch`."""

import argparse

from evalsuite.commands.options import axes
from evalsuite.commands.options.common import add_options

HELP = "find the largest batch per device that fits, by short runs, and print it for a spec"
EXAMPLES = """  evalsuite largest-batch --frameworks pytorch,paddlepaddle --scales 1x8 --precision amp --batch-sizes 64
  evalsuite largest-batch --frameworks pytorch --device cpu --batch-sizes 8 --most 64
  evalsuite largest-batch --frameworks pytorch --device cpu --batch-sizes 8 --memory-per-device 2
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    axes.add_arguments(parser)
    parser.add_argument(
        "--most", metavar="B", type=int, help="try no more per device (65536; needed with --device cpu)"
    )
    add_options(parser, "json", "lang")

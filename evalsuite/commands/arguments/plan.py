"""The arguments of `evalsuite plan`."""

import argparse

from evalsuite.commands.options import axes
from evalsuite.commands.options.common import add_options

HELP = "show the test matrix; nothing is started"
EXAMPLES = """  evalsuite plan
  evalsuite plan --frameworks pytorch,paddlepaddle --scales 1x1,1x8,2x8 --precision fp32,amp
  evalsuite plan --frameworks pytorch --scales 1x1,1x2,1x4 --batch-sizes 64 --scaling strong
  evalsuite plan --frameworks pytorch --device cpu --batch-sizes max --memory-per-device 2
  evalsuite plan --frameworks pytorch --scales 2x8 --engine slurm --commands
  evalsuite plan --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    axes.add_arguments(parser)
    parser.add_argument("--commands", action="store_true", help="print each exact command line")
    add_options(parser, "json", "lang")

"""The arguments of `evalsuite run`."""

import argparse

from evalsuite.commands.options import axes
from evalsuite.commands.options.common import add_options

HELP = "run what is missing of the test matrix"
EXAMPLES = """  evalsuite run --frameworks pytorch --scales 1x1 --repeats 5
  evalsuite run --spec official.toml --stop-after-window --max-device-hours 40
  salloc --nodes=4 --exclusive evalsuite run --profile full --engine slurm --scales 1x8,2x8,4x8
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    axes.add_arguments(parser)
    add_redo(parser)
    add_options(parser, "lang")


def add_redo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--redo",
        metavar="WHAT",
        action="append",
        default=[],
        help="make finished runs again: failed, a case or CASE/r0; the old ones stay; repeatable",
    )

"""The arguments of `evalsuite preflight`."""

import argparse
from pathlib import Path

from evalsuite.commands.options import engine_options
from evalsuite.commands.options.common import add_options

HELP = "look at every node before the first run: same evalsuite, shared folder, clock, devices, room, speed"
EXAMPLES = """\
  evalsuite preflight --hosts gpu01,gpu02 --runs /shared/runs --devices-per-node 8
  salloc --nodes=4 --exclusive evalsuite preflight --engine slurm
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    engine_options.add_arguments(parser)
    add_options(parser, "runs")
    parser.add_argument("--nodes", metavar="N", type=int, help="nodes that are wanted (default: all)")
    parser.add_argument("--devices-per-node", metavar="D", type=int, help="accelerators that each must have")
    add_options(parser, "json")
    parser.add_argument("--on-node", metavar="DIR", type=Path, help=argparse.SUPPRESS)  # what is started on each node
    parser.add_argument("--token", help=argparse.SUPPRESS)
    parser.add_argument("--program", action="append", default=[], help=argparse.SUPPRESS)
    add_options(parser, "lang")

"""The arguments of `evalsuite predict`."""

import argparse
from pathlib import Path

from evalsuite.commands.arguments.import_ import add_facts
from evalsuite.commands.options.common import add_options

HELP = "say what a model expects at scales that were not measured, with its error on published series"
EXAMPLES = """\
  python -m evalsuite predict report --to 64
  python -m evalsuite predict runs --to 4x8,8x8 --json
  python -m evalsuite predict table.csv --to 64 --set framework=pytorch --set model=resnet50_v1.5 --set batch=128
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source", type=Path, metavar="SOURCE", help="folder of a report or of runs (.zip too), or a table"
    )
    parser.add_argument(
        "--to",
        required=True,
        metavar="DEVICES,…",
        help="devices of the job, on nodes as large as the largest measured one; or nodes x devices: 4x8",
    )
    add_facts(parser)
    add_options(parser, "adapters", "dialects", "json", "lang")

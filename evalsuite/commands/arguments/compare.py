"""The arguments of `evalsuite compare`."""

import argparse

from evalsuite.commands.arguments.report import add_output_arguments
from evalsuite.commands.arguments.run import add_redo
from evalsuite.commands.options import axes

HELP = "plan, run what is missing, and report: the main job"
EXAMPLES = """  evalsuite compare
  evalsuite compare --frameworks tensorflow,mxnet,paddlepaddle,pytorch --scales 1x1,1x2
  evalsuite compare --frameworks pytorch --scales 1x1,1x8 --precision fp32,amp --repeats 5 --steps 20+100
  evalsuite compare --spec my.toml --runs /data/runs --out /data/report
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    axes.add_arguments(parser)
    add_redo(parser)
    add_output_arguments(parser)
    parser.add_argument(
        "--recorded",
        action="store_true",
        help="where nothing can be run, report all runs recorded elsewhere, whatever was asked for",
    )

"""The arguments of `evalsuite submit`."""

import argparse
from pathlib import Path

from evalsuite.commands.arguments import compare
from evalsuite.commands.options import number_parsing

HELP = "write the script that takes the nodes and evaluates on them; with --go, submit it"
EXAMPLES = """\
  evalsuite submit --profile full --scales 1x8,2x8,4x8 --partition gpu --time 8:00:00 --gres gpu:8
  evalsuite submit --frameworks pytorch --scales 4x8 --container pyxis --account dl --nodes-spare 1 --go
  evalsuite submit --engine kubernetes --values cluster.toml --frameworks pytorch --scales 1x8,2x8
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    compare.add_arguments(parser)
    job = parser.add_argument_group("the allocation")
    job.add_argument("--account", metavar="A", help="who pays")
    job.add_argument("--partition", metavar="P", help="the queue")
    job.add_argument("--time", metavar="T", help="how long, as sbatch takes it: 8:00:00")
    job.add_argument("--gres", metavar="G", help="devices of each node, such as gpu:8")
    job.add_argument("--constraint", metavar="C", help="features that the nodes must have")
    job.add_argument(
        "--nodes-spare", metavar="N", type=number_parsing.whole, default=0, help="nodes more than the largest scale has"
    )
    job.add_argument(
        "--sbatch", metavar="OPT", action="append", default=[], help="one more option of sbatch; repeatable"
    )
    job.add_argument(
        "--before", metavar="LINE", action="append", default=[], help="a line of shell, such as 'module load cuda'"
    )
    job.add_argument("--script", metavar="F", type=Path, help="where the script goes (RUNS/evaluation.sbatch or .yaml)")
    job.add_argument("--values", metavar="F", type=Path, help="engine kubernetes: image, volume, queue, … (TOML)")
    job.add_argument("--go", action="store_true", help="submit it too")

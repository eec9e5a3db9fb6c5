"""The arguments of `evalsuite rehearse`."""

import argparse
from pathlib import Path

from evalsuite.commands.options import engine_options
from evalsuite.commands.options.common import add_options

HELP = "take the first steps of official scripts on a CPU, with stand-ins for the accelerator"
EXAMPLES = """  evalsuite rehearse --recipe tensorflow/tf-cnn-resnet50
  evalsuite rehearse --recipe ngc_pytorch/resnet50 --scales 1x1,1x2 --mirror /srv/mirrors
  evalsuite rehearse --recipe pytorch/hal-resnet50 --scales 2x1 --hosts node1:1,node2:1
  evalsuite rehearse --spec data/specs/tianshu.toml --keep-environments
  evalsuite rehearse
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--recipe", metavar="F/R", action="append", default=[], help="such as pytorch/hal-resnet50; repeatable (all)"
    )
    either = parser.add_mutually_exclusive_group()
    either.add_argument(
        "--spec", metavar="FILE", type=Path, help="the participants of a spec, in one campaign; resumes"
    )
    either.add_argument("--record", action="store_true", help="keep evidence and logs in evalsuite's own tree")
    parser.add_argument("--repeats", metavar="N", default="1", help="of each script of the spec (1)")
    parser.add_argument("--scales", metavar="S,…", help="nodes x devices: 1x1,1x2 (default: those of the recipe)")
    parser.add_argument("--mirror", metavar="DIR_OR_URL", help="of repositories: a folder of clones, or another host")
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path("rehearsals"), help="default: rehearsals")
    parser.add_argument("--data", metavar="DIR", type=Path, help="tiny data sets (default: OUT/data)")
    parser.add_argument("--keep-environments", action="store_true", help="do not remove them afterwards")
    engine_options.add_arguments(parser.add_argument_group("several nodes"))
    add_options(parser, "adapters", "dialects", "lang")

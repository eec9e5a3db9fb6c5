"""The arguments of `evalsuite adapters`."""

import argparse
from pathlib import Path

from evalsuite.commands.options.common import add_options

HELP = "list frameworks and recipes, or check your own adapters"
EXAMPLES = """  evalsuite adapters
  evalsuite adapters --frameworks pytorch,mxnet --device gpu
  evalsuite adapters --adapters ./my-adapters --json
  evalsuite adapters --check ./my-adapters/toynet.py --log toynet.log
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--frameworks", metavar="A,B,…", help="only these")
    parser.add_argument(
        "--device", choices=("cpu", "gpu", "npu"), default="cpu", help="what is asked about (default: cpu)"
    )
    add_options(parser, "adapters", "dialects", "lang")
    parser.add_argument("--check", metavar="PATH", type=Path, help="say what the adapters there run as and lack")
    parser.add_argument("--log", metavar="FILE", type=Path, help="with --check: a log that the script has printed")
    add_options(parser, "json")

"""The arguments of `evalsuite dialects`."""

import argparse
from pathlib import Path

from evalsuite.commands.options.common import add_options

HELP = "list log dialects, explain how a log is read, or check your own"
EXAMPLES = """\
  python -m evalsuite dialects
  python -m evalsuite dialects --explain train.log
  python -m evalsuite dialects --explain train.log --dialect torchtitan --all
  python -m evalsuite dialects --check my_dialects/toynet.py --log train.log
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--explain", metavar="LOG", type=Path, help="say line by line what matched and what was skipped")
    what.add_argument("--check", metavar="PATH", type=Path, help="say what the dialects there read and lack")
    parser.add_argument("--dialect", metavar="NAME", help="explain as this dialect instead of finding out")
    parser.add_argument("--log", metavar="FILE", type=Path, help="with --check: a log that the script has printed")
    add_options(parser, "adapters", "dialects", "lang")
    parser.add_argument("--all", action="store_true", help="every line, not only the first of each kind")
    add_options(parser, "json")

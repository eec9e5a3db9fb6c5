"""The arguments of `evalsuite archive`."""

import argparse
from pathlib import Path

from evalsuite.commands.options.common import add_options

HELP = "pack run folders and their journal into one file, which report and audit read"
EXAMPLES = """  evalsuite archive --runs runs --out runs.zip
  evalsuite archive --runs runs --out for-others.zip --redact
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_options(parser, "runs")
    parser.add_argument("--out", metavar="FILE", type=Path, default=Path("runs.zip"), help="default: runs.zip")
    redact = "leave out each file that holds a secret; the others stay byte for byte, so that their hashes hold"
    parser.add_argument("--redact", action="store_true", help=redact)
    add_options(parser, "lang")

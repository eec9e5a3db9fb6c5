"""The arguments of `evalsuite audit`."""

import argparse
from pathlib import Path

from evalsuite.commands.arguments.report import OUTPUT
from evalsuite.commands.options.common import COMMON, add_options

HELP = "recompute every number of a finished report from its raw files, and check every hash"
EXAMPLES = """  evalsuite audit report --runs runs
  evalsuite audit report --runs runs.zip --seal 3f1c09d2ab77
  evalsuite audit report
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("report", metavar="REPORT", type=Path, help="folder of a finished report")
    runs = "its run folders, or their archive; without them the report is held against itself alone"
    parser.add_argument("--runs", metavar="DIR", type=Path, help=runs)
    parser.add_argument("--seal", metavar="SHA256", help="what page, site or feed showed as its seal, or its beginning")
    for name in ("criteria", "author", "receipts"):
        settings = {name: value for name, value in OUTPUT[name].items() if name != "help"}
        parser.add_argument(f"--{name}", **settings, help="as the report was written with")
    for name in ("adapters", "dialects"):
        parser.add_argument(f"--{name}", **COMMON[name])
    add_options(parser, "lang")

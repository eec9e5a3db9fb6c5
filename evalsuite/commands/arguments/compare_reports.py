"""The arguments of `evalsuite compare-reports`."""

import argparse
from pathlib import Path

from evalsuite.commands.options.common import add_options

HELP = "say what changed between two finished reports, and what cannot be compared"
EXAMPLES = """  evalsuite compare-reports old/report new/report
  evalsuite compare-reports old/report new/report --fail-on-regression
  evalsuite compare-reports old/report new/report --lang zh
  evalsuite compare-reports --site site --baseline v2.1 new/report --fail-on-regression
  evalsuite compare-reports cluster-a/report cluster-b/report --across-environments --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", metavar="A", type=Path, nargs="?", help="folder of the earlier report")
    parser.add_argument("after", metavar="B", type=Path, help="folder of the later report")
    add_options(parser, "json")
    parser.add_argument(
        "--lang",
        metavar="L,…",
        help="zh, en, or zh,en one after the other (default: that of the locale; en with --json)",
    )
    parser.add_argument(
        "--fail-on-regression",
        action="store_true",
        help="exit code 5 if a case became significantly slower or lost its value, 6 if one could not be decided",
    )
    parser.add_argument(
        "--allow-missing",
        action="store_true",
        help="with --fail-on-regression: cases without a value, with too few runs or of one report alone are no fault",
    )
    parser.add_argument(
        "--baseline", metavar="NAME", help="with --site, in place of A: the report that publish --baseline NAME kept"
    )
    parser.add_argument(
        "--site",
        metavar="DIR",
        type=Path,
        help="a published site: what its history has learnt of each case's scatter counts as the least effect",
    )
    parser.add_argument(
        "--across-environments",
        action="store_true",
        help="compare also cases from different machines: the machines are compared then",
    )

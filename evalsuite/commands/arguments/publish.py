"""The arguments of `evalsuite publish`."""

import argparse
from pathlib import Path

from evalsuite.commands.options.common import add_options

HELP = "build a static site out of finished reports, with their history"
EXAMPLES = """  evalsuite publish report --site site
  evalsuite publish monday/report tuesday/report --site site --title "Cluster A" --url https://example.org/bench/
  evalsuite publish release/report --site site --baseline v2.1
  evalsuite publish --site site
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("reports", metavar="REPORT", nargs="*", type=Path, help="folder of a finished report")
    parser.add_argument("--site", metavar="DIR", type=Path, required=True, help="the site; reports in it stay")
    parser.add_argument("--baseline", metavar="NAME", help="keep REPORT, one, under a name for compare-reports")
    parser.add_argument("--title", metavar="TEXT", help="name of the site")
    parser.add_argument("--url", metavar="URL", help="where it will be served; makes the links of the feeds absolute")
    add_options(parser, "json", "lang")

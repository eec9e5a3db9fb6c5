"""The arguments of `evalsuite explain`."""

import argparse

from evalsuite.commands.options.common import add_options

HELP = "say what a data rule checks, why it matters and what to do"
EXAMPLES = """\
  python -m evalsuite explain D10
  python -m evalsuite explain busy_machine --lang zh,en
  python -m evalsuite explain --list
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("codes", nargs="*", metavar="CODE", help="the code of a finding (D10, busy_machine), or a rule")
    parser.add_argument("--list", action="store_true", help="list the codes; the same without any CODE")
    parser.add_argument(
        "--lang", metavar="L,…", help="zh, en, or zh,en one after the other (default: that of the locale)"
    )
    add_options(parser, "json")

"""The arguments of `evalsuite data`."""

import argparse

from evalsuite.commands.options import number_parsing
from evalsuite.commands.options.common import add_options

HELP = "make up the same data in every script's format, or check the data sets that lie there"
EXAMPLES = """  evalsuite data make imagenet imagenet-recordio
  evalsuite data make --for pytorch/examples-imagenet --for data/specs/official-cpu.toml
  evalsuite data make bert-hdf5 --size full-shape/100 --seed 7
  evalsuite data check --for ngc_tensorflow/bert-base-2020 --ranks 16
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="what to do", metavar="make|check", dest="action", required=True)
    make = actions.add_parser("make", help="write data sets into $EVALSUITE_DATA, one after the other")
    check = actions.add_parser(
        "check", help="hold data sets against their format and their manifest; hashes every file"
    )
    for action in (make, check):
        action.add_argument("names", nargs="*", metavar="NAME", help="as docs/recipes.md lists them")
        action.add_argument(
            *("--for", "--wanted-by"),
            metavar="SPEC_OR_RECIPE",
            dest="wanted_by",
            action="append",
            default=[],
            help="what it reads: a spec's file, a profile, or FRAMEWORK/RECIPE; repeatable",
        )
        add_options(action, "adapters", "lang")
    make.add_argument("--size", default="tiny", help="tiny (default), 10k, full-shape, or a part of it: full-shape/100")
    make.add_argument("--seed", type=number_parsing.whole, help="of all items (default: 1)")
    make.add_argument("--again", action="store_true", help="replace what was made with another seed or size")
    check.add_argument("--ranks", metavar="N", type=number_parsing.whole, default=1, help="that read at once (1)")
    add_options(check, "json")

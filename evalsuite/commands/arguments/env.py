"""The arguments of `evalsuite env`."""

import argparse

from evalsuite.commands.options.common import add_options

HELP = "list, create or remove the virtual environments of the recipes"
EXAMPLES = """  evalsuite env list
  evalsuite env list --json
  evalsuite env create pytorch horovod/tensorflow2-synthetic
  evalsuite env remove bluefog
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="what to do", metavar="list|create|remove", dest="action", required=True)
    listing = actions.add_parser("list", help="which recipe has which environment, and how large it is")
    add_options(listing, "json")
    create = actions.add_parser("create", help="make environments now instead of before the first run")
    remove = actions.add_parser("remove", help="remove environments; the next run makes them anew")
    for action in (create, remove):
        action.add_argument("names", nargs="+", metavar="FRAMEWORK[/RECIPE]", help="as `evalsuite env list` shows them")
    for action in (listing, create, remove):
        add_options(action, "adapters", "lang")
        action.add_argument("--device", choices=("cpu", "gpu"), default="cpu", help="for which kind (default: cpu)")

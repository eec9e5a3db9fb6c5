"""The arguments of `evalsuite env`."""

import argparse

from evalsuite.commands.options.common import add_options

HELP = "list, create, remove or lock the virtual environments of the recipes"
EXAMPLES = """  evalsuite env list
  evalsuite env list --json
  evalsuite env create pytorch horovod/tensorflow2-synthetic
  evalsuite env remove bluefog
  evalsuite env lock pytorch/reference-resnet50 --refresh
  evalsuite env lock --all --check
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="what to do", metavar="list|create|remove|lock", dest="action", required=True)
    listing = actions.add_parser("list", help="which recipe has which environment, and how large it is")
    add_options(listing, "json")
    create = actions.add_parser("create", help="make environments now instead of before the first run")
    remove = actions.add_parser("remove", help="remove environments; the next run makes them anew")
    for action in (create, remove):
        action.add_argument("names", nargs="+", metavar="FRAMEWORK[/RECIPE]", help="as `evalsuite env list` shows them")
    lock = actions.add_parser("lock", help="write versions and hashes of all that an environment holds, where none fit")
    lock.add_argument("names", nargs="*", metavar="FRAMEWORK[/RECIPE]", help="as `evalsuite env list` shows them")
    lock.add_argument("--all", action="store_true", help="of every recipe and data writer, for CPUs and GPUs")
    lock.add_argument("--refresh", action="store_true", help="resolve those again that fit the pins")
    lock.add_argument("--check", action="store_true", help="write nothing; exit 5 where a lock and the pins disagree")
    for action in (listing, create, remove, lock):
        add_options(action, "adapters", "lang")
    for action in (listing, create, remove):
        action.add_argument("--device", choices=("cpu", "gpu"), default="cpu", help="for which kind (default: cpu)")

"""The arguments of `evalsuite repositories`."""

import argparse

from evalsuite.commands.options.common import add_options

HELP = "fetch the official training repositories at their pinned commits, or list them"
EXAMPLES = """  evalsuite repositories list
  evalsuite repositories get pytorch-examples tensorflow-benchmarks
  evalsuite repositories get horovod --mirror /srv/mirrors
  evalsuite repositories get --profile official-cpu
  evalsuite repositories get --mirror https://git.example.org/mirrors
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="what to do", metavar="get|list", dest="action", required=True)
    get = actions.add_parser("get", help="fetch repositories into the cache; all of them if none is named")
    get.add_argument("names", nargs="*", metavar="NAME", help="names of `evalsuite repositories list`")
    get.add_argument("--profile", metavar="NAME", help="those that a profile of `evalsuite compare` needs")
    get.add_argument("--mirror", metavar="DIR_OR_URL", help="a folder of clones, or another host")
    get.add_argument("--incomplete", action="store_true", help="take a mirror that lacks files; runs record which")
    listing = actions.add_parser("list", help="what is known and what is here")
    add_options(listing, "json")
    for action in (get, listing):
        add_options(action, "adapters", "lang")

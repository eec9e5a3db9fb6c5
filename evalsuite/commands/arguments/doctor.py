"""The arguments of `evalsuite doctor`."""

import argparse

from evalsuite.commands.options.common import add_options

HELP = "check this machine: what it can run, what is missing and how to get it"
EXAMPLES = """\
  python -m evalsuite doctor
  python -m evalsuite doctor --runs /data/runs --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_options(parser, "runs", "adapters", "json", "lang")

"""The arguments of `evalsuite status`."""

import argparse

from evalsuite.commands.options.common import add_options, add_several_runs

HELP = "say how far an evaluation is, what failed and what waits in the queue; nothing is touched"
EXAMPLES = """\
  evalsuite status --runs /shared/runs
  watch -n 30 evalsuite status --runs /shared/runs
  evalsuite status --runs spring/runs --runs autumn/runs
  evalsuite status --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_several_runs(parser)
    add_options(parser, "json", "lang")

"""The arguments of `evalsuite equivalence`."""

import argparse
from pathlib import Path

from evalsuite.commands.options.common import add_options

HELP = "prove that the reference workloads compute the same, pair by pair"
EXAMPLES = """  evalsuite equivalence
  evalsuite equivalence --frameworks pytorch,tensorflow --model resnet50_v1.5
  evalsuite equivalence --model all --receipts receipts --json
  evalsuite equivalence --model bert_tiny --receipts runs/equivalence   # the next report of runs shows it
"""
ALL = "all"
DEFAULT_MODEL = "resnet50_v1.5"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--frameworks", metavar="A,B,…", help="only these (default: all that have such a workload)")
    parser.add_argument(
        "--model", default=DEFAULT_MODEL, help=f"which model, or {ALL} of them (default: {DEFAULT_MODEL})"
    )
    receipts = "write a receipt of each model there: all answers, and the hashes of the workloads' files"
    parser.add_argument("--receipts", metavar="DIR", type=Path, help=receipts)
    add_options(parser, "adapters", "json", "lang")

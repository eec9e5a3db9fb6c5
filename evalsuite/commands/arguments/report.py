"""The arguments of `evalsuite report`."""

import argparse
from pathlib import Path
from typing import Any

from evalsuite.commands.options.common import add_options, add_several_runs

HELP = "write the report from run folders; nothing is started"
EXAMPLES = """  evalsuite report
  evalsuite report --runs /data/runs --out /data/report --lang zh,en
  evalsuite report --forms html,md,xlsx,pdf,zip
  evalsuite report --runs /data/runs --receipts /data/proofs
  evalsuite report --runs packed-runs.zip
  evalsuite report --runs spring/runs --runs autumn/runs --out both
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_several_runs(parser)
    add_options(parser, "adapters", "dialects")
    add_output_arguments(parser)


OUTPUT: dict[str, dict[str, Any]] = {
    "out": {"metavar": "DIR", "type": Path, "default": Path("report"), "help": "default: report"},
    "lang": {
        "metavar": "L,…",
        "default": "zh,en",
        "help": "languages inside the page (default: zh,en); one alone is the terminal's too",
    },
    "forms": {
        "metavar": "F,…",
        "default": "html",
        "help": "html (with summary.json and CSV, always), single, md, xlsx, pdf, zip, logs (default: html)",
    },
    "author": {
        "metavar": "FILE",
        "type": Path,
        "help": "title, chapters, problems and findings of your own (docs/author-findings.md)",
    },
    "criteria": {"metavar": "FILE", "type": Path, "help": "acceptance criteria (TOML)"},
    "fail-on-criteria": {
        "action": "store_true",
        "help": "exit code 5 if a criterion fails, 6 if one is undetermined (default: the report alone says so)",
    },
    "receipts": {
        "metavar": "DIR",
        "type": Path,
        "help": "receipts of `evalsuite equivalence`, more than those in RUNS/equivalence and those that are built in",
    },
}


def add_output_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the report itself, the same for `compare`."""
    output = parser.add_argument_group("the report")
    for name, settings in OUTPUT.items():
        output.add_argument(f"--{name}", **settings)

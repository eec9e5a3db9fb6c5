"""The arguments of `evalsuite import`."""

import argparse
from pathlib import Path

from evalsuite.commands.options.common import COMMON, add_options
from evalsuite.commands.printing.i18n import worded
from evalsuite.messages import Message

HELP = "make run folders from logs or tables produced elsewhere"
EXAMPLES = """\
  python -m evalsuite import logs/ --pattern '{framework}/{nodes}n{gpus}g/b{batch}_{precision}_{repeat}.log' \\
      --set model=resnet50_v1.5 --runs imported/
  python -m evalsuite import logs/ --map what-they-are.toml
  python -m evalsuite import dlperf.csv --map kind=note --runs cited/
  python -m evalsuite import logs/ --facts campaign.toml --runs imported/
  python -m evalsuite import logs/ --set batch=32 --amend
  python -m evalsuite import tuesday/ --map what-they-are.toml --campaign tuesday --machine dgx-a

--set and --pattern know these names; any other becomes an option of the case:
  framework, model, recipe, nodes, gpus, devices, batch, batch_policy, precision, xla, device, repeat, rank,
  dialect, scope, shape, steps_per_report (where a line prints its seconds alone), campaign, machine, any;
  and of what a source prints beside the throughput: latency (ms of a step), memory (MiB of a device),
  tflops (of a device), spread (±), accuracy (%), hours
--map knows these columns of a table:
  those, and version, throughput, unit, features, speedup, kind, n, metric, value, source, log_set, image, repository,
  note, and deep_vocabulary, classes, num_layers, hidden_size, which make another case
Where only latency is printed, --set unit=samples/s says what a step counts.

A file of --facts says what holds for all of them, a line each: device = "A100", data = "synthetic", optimiser = "sgd".

A mapping file says what path and log do not:
  [defaults]
  framework = "pytorch"
  model = "resnet50_v1.5"
  [[runs]]
  path = "a100/*.log"
  gpus = 8
  batch = 256
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help="logs, folders of them, tables (.csv, .xlsx)"
    )
    parser.add_argument("--runs", **{**COMMON["runs"], "help": "where the run folders go (runs)"})
    add_options(parser, "group")
    parser.add_argument("--pattern", metavar="P", help="what the paths below PATH say, with {placeholders}")
    add_facts(parser)
    parser.add_argument(
        "--facts",
        type=Path,
        metavar="FILE",
        help="a TOML file with what holds for the whole campaign; kept once beside the runs, and no part of a name",
    )
    parser.add_argument("--scope", choices=("global", "per_device", "own"), help="whose rate the logs print")
    parser.add_argument("--accept-shape", metavar="ID", help="take logs in no known dialect as `parse` reads them")
    parser.add_argument(
        "--campaign",
        metavar="NAME",
        help="these runs were made in one campaign, the start of an evaluation: C1 asks for it",
    )
    parser.add_argument(
        "--machine",
        metavar="NAME",
        help="these runs were made on the machines of this name, all alike: C1 asks for it",
    )
    parser.add_argument(
        "--amend", action="store_true", help="correct what was said when the same logs or rows were imported before"
    )
    add_options(parser, "adapters", "dialects", "lang", "json")


def add_facts(parser: argparse.ArgumentParser) -> None:
    """What holds of a table beside what its columns say."""
    parser.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="FILE|NAME=COLUMN",
        help="a TOML file with [defaults] and [[runs]], or what a column of a table is (any: of no importance)",
    )
    parser.add_argument(
        "--set", action="append", default=[], type=_pair, metavar="NAME=VALUE", help="what holds for all of them"
    )


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise argparse.ArgumentTypeError(worded(Message("commands.no_name_value", text=text)))
    return name, value

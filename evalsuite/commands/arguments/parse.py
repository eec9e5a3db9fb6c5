"""The arguments of `evalsuite parse`."""

import argparse

from evalsuite.commands.options.common import add_options
from evalsuite.commands.printing import log_table
from evalsuite.commands.printing.i18n import worded
from evalsuite.decode import whole
from evalsuite.messages import Message
from evalsuite.model import Protocol

HELP = "say what a training log says"
EXAMPLES = """\
  python -m evalsuite parse train.log
  python -m evalsuite parse logs/ --devices 8 --batch-per-device 256 --sort throughput
  python -m evalsuite parse logs/ --json
  python -m evalsuite parse train.log --dialects my_dialects/ --dialect toynet
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("logs", nargs="+", metavar="LOG", help="a log (also .gz, .bz2, .xz, .zst), or a folder of them")
    parser.add_argument("--dialect", metavar="NAME", help="read as this dialect instead of finding out")
    add_options(parser, "adapters", "dialects")
    parser.add_argument("--devices", metavar="N", type=_count, help="devices of the whole job")
    parser.add_argument(
        "--batch-per-device",
        metavar="B",
        type=_count,
        help="items on each device per step; per forward pass where the log states gradient accumulation",
    )
    parser.add_argument(
        "--scope",
        choices=("global", "per_device", "own"),
        help="whose rate the log prints: the whole job's, one device's, or each printer's own share",
    )
    parser.add_argument(
        "--steps-per-report", metavar="N", type=_count, help="where a line prints its seconds and not its steps"
    )
    parser.add_argument(
        "--accept-shape", metavar="ID", help="of a log in no known dialect: what its lines were taken for is right"
    )
    parser.add_argument("--steps", metavar="W+M", type=_protocol, default=Protocol(), help="warm-up + measured steps")
    parser.add_argument(
        "--sort", choices=log_table.SORTS, metavar="COLUMN", help=f"one of {', '.join(log_table.SORTS)}"
    )
    parser.add_argument("--paths", action="store_true", help="whole paths, where several logs make a table")
    add_options(parser, "json", "lang")


def _count(text: str) -> int:
    found = whole(text)
    if not found:
        raise argparse.ArgumentTypeError(worded(Message("commands.no_count", text=text[:60])))
    return found


def _protocol(text: str) -> Protocol:
    warmup, measured = (whole(part) for part in text.partition("+")[::2])
    if warmup is None or not measured:
        raise argparse.ArgumentTypeError(worded(Message("commands.no_steps", text=text[:60])))
    return Protocol(warmup_steps=warmup, measured_steps=measured)

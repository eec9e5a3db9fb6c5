"""The arguments of `evalsuite sample`."""

import argparse
from pathlib import Path

from evalsuite.commands.options import number_parsing

HELP = "run a command, sampling the machine and stamping its output (the node agent)"
EXAMPLES = """\
  python -m evalsuite sample -o out -- python train.py --epochs 1
  python -m evalsuite sample -o out --hz 10 --timeout 60 -- sleep 3
  python -m evalsuite sample -o /shared/out --case case.toml -- torchrun train.py
  python -m evalsuite sample --csv out > samples.csv
  python -m evalsuite sample -o out --processes 2 -- python train.py --port {master_port}
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--out", metavar="DIR", help="folder for log, samples and facts (sample-<time>)")
    parser.add_argument(
        "--case", type=Path, metavar="FILE", help="a TOML file with what is run, a line each as for `import --set`"
    )
    parser.add_argument("--hz", type=number_parsing.number, default=2.0, help="samples per second (2)")
    parser.add_argument(
        "--all-cores", action="store_true", help="keep how busy each core was (only the least, mean and most of them)"
    )
    parser.add_argument(
        "--processes", type=number_parsing.whole, metavar="N", help="start N copies, each with its RANK and its own log"
    )
    parser.add_argument(
        "--devices-per-node",
        type=number_parsing.whole,
        metavar="D",
        help="devices that the command uses here (N, or 1)",
    )
    parser.add_argument(
        "--timeout", type=number_parsing.number, metavar="S", help="end the command after S seconds, with exit code 124"
    )
    parser.add_argument(
        "--max-log-mb",
        type=number_parsing.whole,
        metavar="MB",
        help="end a command that prints more than that in all (4000)",
    )
    parser.add_argument(
        "--threads", type=number_parsing.whole, metavar="T", help="CPU threads for each process (cores ÷ devices)"
    )
    parser.add_argument(
        "--cores-per-device",
        type=number_parsing.whole,
        metavar="C",
        help="bind each process to C cores of its own (no binding)",
    )
    parser.add_argument("--host", metavar="NAME", help="name of this node in the files (its host name)")
    parser.add_argument(
        "--first-node-only", action="store_true", help="start the command on the first node; the others only sample"
    )
    parser.add_argument(
        "--share",
        action="store_true",
        help="run at the same time as another evaluation on this machine instead of waiting for it",
    )
    parser.add_argument("--quiet", action="store_true", help="do not print the command's output")
    parser.add_argument(
        "--end-with-parent", action="store_true", help="end the command when the process that started us is gone"
    )
    parser.add_argument(
        "--csv", metavar="FOLDER", help="start nothing; print the samples that were recorded in FOLDER as CSV"
    )
    parser.add_argument("argv", nargs=argparse.REMAINDER, metavar="-- ARGV…", help="the command")

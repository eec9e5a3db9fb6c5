"""The arguments of `evalsuite on-hosts`."""

import argparse
from pathlib import Path

HELP = "start a command once on each host over ssh, and end it everywhere"
EXAMPLES = """\
  python -m evalsuite on-hosts --hosts gpu01,gpu02 -- nvidia-smi -L
  python -m evalsuite on-hosts --hostfile hosts.txt -- python -m evalsuite sample -o /shared/out -- sleep 10
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--hosts", metavar="A,B,…", help="their names, as ssh takes them")
    parser.add_argument("--hostfile", metavar="F", type=Path, help="the same from a file, a host on each line")
    parser.add_argument("argv", nargs=argparse.REMAINDER, metavar="-- ARGV…", help="the command")

"""Where runs are started: `--engine`, `--hosts` and their options."""

import argparse
from pathlib import Path

from evalsuite.schedulers import SCHEDULERS


def add_arguments(group: "argparse._ActionsContainer") -> None:
    known = ", ".join(SCHEDULERS)
    group.add_argument(
        "--engine",
        metavar="E",
        help=f"what starts the runs: local (default), {known}, mpi or hosts; kubernetes for plan and submit",
    )
    group.add_argument("--hosts", metavar="A,B:8,…", help="engine hosts: their names, and devices after a colon")
    group.add_argument("--hostfile", metavar="F", type=Path, help="the same from a file, a host on each line")
    group.add_argument(
        "--via", metavar="T", help="what reaches the hosts: ssh (default), openmpi (4 or 5, as is here) or hydra"
    )
    group.add_argument("--interface", metavar="I", help="network between the hosts, such as eth1 (that of the route)")

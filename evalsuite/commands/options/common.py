"""Options that many commands have, as values."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalsuite.logs.catalogue import Places
    from evalsuite.plan.hosts import Host

DEFAULT_RUNS = Path("runs")


def search_paths(arguments: argparse.Namespace) -> "Places":
    from evalsuite.logs.catalogue import Places

    return Places(
        dialects=tuple(place.resolve() for place in arguments.dialects),
        adapters=tuple(place.resolve() for place in arguments.adapters),
    )


def read_hosts(arguments: argparse.Namespace) -> "tuple[Host, ...]":
    from evalsuite.plan import hosts

    if arguments.hostfile is not None:
        return hosts.from_file(arguments.hostfile)
    return hosts.from_words(arguments.hosts) if arguments.hosts is not None else ()

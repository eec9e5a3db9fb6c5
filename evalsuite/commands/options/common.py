"""Options that many commands have, as values."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalsuite.logs.catalogue import Places

DEFAULT_RUNS = Path("runs")


def search_paths(arguments: argparse.Namespace) -> "Places":
    from evalsuite.logs.catalogue import Places

    return Places(
        dialects=tuple(place.resolve() for place in arguments.dialects),
        adapters=tuple(place.resolve() for place in arguments.adapters),
    )

"""Where a user's own adapters and dialects lie: the same two options for every command that reads logs."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from evalsuite.logs.catalogue import Places


class _Options(Protocol):
    """A parser, or a group of its options."""

    def add_argument(self, *names: str, **settings: Any) -> argparse.Action: ...


def add_arguments(parser: _Options) -> None:
    """Adds the options for adapters and dialects of the user's own."""
    add_adapters(parser)
    dialects = "more log dialects: a folder of modules, or one; they are Python, and every module there is run"
    parser.add_argument("--dialects", metavar="DIR", type=Path, action="append", default=[], help=dialects)


def add_adapters(parser: _Options) -> None:
    adapters = "more adapters: a folder of modules, or one; they are Python, and every module there is run"
    parser.add_argument("--adapters", metavar="DIR", type=Path, action="append", default=[], help=adapters)


def places(arguments: argparse.Namespace) -> "Places":
    """Where *arguments* say that dialects beside the house's are found."""
    from evalsuite.logs.catalogue import Places

    return Places(
        dialects=tuple(place.resolve() for place in arguments.dialects),
        adapters=tuple(place.resolve() for place in arguments.adapters),
    )

"""Options that many commands have, by name."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from evalsuite.messages import LANGUAGES

if TYPE_CHECKING:
    from evalsuite.logs.catalogue import Places

_OF_AUTHORS: dict[str, Any] = {"metavar": "DIR", "type": Path, "action": "append", "default": []}
_PYTHON = "a folder of modules, or one; they are Python, and every module there is run"
COMMON: dict[str, dict[str, Any]] = {
    "runs": {"metavar": "DIR", "type": Path, "default": Path("runs"), "help": "run folders (default: runs)"},
    "group": {"metavar": "NAME", "help": "a Unix group that may read the run folders (owner alone)"},
    "adapters": {**_OF_AUTHORS, "help": f"more adapters: {_PYTHON}"},
    "dialects": {**_OF_AUTHORS, "help": f"more log dialects: {_PYTHON}"},
    "json": {"action": "store_true", "help": "print JSON instead of text"},
    "lang": {"choices": LANGUAGES, "help": "language of what is printed (default: that of the locale)"},
}


class Parser(Protocol):
    """A parser, or a group of its options."""

    def add_argument(self, *names: str, **settings: Any) -> argparse.Action: ...


def add_options(parser: Parser, *names: str) -> None:
    for name in names:
        parser.add_argument(f"--{name}", **COMMON[name])


def search_paths(arguments: argparse.Namespace) -> "Places":
    """Where *arguments* say that adapters and dialects other than the built-in ones are."""
    from evalsuite.logs.catalogue import Places

    return Places(
        dialects=tuple(place.resolve() for place in arguments.dialects),
        adapters=tuple(place.resolve() for place in arguments.adapters),
    )

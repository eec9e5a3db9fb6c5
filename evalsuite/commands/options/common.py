"""Options that many commands have, by name."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from evalsuite.messages import LANGUAGES, Message

if TYPE_CHECKING:
    from evalsuite.logs.catalogue import Places

_OF_AUTHORS: dict[str, Any] = {"metavar": "DIR", "type": Path, "action": "append", "default": []}
DEFAULT_RUNS = Path("runs")
_PYTHON = "a folder of modules, or one; they are Python, and every module there is run"


class Once(argparse.Action):
    """The last of several would be taken and the others forgotten without a word."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, *_: Any) -> None:
        from evalsuite.commands.printing.i18n import worded

        if getattr(self, "given", None) is namespace:
            parser.error(worded(Message("commands.given_twice", option=self.option_strings[0])))
        self.given = namespace  # one parser may be asked again
        setattr(namespace, self.dest, values)


COMMON: dict[str, dict[str, Any]] = {
    "runs": {"metavar": "DIR", "type": Path, "default": DEFAULT_RUNS, "action": Once, "help": "run folders (runs)"},
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


def add_several_runs(parser: Parser) -> None:
    settings = {**COMMON["runs"], "action": "append", "default": []}
    settings["help"] = "run folders, or a ZIP of them; given several times, all are taken (runs)"
    parser.add_argument("--runs", **settings)


def search_paths(arguments: argparse.Namespace) -> "Places":
    """Where *arguments* say that adapters and dialects other than the built-in ones are."""
    from evalsuite.logs.catalogue import Places

    return Places(
        dialects=tuple(place.resolve() for place in arguments.dialects),
        adapters=tuple(place.resolve() for place in arguments.adapters),
    )

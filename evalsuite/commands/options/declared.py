"""The arguments of each command, as `data/commands/` declares them; all that `--help` imports."""

import argparse
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from evalsuite.commands.options import values
from evalsuite.commands.printing.i18n import worded
from evalsuite.core import paths
from evalsuite.core.messages import Message

TYPES: Mapping[str, Callable[[str], Any]] = {
    "path": Path,
    "whole": values.whole,
    "number": values.number,
    "share": values.share,
    "count": values.count,
    "steps": values.steps,
    "pair": values.pair,
    "words": shlex.split,
}


class Once(argparse.Action):
    """The last of several would be taken and the others forgotten without a word."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, *_: Any) -> None:
        if getattr(self, "given", None) is namespace:
            parser.error(worded(Message("commands.given_twice", option=self.option_strings[0])))
        self.given = namespace  # one parser may be asked again
        setattr(namespace, self.dest, values)


class Behind(argparse.Action):
    """The words after `--`, which some versions of Python leave before them."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, *_: Any) -> None:
        setattr(namespace, self.dest, values[values[:1] == ["--"] :])


KINDS: Mapping[str, Mapping[str, Any]] = {
    "flag": {"action": "store_true"},
    "list": {"action": "append", "default": []},
    "once": {"action": Once},
    "command": {"action": Behind, "nargs": argparse.REMAINDER},
}


def add_arguments(parser: argparse.ArgumentParser, command: str) -> None:
    declared, shared = (paths.read_data(f"commands/{name}.toml") for name in (command, "shared"))
    parser.epilog = f"examples:\n{declared['examples']}"
    _add(parser, declared.get("arguments", ()), shared)
    if actions := declared.get("actions"):
        choice = parser.add_subparsers(title="what to do", metavar="|".join(actions), dest="action", required=True)
        for name, action in actions.items():
            _add(choice.add_parser(name, help=action["help"], allow_abbrev=False), action["arguments"], shared)


def _add(parser: "argparse._ActionsContainer", arguments: list[Any], shared: dict[str, Any]) -> None:
    for entry in arguments:
        if isinstance(entry, str):
            _add(parser, shared[entry], shared)
        elif "group" in entry:
            _add(parser.add_argument_group(entry["group"]), entry["arguments"], shared)
        elif "either" in entry:
            _add(parser.add_mutually_exclusive_group(required=entry.get("required", False)), entry["either"], shared)
        else:
            _add_argument(parser, **entry)


def _add_argument(
    parser: "argparse._ActionsContainer", *, name: str | list[str], help: str = argparse.SUPPRESS, **settings: Any
) -> None:
    if "type" in settings:
        settings["type"] = read = TYPES[settings["type"]]
        if isinstance(given := settings.get("default"), str):
            settings["default"] = read(given)
    if "{schedulers}" in help:
        from evalsuite.schedulers import SCHEDULERS

        help = help.replace("{schedulers}", ", ".join(SCHEDULERS))
    names = [name] if isinstance(name, str) else name
    parser.add_argument(*names, help=help, **KINDS.get(settings.pop("kind", ""), {}), **settings)

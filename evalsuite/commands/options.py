"""The arguments of each command, as `data/commands/` declares them; all that `--help` imports.

Values are digits as everybody types them, and nothing that Python alone takes for a number.
"""

import argparse
import os
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalsuite.commands.printing.i18n import worded
from evalsuite.core import decode, paths
from evalsuite.core.messages import Message
from evalsuite.core.model import Protocol

if TYPE_CHECKING:
    from evalsuite.logs.catalogue import Places
    from evalsuite.plan.hosts import Host

DEFAULT_RUNS = Path("runs")


def text(given: str) -> str:
    if not given:
        raise argparse.ArgumentTypeError(worded(Message("commands.no_value")))
    return given


def whole(text: str) -> int:
    value = decode.whole(text.removeprefix("-"))
    if value is None:
        raise argparse.ArgumentTypeError(worded(Message("commands.whole_number", text=text[:60])))
    return -value if text.startswith("-") else value


def number(text: str) -> float:
    value = decode.number(text)
    if value is None:
        raise argparse.ArgumentTypeError(worded(Message("commands.a_number", text=text[:60])))
    return value


def share(text: str) -> float:
    value = decode.number(text.removesuffix("%"))
    if value is None or not text.endswith("%") or not 0 <= value < 100:
        raise argparse.ArgumentTypeError(worded(Message("commands.a_share", text=text[:60])))
    return value / 100


def count(text: str) -> int:
    value = decode.whole(text)
    if not value:
        raise argparse.ArgumentTypeError(worded(Message("commands.no_count", text=text[:60])))
    return value


def steps(text: str) -> Protocol:
    warmup, measured = (decode.whole(part) for part in text.partition("+")[::2])
    if warmup is None or not measured:
        raise argparse.ArgumentTypeError(worded(Message("commands.no_steps", text=text[:60])))
    return Protocol(warmup_steps=warmup, measured_steps=measured)


def pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise argparse.ArgumentTypeError(worded(Message("commands.no_name_value", text=text)))
    return name, value


TYPES: Mapping[str, Callable[[str], Any]] = {
    "text": text,
    "path": lambda given: Path(text(given)),
    "whole": whole,
    "number": number,
    "share": share,
    "count": count,
    "steps": steps,
    "pair": pair,
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


class Help(argparse.Action):
    """Shows the options that most need, or `all`."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, *_: Any) -> None:
        short = self.const and values != "all"
        parser.usage = f"{parser.prog} [options]" if short else None
        for action in parser._actions if short else ():
            if action.option_strings and not {*action.option_strings} & {*self.const, "--help"}:
                action.help = argparse.SUPPRESS
        parser.print_help()
        parser.exit()


KINDS: Mapping[str, Mapping[str, Any]] = {
    "flag": {"action": "store_true"},
    "list": {"action": "append", "default": []},
    "once": {"action": Once},
    "command": {"action": Behind, "nargs": argparse.REMAINDER},
}


def add_arguments(parser: argparse.ArgumentParser, command: str) -> None:
    declared, shared = (paths.read_data(f"commands/{name}.toml") for name in (command, "shared"))
    shown = declared.get("shown", [])
    parser.epilog = f"examples:\n{declared['examples']}" + ("\n`--help all` shows every option.\n" if shown else "")
    parser.add_argument(
        "-h", "--help", nargs="?", metavar="all", action=Help, const=shown, help="show this, or all of it"
    )
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
    if settings.get("kind") not in ("flag", "command"):
        settings["type"] = read = TYPES[settings.get("type", "text")]
        if isinstance(given := settings.get("default"), str):
            settings["default"] = read(given)
    if "{schedulers}" in help:
        from evalsuite.schedulers import SCHEDULERS

        help = help.replace("{schedulers}", ", ".join(SCHEDULERS))
    names = [name] if isinstance(name, str) else name
    parser.add_argument(*names, help=help, **KINDS.get(settings.pop("kind", ""), {}), **settings)


# options that many commands have, as values


def search_paths(arguments: argparse.Namespace) -> "Places":
    from evalsuite.logs.catalogue import Places

    return Places(
        dialects=tuple(place.resolve() for place in arguments.dialects),
        adapters=tuple(place.resolve() for place in arguments.adapters),
    )


def read_hosts(arguments: argparse.Namespace) -> "tuple[Host, ...]":
    from evalsuite.plan import hosts

    given = arguments.hosts
    if given is None:
        return ()
    # a list of many hosts is longer than a name may be, and `ssh://` is a slip
    is_path = os.sep in given.replace("://", "") or (len(given) < 256 and Path(given).is_file())
    return hosts.from_file(Path(given)) if is_path else hosts.from_words(given)

"""The arguments of each command, as `data/commands/` declares them; all that `--help` imports. Values are digits as
everybody types them, and nothing that Python alone takes for a number."""

import argparse
import os
import re
import shlex
from collections.abc import Callable, Mapping, Set
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
_HOST_FILE = re.compile(r"^hosts$|file$|\.(?:txt|list|cfg|conf|csv|json|toml|ya?ml|ini|hosts?)$")  # no name of a host


def _type(read: Callable[[str], Any], otherwise: str) -> Callable[[str], Any]:
    """An argparse type: what *read* makes of a text, and where that is None the message *otherwise*."""

    def convert(text: str) -> Any:
        if (value := read(text)) is None:
            raise argparse.ArgumentTypeError(worded(Message(f"commands.{otherwise}", text=text[:60])))
        return value

    return convert


def _share(text: str) -> float | None:
    value = decode.number(text.removesuffix("%"))
    return value / 100 if value is not None and text.endswith("%") and 0 <= value < 100 else None


def _steps(text: str) -> Protocol | None:
    warmup, measured = (decode.whole(part) for part in text.partition("+")[::2])
    return Protocol(warmup_steps=warmup, measured_steps=measured) if warmup is not None and measured else None


TYPES: Mapping[str, Callable[[str], Any]] = {
    "text": _type(lambda given: given or None, "no_value"),
    "path": _type(lambda given: Path(given) if given and "://" not in given else None, "no_path"),
    "whole": _type(decode.whole, "whole_number"),
    "number": _type(lambda text: None if re.search("[-eE]", text) else decode.number(text), "a_number"),
    "hz": _type(lambda text: hz if (hz := decode.number(text)) and 0 < hz <= 100 else None, "no_hz"),
    "share": _type(_share, "a_share"),
    "count": _type(lambda text: decode.whole(text) or None, "no_count"),
    "steps": _type(_steps, "no_steps"),
    "pair": _type(lambda text: two if all(map(str.strip, two := text.partition("=")[::2])) else None, "no_name_value"),
    "words": shlex.split,
}


def _say_twice(option: str, value: str) -> None:
    from evalsuite.commands.printing.terminal import note  # slow, and rarely needed

    note(Message("commands.given_twice", option=option, value=value))


class Once(argparse.Action):
    """The last of several counts, as wrappers expect, and not without a word."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, *_: Any) -> None:
        if getattr(self, "given", None) is namespace:
            value = " ".join(map(str, values)) if isinstance(values, list) else str(values)
            _say_twice(self.option_strings[0], value)
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


def refuse_misplaced(
    parser: argparse.ArgumentParser, parsed: argparse.Namespace, command: str, typed: Set[str]
) -> None:
    """What was given and says nothing, because another is not there, or is."""
    given: set[str] = set()
    for action in parser._actions:
        value: Any = getattr(parsed, action.dest, None)
        if isinstance(action, argparse._SubParsersAction):
            return refuse_misplaced(action.choices[value], parsed, command, typed)
        names = action.option_strings or [str(action.metavar)]
        if isinstance(value, str) and re.fullmatch("[A-Z](,B|xD)?,…", str(action.metavar)):
            _each_once(action, names[0], [word.strip() for word in value.split(",")], words=True)
        if isinstance(value, list):
            setattr(parsed, action.dest, value := _each_once(action, names[0], value))
        given |= {str(value), *(f"{each} {value}" for each in names)}
        given |= {*names} if value not in (action.default, None, []) or typed & {*names} else set()
    for relation in ("needs", "without"):
        of_all, own = (paths.read_data("option_relations.toml")[relation].get(each, {}) for each in ("all", command))
        for options, listed in (*of_all.items(), *own.items()):
            said, others = (given.intersection(each.split(", ")) for each in (options, listed))
            if said and bool(others) == (relation == "without"):
                told = {"option": min(said), "others": ", ".join(sorted(others)) or listed}
                parser.error(worded(Message(f"commands.option_{relation}", **told)))


def _each_once(action: argparse.Action, option: str, given: list[Any], words: bool = False) -> list[Any]:
    """*given*, of places or of NAME=VALUE, with each place once and of each name the last, which is said."""
    named = "=" in str(action.metavar)
    places = words or action.type == TYPES["path"] or not action.option_strings
    if not named and (not places or action.nargs in (2, argparse.REMAINDER)):
        return given
    split = [each if isinstance(each, tuple) else str(each).partition("=") for each in given]
    split = [("=".join(pair), pair[1]) for pair in split] if option == "--set" else split  # contradictions are refused
    keys = [parts[0] if named else os.path.realpath(each) for parts, each in zip(split, given, strict=True)]
    for at, key in enumerate(keys):
        if key in keys[:at]:
            what = f"{option} {key}" if named else f"{option} {given[at]}" if words else option
            _say_twice(what, str(split[at][-1] if named else given[at]))
    return [*dict(zip(keys, given, strict=True)).values()]


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
    if isinstance(several := settings.get("metavar"), list):
        settings["metavar"] = tuple(several)
    names = [name] if isinstance(name, str) else name
    usual = {"action": Once} if names[0].startswith("-") else {}
    parser.add_argument(*names, help=help, **KINDS.get(settings.pop("kind", ""), usual), **settings)


# options that many commands have, as values


def search_paths(arguments: argparse.Namespace) -> "Places":
    return tuple(place.absolute() for place in arguments.dialects)


def read_hosts(arguments: argparse.Namespace) -> "tuple[Host, ...]":
    from evalsuite.plan import hosts

    given = arguments.hosts
    if given is None:
        return ()
    # a list of many hosts is longer than a name may be, and `ssh://` is a slip
    is_path = os.sep in given.replace("://", "") or (len(given) < 256 and Path(given).is_file())
    return hosts.from_file(Path(given)) if is_path or _HOST_FILE.search(given) else hosts.from_words(given)

"""Finds the command, runs it, and turns errors into messages and exit codes."""

import argparse
import errno
import importlib
import io
import keyword
import os
import re
import sys
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any, NoReturn, cast

from evalsuite import __version__
from evalsuite.core import paths
from evalsuite.core.errors import EvalsuiteError, Exit, did_you_mean, for_terminal, of_machine

DECLARED = paths.read_data("commands/all.toml")
COMMANDS: dict[str, str] = DECLARED["commands"]  # name → what it does
EVALUATIONS = ("compare", "run")
LIBRARIES = {"filelock", "jinja2", "markupsafe", "matplotlib", "numpy", "psutil", "rich"}
NEAR = 0.75  # of options, which all begin with the same two letters
INTERRUPTED = 128 + 2  # as shells have it
_STATES = {"new thread": errno.ENOMEM, "Symlink loop": errno.ELOOP}  # what Python says of them by RuntimeError


def main(argv: Sequence[str] | None = None) -> int:
    try:
        return _main(list(sys.argv[1:] if argv is None else argv))
    except ModuleNotFoundError as error:
        if error.name not in LIBRARIES:
            raise
        print(  # in English: other languages need these libraries
            f"evalsuite: {sys.executable}: this Python has no {error.name}; expected the one that `make setup` "
            "prepares. Try: source .venv/bin/activate, or .venv/bin/python -m evalsuite",
            file=sys.stderr,
        )
        return Exit.USAGE


def _main(arguments: list[str]) -> int:
    command = _named_command(arguments)
    closed = [descriptor for descriptor in range(3) if not _is_open(descriptor)]
    outputs = _lasting_outputs(closed, of_evaluation=command in EVALUATIONS)
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (for as long as we live)
    _print_anything()
    code = _run_named(command, arguments)
    for stream in (sys.stdout, sys.stderr) if outputs else ():
        stream.flush()
    return code or (Exit.DEFECT if any(output.lost for output in outputs) else code)


class _LastingOutput(io.RawIOBase):
    """Takes everything, also when nothing can be written any more: work goes on without its words."""

    def __init__(self, descriptor: int, *, lost: bool) -> None:
        self._descriptor = descriptor
        self.lost = lost

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def write(self, text: Any, /) -> int:
        if not self.lost:
            try:
                return os.write(self._descriptor, text)
            except OSError:
                self.lost = True
        return memoryview(text).nbytes


def _is_open(descriptor: int) -> bool:
    """Else it is opened on nothing, so that no file gets the number of an output."""
    try:
        os.fstat(descriptor)
    except OSError:
        os.open(os.devnull, os.O_RDWR)
        return False
    return True


def _lasting_outputs(closed: Sequence[int], *, of_evaluation: bool) -> list[_LastingOutput]:
    """Those whose loss is told; of other commands the words alone may be lost, and never what they print."""
    if sys.stdout is not sys.__stdout__ or sys.stderr is not sys.__stderr__:  # who calls us from Python has their own
        return []
    raw = [_LastingOutput(descriptor, lost=descriptor in closed) for descriptor in (1, 2)]
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    output, words = (
        io.TextIOWrapper(io.BufferedWriter(stream), encoding, line_buffering=True, write_through=stream.fileno() == 2)
        for stream in raw
    )
    sys.stderr = words
    if of_evaluation:
        sys.stdout = output
    return raw if of_evaluation else []


def _run_named(command: str | None, arguments: list[str]) -> int:
    i18n = _module("printing.i18n")
    languages = argparse.ArgumentParser(add_help=False, allow_abbrev=False)  # finds --lang before all else
    languages.add_argument("--lang", nargs="?")
    i18n.choose(languages.parse_known_args(arguments)[0])
    parser, of_command = parsers(command)
    if command is not None and (option := _without_value(arguments)):
        print(i18n.say("command.no_value", command=command, option=option), file=sys.stderr)
        return Exit.USAGE
    _refuse_unknown_command(arguments, parser)
    known = {"--", *of_command.options()}
    for word in arguments[: arguments.index("--") if "--" in arguments else None]:
        if word.startswith("--") and (option := word.partition("=")[0]) not in known:
            of_command.refuse_gone("options", f"{command} {option}", *([option] if command != "sample" else []))
    parsed, unknown = parser.parse_known_args(arguments)
    if unknown:
        of_command.refuse(unknown)
    if command is None:
        parser.print_help()
        return Exit.USAGE
    if places := getattr(parsed, "sensors", ()):
        os.environ["EVALSUITE_SENSORS"] = os.pathsep.join(str(place.resolve()) for place in places)
    try:
        return int(_module(command).run(parsed))
    except EvalsuiteError as error:
        print(f"evalsuite {command}: {for_terminal(i18n.worded(error.message))}", file=sys.stderr)
        return int(error.exit_code)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            sys.stderr.close()  # our reader has gone (`… | head`)
            return Exit.DONE
        mendable = of_machine(error)
        if mendable is None:
            raise
        print(f"evalsuite {command}: {for_terminal(i18n.worded(mendable.message))}", file=sys.stderr)
        return int(mendable.exit_code)
    except (MemoryError, RuntimeError) as error:
        number = next((number for words, number in _STATES.items() if words in str(error)), None)
        if isinstance(error, RuntimeError) and number is None:
            raise
        number = number or errno.ENOMEM
        place = str(error).partition("from ")[2] or None
        lack = of_machine(OSError(number, os.strerror(number)), place) or EvalsuiteError("")
        print(f"evalsuite {command}: {for_terminal(i18n.worded(lack.message))}", file=sys.stderr)
        return Exit.USAGE
    except KeyboardInterrupt:
        print(f"\nevalsuite {command}: {i18n.say('command.stopped')}", file=sys.stderr)
        return INTERRUPTED


def _print_anything() -> None:
    """Prints letters that the terminal lacks by their numbers."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _without_value(arguments: list[str]) -> str | None:
    before = ""
    for word in arguments[: arguments.index("--") if "--" in arguments else None]:
        if before.startswith("--") and not word:
            return before
        if re.fullmatch(r"--[a-z-]+=", word):
            return word.removesuffix("=")
        before = word
    return None


def _named_command(arguments: list[str]) -> str | None:
    first = next((word for word in arguments if not word.startswith("-")), None)
    return first if first in COMMANDS else None


def _refuse_unknown_command(arguments: list[str], parser: "Parser") -> None:
    first = next(iter(arguments), "-")
    if not first.startswith("-") and first not in COMMANDS:
        parser.refuse_gone("commands", first)
        message = _module("printing.i18n").say("command.unknown", name=first)
        parser.error(message, did_you_mean(first, COMMANDS))


class Parser(argparse.ArgumentParser):
    """Its errors are in the language of the terminal."""

    def error(self, message: str, near: str = "") -> NoReturn:
        i18n = _module("printing.i18n")
        said = i18n.say("command.usage", command=self.prog, message=message, command_help=f"{self.prog} --help")
        self.print_usage(sys.stderr)
        self.exit(Exit.USAGE, f"{for_terminal(said + i18n.worded(near))}\n")

    def refuse_gone(self, kind: str, *names: str) -> None:
        """Ends with what to type instead of the first of *names* that an earlier release had."""
        gone = paths.read_data("commands/gone.toml")[kind]
        for instead in (gone[name] for name in names if name in gone):
            say = _module("printing.i18n").say
            key = "command.gone" if instead else "command.gone_for_good"
            text = say(key, name=names[0].split()[-1], **({"instead": instead} if instead else {}))
            self.exit(Exit.USAGE, f"{self.prog}: {text}\n")

    def refuse(self, unknown: Sequence[str]) -> NoReturn:
        text = argparse.__dict__["_"]("unrecognized arguments: %s") % " ".join(unknown)
        option = unknown[0].partition("=")[0]
        self.error(text, did_you_mean(option, self.options(), NEAR) if option.startswith("--") else "")

    def options(self) -> Iterator[str]:
        for action in self._actions:
            yield from (name for name in action.option_strings if name.startswith("--"))
            for each in action.choices.values() if isinstance(action, argparse._SubParsersAction) else ():
                yield from each.options()


def parsers(*commands: str | None) -> tuple[Parser, Parser]:
    """That of all commands, of which the *commands* alone have their arguments, and that of the last of these."""
    empty = Parser(add_help=False)  # of all others; twenty of them take as long as the rest of a start
    of_command = parser = Parser(
        prog="evalsuite",
        description="Runs, measures and compares deep-learning training frameworks, and writes the report.",
        epilog=f"examples:\n{DECLARED['examples']}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"evalsuite {__version__}")
    kind = cast(type[Parser], lambda prog, **given: Parser(prog, **given) if prog.split()[-1] in commands else empty)
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", parser_class=kind)
    for name, help_line in COMMANDS.items():
        subparser = subparsers.add_parser(
            name, help=help_line, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
        )
        if name in commands:
            of_command = subparser
            subparser.description = help_line[0].upper() + help_line[1:] + "."
            _module("options.declared").add_arguments(subparser, name)
    return parser, of_command


def _module(command: str) -> ModuleType:
    """`compare-reports` is `compare_reports`; a Python keyword gets an underscore."""
    name = ".".join(filter(None, (DECLARED["folders"].get(command), command.replace("-", "_"))))
    suffix = "_" if keyword.iskeyword(name.rpartition(".")[2]) else ""
    return importlib.import_module(f"evalsuite.commands.{name}{suffix}")

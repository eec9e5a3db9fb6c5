"""Finds the command, runs it, and turns errors into messages and exit codes."""

import argparse
import errno
import importlib
import io
import keyword
import os
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any, NoReturn

from evalsuite import __version__
from evalsuite.core import paths
from evalsuite.core.errors import EvalsuiteError, Exit, did_you_mean, for_terminal, of_machine

HELP = (paths.DATA / "commands" / "help.txt").read_text("utf-8")  # `evalsuite --help`
COMMANDS = dict(re.findall(r"^  (\w+)  +(.+)$", HELP, re.MULTILINE))  # name → what it does
EVALUATIONS = ("compare", "run")
LIBRARIES = {"filelock", "jinja2", "markupsafe", "numpy", "pandas", "psutil", "rich"}
NEAR = 0.75  # of options, which all begin with the same two letters
_STATES = {"new thread": errno.ENOMEM, "failed to map": errno.ENOMEM, "Symlink loop": errno.ELOOP}  # as Python says


def main(argv: Sequence[str] | None = None) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        command = arguments[0] if arguments and arguments[0] in COMMANDS else None
        outputs = _open_outputs(command in EVALUATIONS)
        code = _run_named(command, arguments)
        for stream in (sys.stdout, sys.stderr) if outputs else ():
            stream.flush()
        return code or (Exit.DEFECT if any(output.lost for output in outputs) else code)
    except ModuleNotFoundError as error:
        if error.name not in LIBRARIES:
            raise
        print(  # in English: other languages need these libraries
            f"evalsuite: {sys.executable}: this Python has no {error.name}; expected the one that `make setup` "
            "prepares, or all dependencies. Try: source .venv/bin/activate, or .venv/bin/python -m evalsuite",
            file=sys.stderr,
        )
        return Exit.USAGE


class _LastingOutput(io.RawIOBase):
    """Takes everything; writes to a stream that is closed are dropped."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self.lost = descriptor, False
        try:
            os.fstat(descriptor)
        except OSError:  # closed: on nothing, so that no file gets the number of an output
            os.open(os.devnull, os.O_RDWR)
            self.lost = True

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def write(self, text: Any, /) -> int:
        try:
            return memoryview(text).nbytes if self.lost else os.write(self._descriptor, text)
        except OSError:
            self.lost = True
            return memoryview(text).nbytes


def _open_outputs(of_evaluation: bool) -> list[_LastingOutput]:
    """Makes errors, and of an evaluation all words, such that their loss stops no work; gives what may not be lost."""
    _, *raw = [_LastingOutput(descriptor) for descriptor in range(3)]
    if sys.stdout is not sys.__stdout__ or sys.stderr is not sys.__stderr__:  # who calls us from Python has their own
        return []
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    output, words = (
        io.TextIOWrapper(io.BufferedWriter(stream), encoding, line_buffering=True, write_through=stream.fileno() == 2)
        for stream in raw
    )
    sys.stderr = words
    if of_evaluation or sys.stdout is None:
        sys.stdout = output
    for each in (sys.stdout, sys.stderr):
        if isinstance(each, io.TextIOWrapper):
            each.reconfigure(errors="backslashreplace")  # letters that the terminal lacks, by their numbers
    return raw if of_evaluation else []


def _run_named(command: str | None, arguments: list[str]) -> int:
    i18n = _module("printing.i18n")
    spoken = argparse.ArgumentParser(add_help=False, allow_abbrev=False, formatter_class=Formatter)  # before all else
    spoken.add_argument("--lang", nargs="?")
    i18n.choose(spoken.parse_known_args(arguments)[0])
    if command is None:
        parser = overview()
        for word in arguments[:1]:
            parser.parse_args([word] if word.startswith("-") else [])
            parser.refuse_gone("commands", word)
            parser.error(i18n.say("command.unknown", name=word), did_you_mean(word, COMMANDS))
        parser.print_help()
        return Exit.USAGE
    try:
        parsed = parser_of(command).parse_known(arguments[1:])
        parsed.typed = arguments
        if places := getattr(parsed, "sensors", ()):
            os.environ["EVALSUITE_SENSORS"] = os.pathsep.join(map(os.path.abspath, places))
        variables = paths.read_data("commands/shared.toml")["variables"]
        for name in sorted(name for name in os.environ if name.startswith("EVALSUITE_") and name not in variables):
            near = did_you_mean(name, variables, 0.9)
            print(for_terminal(i18n.say("command.no_variable", name=name) + i18n.worded(near)), file=sys.stderr)
        chosen = _module(command)
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return int(chosen.run(parsed))
    except BrokenPipeError:
        sys.stderr.close()  # our reader has gone (`… | head`)
        return Exit.DONE
    except (EvalsuiteError, OSError, MemoryError, RuntimeError, ImportError) as error:
        if (mendable := _mendable(error)) is None:
            raise
        print(f"evalsuite {command}: {for_terminal(i18n.worded(mendable.message))}", file=sys.stderr)
        return int(mendable.exit_code)
    except KeyboardInterrupt as error:
        print(f"\nevalsuite {command}: {i18n.say('command.stopped')}", file=sys.stderr)
        return 128 + error.args[0] if error.args else Exit.INTERRUPTED


def _mendable(error: Exception) -> EvalsuiteError | None:
    """What the user can mend about *error*; None: a defect of evalsuite."""
    if isinstance(error, EvalsuiteError | OSError):
        return error if isinstance(error, EvalsuiteError) else of_machine(error)
    other = errno.ENOMEM if isinstance(error, MemoryError) else 0
    number = next((number for words, number in _STATES.items() if words in str(error)), other)
    return of_machine(OSError(number, os.strerror(number)), str(error).partition("from ")[2] or None)


class Formatter(argparse.RawDescriptionHelpFormatter):
    """As wide as the terminal; argparse alone imports shutil with four compressors for that."""

    def __init__(self, prog: str) -> None:
        try:
            columns = int(os.environ.get("COLUMNS") or os.get_terminal_size().columns)
        except (ValueError, OSError):
            columns = 80
        super().__init__(prog, width=columns - 2)


class Parser(argparse.ArgumentParser):
    """Its errors are in the language of the terminal."""

    def error(self, message: str, near: str = "") -> NoReturn:
        i18n = _module("printing.i18n")
        said = i18n.say("command.usage", command=self.prog, message=message, command_help=f"{self.prog} --help")
        self.print_usage(sys.stderr)
        self.exit(Exit.USAGE, f"{for_terminal(said + i18n.worded(near))}\n")

    def parse_known(self, words: Sequence[str]) -> argparse.Namespace:
        command, known = self.prog.split()[1], ("--", *self.options())
        self.refuse_gone("options", *(f"{command} {word}" for word in words[:1] if word[:1] != "-"))
        own = words[: words.index("--") if "--" in words else None]
        for word in own:
            option, _, value = word.partition("=")
            if word.startswith("--") and value == "--":  # argparse makes a list of nothing of it
                self.error(f"argument {option}: {argparse.__dict__['_']('expected one argument')}")
            if word.startswith("--") and option not in known:
                self.refuse_gone("options", f"{command} {option}", *([option] if command != "sample" else []))
        parsed, unknown = self.parse_known_args(words)
        if unknown:
            text = argparse.__dict__["_"]("unrecognized arguments: %s") % " ".join(unknown)
            option = unknown[0].partition("=")[0]
            facts, name = paths.read_data("vocabulary.toml"), option[2:].replace("-", "_")
            if "--set" in known and any(name in facts[kind] for kind in ("fields", "other_names", "facts")):
                self.error(text, did_you_mean(option, [f"--set {name}=…"], 0))
            self.error(text, did_you_mean(option, {*known} - {option}, NEAR) if option.startswith("--") else "")
        _module("options").refuse_misplaced(self, parsed, command, {word.partition("=")[0] for word in own})
        return parsed

    def refuse_gone(self, kind: str, *names: str) -> None:
        """Ends with what to type instead of the first of *names* that an earlier release had."""
        gone = paths.read_data("commands/gone.toml")[kind] if names else {}
        for instead in (gone[name] for name in names if name in gone):
            text = _module("printing.i18n").say("command.gone", name=names[0].split()[-1], instead=instead)
            self.exit(Exit.USAGE, f"{self.prog}: {text}\n")

    def options(self) -> Iterator[str]:
        for action in self._actions:
            yield from (name for name in action.option_strings if name.startswith("--"))
            for each in action.choices.values() if isinstance(action, argparse._SubParsersAction) else ():
                yield from each.options()


def overview() -> Parser:
    """What stands above the commands: their list, by what a user wants."""
    usage, description, _, *listed = HELP.split("\n\n")
    parser = Parser(
        prog="evalsuite",
        usage=usage.removeprefix("usage: "),
        description=description,
        epilog="\n\n".join(listed),
        formatter_class=Formatter,
    )
    parser.add_argument("--version", action="version", version=f"evalsuite {__version__}")
    return parser


def parser_of(command: str) -> Parser:
    line = COMMANDS[command]
    parser = Parser(
        prog=f"evalsuite {command}",
        description=f"{line[0].upper()}{line[1:]}.",
        formatter_class=Formatter,
        allow_abbrev=False,
        add_help=False,
    )
    _module("options").add_arguments(parser, command)
    return parser


def whole_parser() -> Parser:
    """That of all commands, for completions and the man page."""
    parser = overview()
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, line in COMMANDS.items():
        _module("options").add_arguments(commands.add_parser(name, help=line, add_help=False), name)
    return parser


def _module(command: str) -> ModuleType:
    """A Python keyword gets an underscore."""
    name = "authoring.adapters" if command == "adapters" else command
    suffix = "_" if keyword.iskeyword(name.rpartition(".")[2]) else ""
    return importlib.import_module(f"evalsuite.commands.{name}{suffix}")

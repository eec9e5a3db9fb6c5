"""The modules of authors (adapters, dialects): found, loaded and checked, every mistake in them told in a sentence."""

import functools
import importlib.util
import re
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from evalsuite import decode
from evalsuite.decode import shown
from evalsuite.errors import EvalsuiteError, did_you_mean


@dataclass(frozen=True, kw_only=True)
class Contract:
    """What a module of one kind must declare, and where that is explained."""

    option: str  # that takes such modules: "--adapters"
    name: str  # of what the module declares: "ADAPTER"
    example: str  # "ADAPTER = Adapter(…)"
    page: str  # "docs/adding-a-framework.md"
    types: tuple[type, ...]  # of which the declaration is made


def modules(place: Path, contract: Contract) -> list[Path]:
    """The modules at *place*: those of a folder, by name, or the one file that it is."""
    if place.is_dir():
        return sorted(place.glob("[!_]*.py"))
    if place.is_file():
        return [place]
    raise EvalsuiteError(
        f"{place}: there is no such folder or file; {contract.option} takes a folder of modules that declare "
        f"{contract.name}, or one of them. See {contract.page}."
    )


def loaded(file: Path, contract: Contract) -> ModuleType:
    """The module in *file*. Raises EvalsuiteError, with the line, if it cannot be read or raises."""
    spec = importlib.util.spec_from_file_location(f"evalsuite_{contract.name.lower()}_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise EvalsuiteError(f"{file}: its name does not end in .py; expected a Python module. See {contract.page}.")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (EvalsuiteError, KeyboardInterrupt):
        raise
    except BaseException as error:  # whatever an author's module raises, and that it wants to leave
        raise EvalsuiteError(f"{_place(file, error)}: {_said(error, contract)} See {contract.page}.") from error
    return module


def declared(module: ModuleType, file: Path, contract: Contract) -> Any:
    """What *module* declares under the contract's name."""
    found = getattr(module, contract.name, None)
    if found is None:
        near = did_you_mean(contract.name, [name for name in vars(module) if not name.startswith("_")])
        raise EvalsuiteError(
            f"{file}: the module has no {contract.example}; see {contract.page} for one that works.{near}"
        )
    return found


def guarded(
    function: Callable[..., Any], where: str, expected: str, gives: type | tuple[type, ...]
) -> Callable[..., Any]:
    """*function* of an author's: what it raises is told as a mistake in their file, and so is a result that is none
    of *gives*, which are *expected* in words."""

    @functools.wraps(function)
    def called(*given: object) -> Any:
        try:
            found = function(*given)
        except (EvalsuiteError, KeyboardInterrupt):
            raise
        except BaseException as error:
            line = _line(error, getattr(getattr(function, "__code__", None), "co_filename", None))
            raise EvalsuiteError(
                f"{where}{line} raised {_named(error)} for {', '.join(map(shown, given))}; expected {expected}. "
                "`evalsuite adapters --check` calls it for a small matrix."
            ) from error
        if not isinstance(found, gives):
            raise EvalsuiteError(
                f"{where} gave {shown(found)} for {', '.join(map(shown, given))}; expected {expected}."
            )
        if is_dataclass(found):
            check(found, where)
        return found

    return called


def check(declaration: object, where: str) -> None:
    """Raises EvalsuiteError with each field of *declaration*, and of those in it, whose value its type forbids."""
    if wrong := decode.mistakes_of(declaration):
        name = getattr(declaration, "name", None)
        place = f"{where}: {type(declaration).__name__}{f' {name}' if isinstance(name, str) and name else ''}"
        raise EvalsuiteError(f"{place}: {' '.join(f'{key}: {text}' for key, text in wrong)}")


# What an author's module raised

_UNEXPECTED = re.compile(r"(\w+)\.__init__\(\) got an unexpected keyword argument '(\w+)'")
_MISSING = re.compile(r"(\w+)\.__init__\(\) missing \d+ required keyword-only arguments?: (.*)")


def _said(error: BaseException, contract: Contract) -> str:
    """The mistake in a sentence: which field there is instead of one that there is not, and what is missing."""
    known = {kind.__name__: [field.name for field in fields(kind)] for kind in contract.types if is_dataclass(kind)}
    text = _text(error)
    if (unexpected := _UNEXPECTED.match(text)) and unexpected[1] in known:
        kind, name = unexpected.groups()
        near = did_you_mean(name, known[kind], cutoff=0.4)
        return f"{kind} has no field {name}; its fields are {', '.join(known[kind])}.{near}"
    if (missing := _MISSING.match(text)) and missing[1] in known:
        return f"{missing[1]}(…) is without {missing[2]}, which it must have."
    return f"{_named(error)}; expected a Python module that declares {contract.example}."


def _named(error: BaseException) -> str:
    text = error.msg if isinstance(error, SyntaxError) else _text(error)
    return f"{type(error).__name__}{f': {text}' if text else ''}"


def _text(error: BaseException) -> str:
    """What *error* says; an author's may be one that cannot say it."""
    try:
        return str(error)
    except Exception:
        return ""


def _place(file: Path, error: BaseException) -> str:
    """*file*, with the line that raised *error* where it is known."""
    if isinstance(error, SyntaxError) and error.lineno:
        return f"{file}, line {error.lineno}"
    return f"{file}{_line(error, str(file))}"


def _line(error: BaseException, file: str | None) -> str:
    import traceback  # only a mistake needs it

    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f", line {lines[-1]}" if lines else ""

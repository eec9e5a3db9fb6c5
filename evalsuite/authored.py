"""What an author declares, in a module (an adapter, a dialect) or in TOML: found, loaded and checked, every mistake in
it said in a sentence.

The declarations are frozen dataclasses, and their annotations are what is checked: a field that does not exist, a
value of another type, a word that is none of those allowed.
"""

import functools
import importlib.util
import re
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import date
from pathlib import Path
from types import ModuleType, NoneType, UnionType
from typing import Any, Literal, Union

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


def guarded(function: Callable[..., Any], where: str, *gives: Any) -> Callable[..., Any]:
    """*function* of an author's: what it raises is said as a mistake in their file, and so is a result of a type
    that is none of *gives*."""

    @functools.wraps(function)
    def called(*given: object) -> Any:
        try:
            found = function(*given)
        except (EvalsuiteError, KeyboardInterrupt):
            raise
        except BaseException as error:
            line = _line(error, getattr(getattr(function, "__code__", None), "co_filename", None))
            raise EvalsuiteError(
                f"{where}{line} raised {_named(error)} for {', '.join(map(shown, given))}; expected {_either(gives)}. "
                "`evalsuite adapters --check` calls it for a small matrix."
            ) from error
        if all(misfit(found, hint) is not None for hint in gives):
            raise EvalsuiteError(
                f"{where} gave {shown(found)} for {', '.join(map(shown, given))}; expected {_either(gives)}."
            )
        checked(found, where)
        return found

    return called


def _either(hints: Sequence[Any]) -> str:
    return " or ".join(_words(hint) for hint in hints)


def checked(declaration: object, where: str) -> None:
    """Raises EvalsuiteError if a field of *declaration*, or of what it holds, has a value that its type forbids."""
    for found in mistakes(declaration, where):
        raise EvalsuiteError(found)


def mistakes(declaration: object, where: str) -> Iterable[str]:
    """Each field of *declaration*, and of the declarations in it, whose value its type forbids, as a sentence."""
    if not is_dataclass(declaration) or isinstance(declaration, type):
        return
    hints = typing.get_type_hints(type(declaration))
    name = getattr(declaration, "name", None)
    place = f"{where}: {type(declaration).__name__}{f' {name}' if isinstance(name, str) and name else ''}"
    for field in fields(declaration):
        value = getattr(declaration, field.name)
        if wrong := misfit(value, hints[field.name]):
            yield f"{place}: {field.name} = {shown(value)}; {wrong}"
            continue
        for one in value if isinstance(value, tuple | list) else (value,):
            yield from mistakes(one, place)


# A declaration in TOML

Declaration = typing.TypeVar("Declaration")


def from_table(kind: type[Declaration], table: object, where: str) -> Declaration:
    """The declaration of *kind* in a TOML *table*: keys are fields, tables are declarations again.

    Raises EvalsuiteError with *where* and the key for one that is unknown, missing, empty or of another type.
    """
    declared: Any = kind  # a dataclass, which no annotation can ask for
    hints, known = typing.get_type_hints(kind), [field.name for field in fields(declared)]
    if not isinstance(table, Mapping):
        raise EvalsuiteError(f"{where} = {shown(table)}; expected a table with {', '.join(known)}.")
    for key in table:
        if key not in hints:
            near = did_you_mean(key, known, cutoff=0.4)
            raise EvalsuiteError(f'{where}: unknown key "{key}"; the keys are {", ".join(known)}.{near}')
    for field in fields(declared):
        if field.name not in table and field.default is MISSING and field.default_factory is MISSING:
            raise EvalsuiteError(f'{where}: no "{field.name}", which it must have; the keys are {", ".join(known)}.')
    return kind(**{key: _from_toml(hints[key], value, f"{where}: {key}") for key, value in table.items()})


def _from_toml(hint: Any, value: object, where: str) -> Any:
    """*value* as the type *hint* has it: lists as tuples, tables as declarations, text without blanks around it."""
    if typing.get_origin(hint) in (Union, UnionType):
        (hint,) = [one for one in typing.get_args(hint) if one is not NoneType]  # TOML has no null
    if is_dataclass(hint):
        return from_table(typing.cast(type, hint), value, where)
    if typing.get_origin(hint) is tuple:
        if not isinstance(value, list):
            raise EvalsuiteError(f"{where} = {shown(value)}; expected a list, in [ ] or as [[tables]].")
        inside = typing.get_args(hint)[0]
        return tuple(_from_toml(inside, one, f"{where} {place}") for place, one in enumerate(value, 1))
    if isinstance(value, str):
        value = value.strip()
        if not value:
            raise EvalsuiteError(f"{where} is empty; expected {_words(hint)}, or no such key.")
    if wrong := misfit(value, hint):
        raise EvalsuiteError(f"{where} = {shown(value)}; expected {wrong.removeprefix('expected ')}")
    return value


# What the annotations of a declaration allow


def misfit(value: object, hint: Any) -> str | None:
    """What is expected instead of *value*, as the end of a sentence; None if *value* is of the type *hint*."""
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return None
    if origin in (Union, UnionType):
        wrong = [misfit(value, one) for one in inside]
        if None in wrong:
            return None
        enumeration = [found for one, found in zip(inside, wrong, strict=True) if typing.get_origin(one) is Literal]
        return enumeration[0] if enumeration and isinstance(value, str) else f"expected {_words(hint)}."
    if origin is Literal:
        return None if value in inside else f"expected {_words(hint)}.{did_you_mean(str(value), map(str, inside), 0.4)}"
    if origin is tuple:
        return _misfit_of_many(value, hint, inside)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        fits = isinstance(value, Mapping) and all(
            misfit(key, inside[0]) is None and misfit(one, inside[1]) is None for key, one in value.items()
        )
        return None if fits else f"expected {_words(hint)}."
    if origin is Callable:
        return None if callable(value) else f"expected {_words(hint)}."
    return None if _is(value, hint) else f"expected {_words(hint)}."


def _misfit_of_many(value: object, hint: Any, inside: tuple[Any, ...]) -> str | None:
    alone = f"; a single one is written ({value!r},)" if isinstance(value, str) else ""
    if not isinstance(value, tuple | list):
        return f"expected {_words(hint)}{alone}."
    if len(inside) == 2 and inside[1] is Ellipsis:
        fits = all(misfit(one, inside[0]) is None for one in value)
    else:
        fits = len(value) == len(inside) and all(misfit(*pair) is None for pair in zip(value, inside, strict=True))
    return None if fits else f"expected {_words(hint)}."


def _is(value: object, kind: type) -> bool:
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, kind)


_KINDS: dict[Any, str] = {
    str: "text",
    bytes: 'bytes (b"…")',
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    NoneType: "None",
    Path: "a path",
    date: "a date, such as 2026-11-22",
}


def _words(hint: Any) -> str:
    """The type *hint* in words."""
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, UnionType):
        return " or ".join(_words(one) for one in inside)
    if origin is Literal:
        return " or ".join(map(str, inside))
    if origin is tuple:
        return f"a tuple of {_words(inside[0])}" if inside[-1] is Ellipsis else f"a tuple of {len(inside)}"
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return f"a dict of {_words(inside[0])} to {_words(inside[1])}"
    if origin is Callable:
        return "a function"
    return _KINDS.get(hint) or f"{hint.__name__}(…)"


def shown(value: object) -> str:
    """*value* as a message shows it."""
    if isinstance(value, str | bytes | int | float | tuple | list | dict | NoneType):
        text = repr(value)
        return text if len(text) <= 80 else f"{text[:77]}…"
    identity = getattr(value, "id", None)  # of a case
    return f"the case {identity}" if isinstance(identity, str) else f"a {type(value).__name__}"


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

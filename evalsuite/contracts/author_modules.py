"""Finds, loads and checks authors' modules: adapters, dialects and sensors."""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import Any

from evalsuite.core import decode, files
from evalsuite.core.decode import shown
from evalsuite.core.errors import EvalsuiteError, did_you_mean
from evalsuite.core.messages import Message


@dataclass(frozen=True, kw_only=True)
class Contract:
    option: str  # takes such modules: "--adapters"
    name: str  # "ADAPTER"
    example: str  # "ADAPTER = Adapter(…)"
    page: str  # "docs/adding-a-framework.md"
    fits: Callable[[Any], bool] = callable


def find_modules(place: Path, of: Contract) -> list[Path]:
    modules = sorted(place.glob("[!_]*.py")) if place.is_dir() else [place] if place.exists() else []
    if modules or any(place.glob("*.toml")):  # which declare scripts
        return modules
    raise EvalsuiteError.of("core.no_place", place=place, option=of.option, name=of.name, page=of.page)


def load(file: Path, contract: Contract) -> Any:
    """What *file* declares. Raises EvalsuiteError, with the line if the module cannot be read or raises."""
    spec = importlib.util.spec_from_file_location(f"evalsuite_{contract.name.lower()}_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise EvalsuiteError.of("core.no_py", file=file, page=contract.page)
    module = importlib.util.module_from_spec(spec)
    try:
        files.open_file(file, follow=True).close()  # a pipe or a device would have no end
        spec.loader.exec_module(module)
    except (EvalsuiteError, KeyboardInterrupt):
        raise
    except BaseException as error:  # SystemExit too
        place = f"{file}{_line(error, str(file))}"
        if isinstance(error, SyntaxError) and error.lineno:
            place = Message("core.file_line", path=file, line=error.lineno)
        unread = Message("core.module_unreadable", error=_named(error), name=contract.example)
        raise EvalsuiteError.of("core.see_page", path=place, error=unread, page=contract.page) from error
    declared = getattr(module, contract.name, None)
    if declared is None:
        near = did_you_mean(contract.name, [name for name in vars(module) if not name.startswith("_")])
        raise EvalsuiteError.of("core.module_lacks", path=file, name=contract.example, page=contract.page, near=near)
    if not contract.fits(declared):
        wanted = {"name": contract.name, "example": contract.example, "page": contract.page}
        raise EvalsuiteError.of("core.declared_other", path=file, value=shown(declared), **wanted)
    return declared


def guard(
    function: Callable[..., Any], where: str, expected: str, gives: type | tuple[type, ...]
) -> Callable[..., Any]:
    """An author's *function*: what it raises, or a result that is none of *gives*, is a mistake in their file.
    *expected*: *gives* in words."""

    def called(*given: object) -> Any:
        words = [*map(shown, given)] or [Message("core.no_argument")]
        try:
            value = function(*given)
        except (EvalsuiteError, KeyboardInterrupt):
            raise
        except BaseException as error:
            line = _line(error, getattr(getattr(function, "__code__", None), "co_filename", None))
            raise EvalsuiteError.of(
                "core.raised_error", where=where, line=line, error=_named(error), given=words, wanted=expected
            ) from error
        if not isinstance(value, gives):
            raise EvalsuiteError.of("core.gave_other", where=where, value=shown(value), given=words, wanted=expected)
        if is_dataclass(value):
            check(value, where)
        return value

    return called


def check(declaration: object, where: str) -> None:
    """Raises EvalsuiteError with all wrong values in *declaration*."""
    if wrong := decode.mistakes_of(declaration, type(declaration)):
        name = getattr(declaration, "name", None)
        place = f"{where}: {type(declaration).__name__}{f' {name}' if isinstance(name, str) and name else ''}"
        raise EvalsuiteError(f"{place}: {' '.join(f'{key}: {text}' for key, text in wrong)}")


def _named(error: BaseException) -> str:
    text = error.msg if isinstance(error, SyntaxError) else _text(error)
    return f"{type(error).__name__}{f': {text}' if text else ''}"


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return ""


def _line(error: BaseException, file: str | None) -> str:
    import traceback  # slow, and rarely needed

    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return Message("core.and_line", line=lines[-1]) if lines else ""

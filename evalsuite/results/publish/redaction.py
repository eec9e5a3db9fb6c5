"""An evaluation less what looks like a secret, in whatever text of it.

Commands and variables are masked when a run is read, lines of a log in place; here the rest is swept. A case keeps its
names, which folders bear.
"""

import functools
import operator
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from evalsuite.model import Case, LogLine
from evalsuite.redaction import redact

Shown = TypeVar("Shown")
Sweep = Callable[[Any], Any]


def disclosed(noun: Shown) -> Shown:
    return cast(Shown, _swept(noun))


def _swept(found: Any) -> Any:
    kind: Any = type(found)  # which mypy does not take for hashable
    sweep = _sweep(kind)
    return found if sweep is None else sweep(found)


@functools.cache
def _sweep(kind: type) -> Sweep | None:
    """How a value of *kind* is swept; None where there is no text in it. A large evaluation has a million values."""
    if issubclass(kind, str):
        return _text
    if issubclass(kind, tuple):
        return _all
    if issubclass(kind, Mapping):
        return _mapping
    if is_dataclass(kind) and not issubclass(kind, Case | LogLine):
        return functools.partial(_noun, tuple(field.name for field in fields(kind)))
    return None


def _text(found: str) -> str:
    return found if (shown := redact(found)) == found else shown


def _all(found: tuple[Any, ...]) -> tuple[Any, ...]:
    if not found or _is_number(found[0]) or (isinstance(found[0], tuple) and found[0] and _is_number(found[0][0])):
        return found
    inside = tuple(map(_swept, found))
    return found if all(map(operator.is_, inside, found)) else inside


def _is_number(found: object) -> bool:
    return isinstance(found, int | float)


def _mapping(found: Mapping[Any, Any]) -> Mapping[Any, Any]:
    inside = {redact(key) if isinstance(key, str) else key: _swept(value) for key, value in found.items()}
    changed = inside.keys() != found.keys() or any(inside[key] is not found[key] for key in inside)
    return inside if changed else found


def _noun(names: tuple[str, ...], found: Any) -> Any:
    changes = {}
    for name in names:
        value = getattr(found, name)
        kind: Any = type(value)
        sweep = _sweep(kind)  # not by way of _swept: half of the time would go into calling it
        if sweep is not None and (new := sweep(value)) is not value:
            changes[name] = new
    return replace(found, **changes) if changes else found

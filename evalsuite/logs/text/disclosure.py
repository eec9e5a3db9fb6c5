"""An evaluation less what looks like a secret, in whatever text of it. Commands and variables are masked when a run is
read, lines of a log in place; here the rest is swept. A case keeps its names, which folders bear."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from evalsuite.core.documents import RunCommand
from evalsuite.core.model import Case, Fact, LogLine, Measurement
from evalsuite.core.redaction import redact

Shown = TypeVar("Shown")
Sweep = Callable[[Any], Any]
NUMBERS = (int, float, bool, int | None, float | None, bool | None)


def disclosed_whole(noun: Shown) -> Shown:  # a measurement or a command, once (`measuring.measure`)
    return cast(Shown, _noun(tuple(field.name for field in fields(cast(Any, noun))), noun))


def disclosed(value: Shown) -> Shown:
    sweep = _sweep(cast(Any, type(value)))  # which mypy does not take for hashable
    return value if sweep is None else cast(Shown, sweep(value))


@functools.cache
def _sweep(kind: type) -> Sweep | None:
    """How a value of *kind* is swept; None where there is no text in it. A large evaluation has a million values."""
    if issubclass(kind, str):
        return lambda text: text if (shown := redact(text)) == text else shown
    if issubclass(kind, tuple | list):
        return _all
    if issubclass(kind, Mapping):
        return _mapping
    if kind is Measurement:
        return functools.partial(_noun, ("findings",))
    if is_dataclass(kind) and not issubclass(kind, Case | LogLine | RunCommand):
        sweep = functools.partial(_noun, tuple(field.name for field in fields(kind) if field.type not in NUMBERS))
        return functools.lru_cache(maxsize=10_000)(sweep) if kind is Fact else sweep  # runs mostly state the same
    return None


def _all(values: Sequence[Any]) -> Any:
    first = values[0][:1] if values and isinstance(values[0], tuple) else values[:1]
    if not values or (isinstance(values, tuple) and isinstance(next(iter(first), None), int | float)):
        return values
    inside = cast(Any, type(values))(map(disclosed, values))
    return values if inside == values else inside


def _mapping(mapping: Mapping[Any, Any]) -> Mapping[Any, Any]:
    if isinstance(next(iter(mapping.values()), None), RunCommand):
        return mapping  # by runs, whose names folders bear; each was swept when it was read
    inside = {redact(key) if isinstance(key, str) else key: disclosed(value) for key, value in mapping.items()}
    return mapping if inside == mapping else inside


def _noun(names: tuple[str, ...], noun: Any) -> Any:
    given = ((name, getattr(noun, name)) for name in names)
    changes = {name: new for name, value in given if (new := disclosed(value)) is not value}
    return replace(noun, **changes) if changes else noun

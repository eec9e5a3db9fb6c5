"""An evaluation as it is shown to others: less what looks like a secret, in whatever text of it.

Host names, versions, addresses of repositories, reasons of skips and what scripts say of themselves all come from
outside. Whoever reads a run sees to commands and variables, of which the names tell more; here the rest is swept, so
that a field added next year is swept too. A case keeps its names, which folders bear: one with a secret is not read.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from evalsuite.model import Case
from evalsuite.redaction import redacted

Shown = TypeVar("Shown")


def disclosed(noun: Shown) -> Shown:
    """*noun* less the secrets in its texts; the same object where there are none."""
    return cast(Shown, _swept(noun))


def _swept(found: Any) -> Any:
    if isinstance(found, str):
        return found if (shown := redacted(found)) == found else shown
    if isinstance(found, Case):
        return found
    if isinstance(found, tuple):
        return _swept_all(found)
    if isinstance(found, Mapping):
        inside = {redacted(key) if isinstance(key, str) else key: _swept(value) for key, value in found.items()}
        changed = inside.keys() != found.keys() or any(inside[key] is not found[key] for key in inside)
        return inside if changed else found
    if is_dataclass(found) and not isinstance(found, type):
        values = {field.name: getattr(found, field.name) for field in fields(found)}
        changes = {name: new for name, value in values.items() if (new := _swept(value)) is not value}
        return replace(found, **changes) if changes else found
    return found


def _swept_all(found: tuple[Any, ...]) -> tuple[Any, ...]:
    """Series of numbers hold no text, and are as long as a run."""
    if not found or _is_number(found[0]) or (isinstance(found[0], tuple) and found[0] and _is_number(found[0][0])):
        return found
    inside = tuple(map(_swept, found))
    return inside if any(new is not old for new, old in zip(inside, found, strict=True)) else found


def _is_number(found: object) -> bool:
    return isinstance(found, int | float)

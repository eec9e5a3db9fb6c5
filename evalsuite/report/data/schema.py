"""The published schema of `summary.json`, applied to a file: what stands where something else was expected.

It knows the words of JSON Schema that data/schema/summary.schema.json uses, but takes `required` mildly: within one
schema version fields are added, so that a report of last year lacks some. Whoever reads a field says if it is missing;
an object that has none of its fields is another object.
"""

import functools
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from evalsuite import paths

FILE = "data/schema/summary.schema.json"
LONGEST_SHOWN = 60  # characters of a value that an error quotes
Check = Callable[[Any, Any, str], Iterator[str]]


def mistakes(facts: object) -> Iterator[str]:
    """Each place in *facts* that the schema forbids, as `key: what stands there; expected …`."""
    return _against(_schema(), facts, "")


@functools.cache
def _schema() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads((paths.DATA / "schema" / "summary.schema.json").read_text(encoding="utf-8"))
    return found


def _against(schema: Mapping[str, Any], value: object, key: str) -> Iterator[str]:
    for word, check in _CHECKS.items():
        if word in schema:
            yield from check(schema[word], value, key)


def _reference(name: str, value: object, key: str) -> Iterator[str]:
    yield from _against(_schema()["$defs"][name.rpartition("/")[2]], value, key)


def _any_of(schemas: list[Mapping[str, Any]], value: object, key: str) -> Iterator[str]:
    """Nothing if one of *schemas* fits; else what the one says that comes nearest, which is the first."""
    found = [list(_against(one, value, key)) for one in schemas]
    if all(found):
        yield from found[0]


def _kind(names: str | list[str], value: object, key: str) -> Iterator[str]:
    allowed = [names] if isinstance(names, str) else names
    if not any(_KINDS[name](value) for name in allowed):
        yield _wrong(key, value, " or ".join(allowed))


def _constant(wanted: object, value: object, key: str) -> Iterator[str]:
    if isinstance(value, bool) or value != wanted:
        yield _wrong(key, value, json.dumps(wanted))


def _one_of(known: list[object], value: object, key: str) -> Iterator[str]:
    if value not in known:
        yield _wrong(key, value, ", ".join(map(str, known)))


def _pattern(pattern: str, value: object, key: str) -> Iterator[str]:
    if isinstance(value, str) and not re.search(pattern, value):
        yield _wrong(key, value, f"a text like {pattern}")


def _least(least: float, value: Any, key: str) -> Iterator[str]:
    if _is_number(value) and not value >= least:
        yield _wrong(key, value, f"at least {least:g}")


def _more_than(least: float, value: Any, key: str) -> Iterator[str]:
    if _is_number(value) and not value > least:
        yield _wrong(key, value, f"more than {least:g}")


def _most(most: float, value: Any, key: str) -> Iterator[str]:
    if _is_number(value) and not value <= most:
        yield _wrong(key, value, f"at most {most:g}")


def _any_required(names: list[str], value: object, key: str) -> Iterator[str]:
    if isinstance(value, dict) and names and not value.keys() & set(names):
        yield _wrong(key, value, f"an object with {', '.join(names)}")


def _properties(schemas: Mapping[str, Mapping[str, Any]], value: object, key: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, schema in schemas.items():
            if name in value:
                yield from _against(schema, value[name], f"{key}.{name}" if key else name)


def _others(schema: Mapping[str, Any], value: object, key: str) -> Iterator[str]:
    """`additionalProperties`, which the schema uses for objects without any other."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield from _against(schema, one, f"{key}.{name}")


def _items(schema: Mapping[str, Any], value: object, key: str) -> Iterator[str]:
    if isinstance(value, list):
        for place, one in enumerate(value):
            yield from _against(schema, one, f"{key}[{place}]")


_CHECKS: Mapping[str, Check] = {
    "$ref": _reference, "anyOf": _any_of, "type": _kind, "const": _constant, "enum": _one_of, "pattern": _pattern,
    "minimum": _least, "exclusiveMinimum": _more_than, "maximum": _most, "required": _any_required,
    "properties": _properties, "additionalProperties": _others, "items": _items,
}  # fmt: skip


def _is_number(value: Any) -> bool:
    """NaN and Infinity, which Python reads, are none, nor are whole numbers beyond all floats."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


_KINDS: Mapping[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and _is_number(value),
    "number": _is_number,
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def _wrong(key: str, value: object, expected: str) -> str:
    shown = json.dumps(value, ensure_ascii=True)
    shown = shown if len(shown) <= LONGEST_SHOWN else f"{shown[:LONGEST_SHOWN]}…"
    return f"{key}: {shown} stands there; expected {expected}"
